> ZCARD k                                 =0
> ZADD k 1 a 2 b 2 c 3 d 4.5 e            =5
> ZCARD k                                 =5
> ZSCORE k a                              =~1
> ZSCORE k e                              =~4.5
> ZSCORE k none                           =nil
> ZSCORE none a                           =nil
> ZMSCORE k a none e                      =[~1, nil, ~4.5]
> ZMSCORE none a b                        =[nil, nil]
> ZRANK k a                               =0
> ZRANK k e                               =4
> ZRANK k none                            =nil
> ZRANK none a                            =nil
> ZREVRANK k a                            =4
> ZREVRANK k e                            =0
> ZREVRANK k none                         =nil
> ZCOUNT k 2 3                            =3
> ZCOUNT k (2 3                           =1
> ZCOUNT k (2 (3                          =0
> ZCOUNT k -inf +inf                      =5
> ZCOUNT k -inf (2                        =1
> ZCOUNT k 3 2                            =0
> ZCOUNT k (2 2                           =0
> ZCOUNT k 2 2                            =2
> ZCOUNT k inf -inf                       =0
> ZCOUNT none 0 1                         =0
> ZCOUNT k "" 2                           =3
> ZCOUNT k ( 1                            =1
> ZCOUNT k a 2                            !ERR min or max is not a float
> ZCOUNT k 1 b                            !ERR min or max is not a float
> ZCOUNT k nan 2                          !ERR min or max is not a float
> ZCOUNT k 1 (nan                         !ERR min or max is not a float
> ZCOUNT k ((1 2                          !ERR min or max is not a float
> ZCOUNT k 1 1e400                        =5
> ZADD l 0 a 0 b 0 c 0 d 0 aa             =5
> ZLEXCOUNT l - +                         =5
> ZLEXCOUNT l [a [c                       =4
> ZLEXCOUNT l (a [c                       =3
> ZLEXCOUNT l (a (c                       =2
> ZLEXCOUNT l [b [a                       =0
> ZLEXCOUNT l + -                         =0
> ZLEXCOUNT l + +                         =0
> ZLEXCOUNT l - -                         =0
> ZLEXCOUNT l [ +                         =5
> ZLEXCOUNT l ( +                         =5
> ZLEXCOUNT none - +                      =0
> ZLEXCOUNT l a [c                        !ERR min or max not valid string range item
> ZLEXCOUNT l [a c                        !ERR min or max not valid string range item
> ZLEXCOUNT l "" +                        !ERR min or max not valid string range item
> ZLEXCOUNT l -a +                        !ERR min or max not valid string range item
> SET s v                                 =OK
> ZCARD s                                 !WRONGTYPE Operation against a key holding the wrong kind of value
> ZSCORE s a                              !WRONGTYPE Operation against a key holding the wrong kind of value
> ZMSCORE s a                             !WRONGTYPE Operation against a key holding the wrong kind of value
> ZRANK s a                               !WRONGTYPE Operation against a key holding the wrong kind of value
> ZREVRANK s a                            !WRONGTYPE Operation against a key holding the wrong kind of value
> ZCOUNT s 1 2                            !WRONGTYPE Operation against a key holding the wrong kind of value
> ZCOUNT s x 2                            !ERR min or max is not a float
> ZLEXCOUNT s - +                         !WRONGTYPE Operation against a key holding the wrong kind of value
> ZCARD k x                               !ERR wrong number of arguments for 'zcard' command
> ZSCORE k                                !ERR wrong number of arguments for 'zscore' command
> ZMSCORE k                               !ERR wrong number of arguments for 'zmscore' command
> ZRANK k                                 !ERR wrong number of arguments for 'zrank' command
> ZREVRANK k                              !ERR wrong number of arguments for 'zrevrank' command
> ZCOUNT k 1                              !ERR wrong number of arguments for 'zcount' command
> ZLEXCOUNT k - + x                       !ERR wrong number of arguments for 'zlexcount' command

since: 7.2 redis.io/commands/zrank
> ZRANK k a WITHSCORE                     =[0, ~1]
> ZRANK k e WITHSCORE                     =[4, ~4.5]
> ZREVRANK k a withscore                  =[4, ~1]
> ZREVRANK k none WITHSCORE               =nil-array
> ZRANK none a WITHSCORE                  =nil-array
> ZRANK k a FOO                           !ERR syntax error
> ZRANK s a WITHSCORE                     !WRONGTYPE Operation against a key holding the wrong kind of value
> ZRANK k a WITHSCORE x                   !ERR wrong number of arguments for 'zrank' command

since: 7.2 github.com/redis/redis/pull/10587: the shortest digits
> ZADD f 0.1 tenth 3.3 some 1e21 much 1e-7 little 123456789.123 long  =5
> ZSCORE f tenth                          =~0.1
> ZINCRBY f 0.2 tenth                     =~0.30000000000000004
> ZMSCORE f some much little long         =[~3.3, ~1e+21, ~1e-7, ~123456789.123]

since: 99 of Bobbin alone
> ZSUM k -inf +inf                        =~12.5
> ZSUM k (1 3                             =~7
> ZSUM k 9 10                             =~0
> ZSUM none 0 1                           =~0
> ZAVG k -inf +inf                        =~2.5
> ZAVG k 1 2                              =~1.6666666666666667
> ZAVG k 9 10                             =nil
> ZAVG none 0 1                           =nil
> ZSUM k x 1                              !ERR min or max is not a float
> ZAVG k 1 x                              !ERR min or max is not a float
> ZSUM s 0 1                              !WRONGTYPE Operation against a key holding the wrong kind of value
> ZAVG s 0 1                              !WRONGTYPE Operation against a key holding the wrong kind of value
> ZSUM k 0                                !ERR wrong number of arguments for 'zsum' command
> ZAVG k 0 1 2                            !ERR wrong number of arguments for 'zavg' command
