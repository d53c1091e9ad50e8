> RPUSH l 3 1 2 10                 =4
> SORT l                           =["1", "2", "3", "10"]
> SORT l DESC                      =["10", "3", "2", "1"]
> SORT l ALPHA                     =["1", "10", "2", "3"]
> SORT l ALPHA DESC                =["3", "2", "10", "1"]
> SORT l LIMIT 1 2                 =["2", "3"]
> SORT l LIMIT -5 2                =["1", "2"]
> SORT l LIMIT 0 0                 =[]
> SORT l LIMIT 9 1                 =[]
> SORT l LIMIT 1 -1                =["2", "3", "10"]
> SORT l LIMIT 2 -7                =["3", "10"]
> SORT l BY nosort                 =["3", "1", "2", "10"]
> SORT l BY nosort DESC            =["10", "2", "1", "3"]
> SORT l BY nosort LIMIT 1 2       =["1", "2"]
> SORT l BY nosort DESC LIMIT 1 2  =["2", "1"]
> MSET w1 30 w2 20 w3 10 w10 5     =OK
> SORT l BY w*                     =["10", "3", "2", "1"]
> SORT l BY w* DESC                =["1", "2", "3", "10"]
> SORT l BY w* LIMIT 0 2           =["10", "3"]
> SORT l BY w* ALPHA               =["3", "2", "1", "10"]
> SORT l BY none*                  =["1", "10", "2", "3"]
> SORT l BY none* DESC             =["3", "2", "10", "1"]
> MSET o1 one o2 two o3 three      =OK
> SORT l GET o*                    =["one", "two", "three", nil]
> SORT l GET # GET o*              =["1", "one", "2", "two", "3", "three", "10", nil]
> SORT l BY w* GET o* GET #        =[nil, "10", "three", "3", "two", "2", "one", "1"]
> SORT l GET o                     =[nil, nil, nil, nil]
> SORT l BY nosort GET #           =["3", "1", "2", "10"]
> HSET h1 f x g 9                  =2
> HSET h2 f y g 8                  =2
> HSET h3 f z                      =1
> SORT l GET h*->f                 =["x", "y", "z", nil]
> SORT l BY h*->g                  =["10", "3", "2", "1"]
> SORT l BY h*->g GET h*->none     =[nil, nil, nil, nil]
> SORT l GET h*->                  =[nil, nil, nil, nil]
> SORT l GET h*                    =[nil, nil, nil, nil]
> SORT l GET w*->f                 =[nil, nil, nil, nil]
> SORT l STORE d                   =4
> LRANGE d 0 -1                    =["1", "2", "3", "10"]
> SORT l GET o* GET # STORE d      =8
> LRANGE d 0 -1                    =["one", "1", "two", "2", "three", "3", "", "10"]
> SORT l LIMIT 0 0 STORE d         =0
> EXISTS d                         =0
> SET d x                          =OK
> SORT none STORE d                =0
> EXISTS d                         =0
> SORT none                        =[]
> SORT none BY w* GET o*           =[]
> SORT l STORE l                   =4
> LRANGE l 0 -1                    =["1", "2", "3", "10"]
> SORT l STORE a STORE b           =4
> EXISTS a b                       =1
> SADD s 5 3 1 abc                 =4
> SORT s                           !ERR One or more scores can't be converted into double
> SORT s ALPHA                     =["1", "3", "5", "abc"]
> SORT s BY nosort STORE d         =4
> LRANGE d 0 -1                    =["1", "3", "5", "abc"]
> SORT s BY nosort DESC STORE d    =4
> LRANGE d 0 -1                    =["abc", "5", "3", "1"]
> ZADD z 3 a 2 b 1 c               =3
> SORT z ALPHA                     =["a", "b", "c"]
> SORT z BY nosort                 =["c", "b", "a"]
> SORT z BY nosort DESC            =["a", "b", "c"]
> SORT z BY nosort LIMIT 0 2       =["c", "b"]
> SORT z BY nosort DESC LIMIT 1 9  =["b", "c"]
> SORT z                           !ERR One or more scores can't be converted into double
> RPUSH odd "" " 7" 5 -inf 1e3     =5
> SORT odd                         =["-inf", "", "5", " 7", "1e3"]
> RPUSH odd nan                    =6
> SORT odd                         !ERR One or more scores can't be converted into double
> RPUSH blank " "                  =1
> SORT blank                       !ERR One or more scores can't be converted into double
> SORT odd BY nosort LIMIT 0 2     =["", " 7"]
> SORT odd STORE d                 !ERR One or more scores can't be converted into double
> LRANGE d 0 -1                    =["abc", "5", "3", "1"]
> SORT_RO l                        =["1", "2", "3", "10"]
> SORT_RO l BY w* GET o*           =[nil, "three", "two", "one"]
> SORT_RO l STORE d                !ERR syntax error
> SORT l LIMIT 1                   !ERR syntax error
> SORT l LIMIT x 1                 !ERR value is not an integer or out of range
> SORT l LIMIT 1 x                 !ERR value is not an integer or out of range
> SORT l BY                        !ERR syntax error
> SORT l GET                       !ERR syntax error
> SORT l STORE                     !ERR syntax error
> SORT l foo                       !ERR syntax error
> SORT o1                          !WRONGTYPE Operation against a key holding the wrong kind of value
> SORT h1 foo                      !ERR syntax error
> SORT_RO h1                       !WRONGTYPE Operation against a key holding the wrong kind of value
> SORT o1 STORE d                  !WRONGTYPE Operation against a key holding the wrong kind of value
