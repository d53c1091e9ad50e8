# what lists' commands do with a queue
since: 1000.0 bobbin
> RPUSH q a b c                                    =3
> Q.PUSH q d                                       =[*]
> TYPE q                                           =list
> LLEN q                                           =4
> LRANGE q 0 -1                                    =["a", "b", "c", "d"]
> LRANGE q -2 10                                   =["c", "d"]
> LRANGE q 5 10                                    =[]
> LINDEX q 0                                       ="a"
> LINDEX q -1                                      ="d"
> LINDEX q 4                                       =nil
> RPUSH q e f                                      =6
> LPUSH q z y                                      =8
> LPUSHX q x                                       =9
> RPUSHX q g                                       =10
> LRANGE q 0 -1                                    =["x", "y", "z", "a", "b", "c", "d", "e", "f", "g"]
> LINDEX q 2                                       ="z"
> LPOP q                                           ="x"
> RPOP q                                           ="g"
> LPOP q 3                                         =["y", "z", "a"]
> RPOP q 2                                         =["f", "e"]
> LPOP q 0                                         =[]
> LMPOP 2 none q LEFT                              =["q", ["b"]]
> LMPOP 1 q RIGHT COUNT 10                         =["q", ["d", "c"]]
> EXISTS q                                         =0
> LPOP q                                           =nil
> LPOP q 2                                         =nil-array
> LLEN q                                           =0

# what they leave to plain lists
since: 1000.0 bobbin
> Q.PUSH p a b c                                   =[*, *, *]
> LSET p 0 x                                       !WRONGTYPE The list is a queue, whose messages keep their positions
> LINSERT p BEFORE a x                             !WRONGTYPE The list is a queue
> LREM p 0 a                                       !WRONGTYPE The list is a queue
> LTRIM p 0 0                                      !WRONGTYPE The list is a queue
> LTRIMFRONT p 1                                   !WRONGTYPE The list is a queue
> LTRIMBACK p 1                                    !WRONGTYPE The list is a queue
> LPOS p a                                         !WRONGTYPE The list is a queue
> SORT p ALPHA                                     !WRONGTYPE
> GET p                                            !WRONGTYPE Operation against a key holding the wrong kind of value
> HSET p f v                                       !WRONGTYPE Operation against a key holding the wrong kind of value
> LRANGE p 0 -1                                    =["a", "b", "c"]
> Q.DROP p                                         =1
> LSET p 0 x                                       =OK
> LPOS p x                                         =0
> LRANGE p 0 -1                                    =["x", "b", "c"]
> Q.DROP p                                         =0
> Q.DROP none                                      =0

# messages pass from list to queue and back
since: 1000.0 bobbin
> Q.PUSH q1 a b                                    =[*, *]
> RPUSH list x y                                   =2
> LMOVE q1 list LEFT RIGHT                         ="a"
> LMOVE list q1 RIGHT LEFT                         ="a"
> LRANGE q1 0 -1                                   =["a", "b"]
> RPOPLPUSH list q1                                ="y"
> LRANGE q1 0 -1                                   =["y", "a", "b"]
> LMOVE q1 q1 LEFT RIGHT                           ="y"
> LMOVE q1 q1 RIGHT LEFT                           ="y"
> LRANGE q1 0 -1                                   =["y", "a", "b"]
> LMOVE q1 new LEFT RIGHT                          ="y"
> LPOP q1 1                                        =["a"]
> EXPIRE q1 100                                    =1
> LMOVE q1 q1 LEFT RIGHT                           ="b"
> TTL q1                                           =40..100
> LMOVE q1 q1 RIGHT RIGHT                          ="b"
> LRANGE q1 0 -1                                   =["b"]
> SET text v                                       =OK
> LMOVE q1 text LEFT LEFT                          !WRONGTYPE
> LMOVE text q1 LEFT LEFT                          !WRONGTYPE
> LMOVE none q1 LEFT LEFT                          =nil
> LLEN q1                                          =1
> LMOVE q1 list LEFT LEFT                          ="b"
> EXISTS q1                                        =0

# those who wait
since: 1000.0 bobbin
> Q.PUSH w a b c d                                 =[*, *, *, *]
> BLPOP none w 1                                   =["w", "a"]
> BRPOP w 1                                        =["w", "d"]
> BLMOVE w w2 LEFT RIGHT 1                         ="b"
> BRPOPLPUSH w w2 1                                ="c"
> LRANGE w2 0 -1                                   =["c", "b"]
> BLMPOP 1 1 w2 LEFT COUNT 5                       =["w2", ["c", "b"]]
> Q.LIMIT w MAXLEN 5                               =OK
> BLPOP w 0.01                                     =nil-array
> BLMOVE w w2 LEFT LEFT 0.01                       =*

# keys of any kind
since: 1000.0 bobbin
> Q.PUSH k a b c                                   =[*, *, *]
> OBJECT ENCODING k                                ="listpack"
> COPY k other                                     =1
> RENAME other third                               =OK
> LRANGE third 0 -1                                =["a", "b", "c"]
> Q.INFO third                                     =*
> MOVE third 1                                     =1
> EXISTS third                                     =0
> EXPIRE k 100                                     =1
> TTL k                                            =40..100
> PERSIST k                                        =1
> SELECT 1                                         =OK
> SCAN 0 TYPE list COUNT 1000                      =["0", ["third"]]
> SELECT 0                                         =OK
> SORT k                                           !WRONGTYPE
> MEMORY USAGE k                                   =1..10000
> DEL k                                            =1
