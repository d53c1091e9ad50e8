> ZADD k 1 a 2 b 3 c 4 d 5 e 6 f 7 g      =7
> ZPOPMIN k                               =["a", ~1]
> ZPOPMAX k                               =["g", ~7]
> ZPOPMIN k 2                             =@{"b": ~2, "c": ~3}
> ZPOPMAX k 2                             =@{"f": ~6, "e": ~5}
> ZPOPMIN k 0                             =[]
> ZRANGE k 0 -1 WITHSCORES                =@{"d": ~4}
> ZPOPMIN k 10                            =@{"d": ~4}
> EXISTS k                                =0
> ZPOPMIN k                               =[]
> ZPOPMIN k 5                             =[]
> ZPOPMAX k                               =[]
> ZPOPMIN k -1                            !ERR value is out of range, must be positive
> ZPOPMIN k x                             !ERR value is out of range, must be positive
> ZPOPMAX none -1                         !ERR value is out of range, must be positive
> ZADD k 1 a 2 b 3 c 4 d 5 e              =5
> ZADD k2 1 x                             =1
> ZMPOP 1 k MIN                           =["k", [["a", ~1]]]
> ZMPOP 2 none k MAX                      =["k", [["e", ~5]]]
> ZMPOP 2 none k MIN COUNT 2              =["k", [["b", ~2], ["c", ~3]]]
> ZMPOP 3 none k k2 MAX COUNT 10          =["k", [["d", ~4]]]
> ZMPOP 3 none k k2 MAX COUNT 10          =["k2", [["x", ~1]]]
> ZMPOP 2 none k MIN                      =nil-array
> ZMPOP 0 k MIN                           !ERR numkeys should be greater than 0
> ZMPOP x k MIN                           !ERR numkeys should be greater than 0
> ZMPOP -1 k MIN                          !ERR numkeys should be greater than 0
> ZMPOP 2 k MIN                           !ERR syntax error
> ZMPOP 1 k LEFT                          !ERR syntax error
> ZMPOP 1 k MIN COUNT 0                   !ERR count should be greater than 0
> ZMPOP 1 k MIN COUNT -1                  !ERR count should be greater than 0
> ZMPOP 1 k MIN COUNT x                   !ERR count should be greater than 0
> ZMPOP 1 k MIN COUNT 0 2                 !ERR count should be greater than 0
> ZMPOP 1 k MIN COUNT 1 2                 !ERR syntax error
> ZPOPMIN k 1 2                           !ERR syntax error
> ZPOPMAX k 1 2                           !ERR syntax error
> ZMPOP 1 k MIN COUNT                     !ERR syntax error
> ZMPOP 1 k MIN COUNT 1 COUNT 1           !ERR syntax error
> ZMPOP 1 k MIN FOO 1                     !ERR syntax error
> SET s v                                 =OK
> ZPOPMIN s                               !WRONGTYPE Operation against a key holding the wrong kind of value
> ZPOPMAX s 1                             !WRONGTYPE Operation against a key holding the wrong kind of value
> ZPOPMIN s 0                             !WRONGTYPE Operation against a key holding the wrong kind of value
> ZMPOP 1 s MIN                           !WRONGTYPE Operation against a key holding the wrong kind of value
> ZMPOP 2 none s MIN                      !WRONGTYPE Operation against a key holding the wrong kind of value
> ZPOPMIN                                 !ERR wrong number of arguments for 'zpopmin' command
> ZPOPMAX                                 !ERR wrong number of arguments for 'zpopmax' command
> ZMPOP 1 k                               !ERR wrong number of arguments for 'zmpop' command
> ZMPOP 1                                 !ERR wrong number of arguments for 'zmpop' command
