> ZADD k 1 a 2 b 3 c 4 d 5 e              =5
> ZRANGE k 0 -1                           =["a", "b", "c", "d", "e"]
> ZRANGE k 1 2                            =["b", "c"]
> ZRANGE k -2 -1                          =["d", "e"]
> ZRANGE k 3 1                            =[]
> ZRANGE k 5 9                            =[]
> ZRANGE k -100 100                       =["a", "b", "c", "d", "e"]
> ZRANGE none 0 -1                        =[]
> ZRANGE k 0 1 WITHSCORES                 =@{"a": ~1, "b": ~2}
> ZRANGE k 0 1 REV WITHSCORES             =@{"e": ~5, "d": ~4}
> ZRANGE k 0 -1 REV                       =["e", "d", "c", "b", "a"]
> ZRANGE k -2 -1 REV                      =["b", "a"]
> ZREVRANGE k 0 1                         =["e", "d"]
> ZREVRANGE k 0 1 WITHSCORES              =@{"e": ~5, "d": ~4}
> ZREVRANGE k 1 -2 withscores             =@{"d": ~4, "c": ~3, "b": ~2}
> ZREVRANGE none 0 -1                     =[]
> ZRANGEBYSCORE k 2 4                     =["b", "c", "d"]
> ZRANGEBYSCORE k (2 4 WITHSCORES         =@{"c": ~3, "d": ~4}
> ZRANGEBYSCORE k -inf +inf LIMIT 1 2     =["b", "c"]
> ZRANGEBYSCORE k -inf +inf LIMIT 1 -1    =["b", "c", "d", "e"]
> ZRANGEBYSCORE k -inf +inf LIMIT 0 0     =[]
> ZRANGEBYSCORE k -inf +inf LIMIT -1 2    =[]
> ZRANGEBYSCORE k -inf +inf LIMIT 9 2     =[]
> ZRANGEBYSCORE k -inf +inf LIMIT 3 9     =["d", "e"]
> ZRANGEBYSCORE k -inf +inf WITHSCORES LIMIT 3 -5  =@{"d": ~4, "e": ~5}
> ZRANGEBYSCORE k 4 2                     =[]
> ZRANGEBYSCORE none 1 2                  =[]
> ZREVRANGEBYSCORE k 4 2                  =["d", "c", "b"]
> ZREVRANGEBYSCORE k 4 (2 WITHSCORES      =@{"d": ~4, "c": ~3}
> ZREVRANGEBYSCORE k +inf -inf LIMIT 1 2  =["d", "c"]
> ZREVRANGEBYSCORE k 2 4                  =[]
> ZRANGE k 2 4 BYSCORE                    =["b", "c", "d"]
> ZRANGE k 4 2 BYSCORE REV                =["d", "c", "b"]
> ZRANGE k 2 4 BYSCORE REV                =[]
> ZRANGE k (1 (4 BYSCORE LIMIT 1 1 WITHSCORES  =@{"c": ~3}
> ZRANGE k +inf -inf BYSCORE REV LIMIT 1 2  =["d", "c"]
> ZADD l 0 a 0 b 0 c 0 d 0 e              =5
> ZRANGEBYLEX l - +                       =["a", "b", "c", "d", "e"]
> ZRANGEBYLEX l [b (d                     =["b", "c"]
> ZRANGEBYLEX l (b [d                     =["c", "d"]
> ZRANGEBYLEX l - + LIMIT 1 2             =["b", "c"]
> ZRANGEBYLEX l [d [b                     =[]
> ZRANGEBYLEX l + -                       =[]
> ZREVRANGEBYLEX l + -                    =["e", "d", "c", "b", "a"]
> ZREVRANGEBYLEX l [d (b                  =["d", "c"]
> ZREVRANGEBYLEX l + - LIMIT 1 2          =["d", "c"]
> ZREVRANGEBYLEX l - +                    =[]
> ZRANGE l [b [d BYLEX                    =["b", "c", "d"]
> ZRANGE l [d [b BYLEX REV                =["d", "c", "b"]
> ZRANGE l - + BYLEX LIMIT 3 5            =["d", "e"]
> ZRANGE k a b                            !ERR value is not an integer or out of range
> ZRANGE k 0 b                            !ERR value is not an integer or out of range
> ZRANGE k 1 x BYSCORE                    !ERR min or max is not a float
> ZRANGE k a b BYLEX                      !ERR min or max not valid string range item
> ZRANGE k 0 1 LIMIT 0 1                  !ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX
> ZRANGE k 0 1 LIMIT 0 -1                 =["a", "b"]
> ZRANGE l - + BYLEX WITHSCORES           !ERR syntax error, WITHSCORES not supported in combination with BYLEX
> ZRANGE k 0 1 BYSCORE BYLEX              !ERR syntax error
> ZRANGE k 0 1 REV REV                    !ERR syntax error
> ZRANGE k 0 1 LIMIT 0                    !ERR syntax error
> ZRANGE k 0 1 LIMIT x 1                  !ERR value is not an integer or out of range
> ZRANGE k 0 1 BYSCORE LIMIT 0 x          !ERR value is not an integer or out of range
> ZRANGE k 0 1 FOO                        !ERR syntax error
> ZREVRANGE k 0 1 REV                     !ERR syntax error
> ZREVRANGE k 0 1 BYSCORE                 !ERR syntax error
> ZREVRANGE k 0 1 LIMIT 0 1
!ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX
> ZRANGEBYSCORE k 0 1 REV                 !ERR syntax error
> ZRANGEBYSCORE k 0 1 BYLEX               !ERR syntax error
> ZRANGEBYSCORE k x 1                     !ERR min or max is not a float
> ZRANGEBYLEX l - + WITHSCORES            !ERR syntax error, WITHSCORES not supported in combination with BYLEX
> ZRANGEBYLEX l a +                       !ERR min or max not valid string range item
> ZREVRANGEBYSCORE k x 1                  !ERR min or max is not a float
> ZREVRANGEBYLEX l a +                    !ERR min or max not valid string range item
> SET s v                                 =OK
> ZRANGE s 0 -1                           !WRONGTYPE Operation against a key holding the wrong kind of value
> ZRANGE s 0 x                            !ERR value is not an integer or out of range
> ZREVRANGE s 0 -1                        !WRONGTYPE Operation against a key holding the wrong kind of value
> ZRANGEBYSCORE s 0 1                     !WRONGTYPE Operation against a key holding the wrong kind of value
> ZREVRANGEBYSCORE s 0 1                  !WRONGTYPE Operation against a key holding the wrong kind of value
> ZRANGEBYLEX s - +                       !WRONGTYPE Operation against a key holding the wrong kind of value
> ZREVRANGEBYLEX s - +                    !WRONGTYPE Operation against a key holding the wrong kind of value
> ZRANGE k 0                              !ERR wrong number of arguments for 'zrange' command
> ZREVRANGE k 0                           !ERR wrong number of arguments for 'zrevrange' command
> ZRANGEBYSCORE k 0                       !ERR wrong number of arguments for 'zrangebyscore' command
> ZRANGEBYLEX k 0                         !ERR wrong number of arguments for 'zrangebylex' command
> ZREVRANGEBYSCORE k 0                    !ERR wrong number of arguments for 'zrevrangebyscore' command
> ZREVRANGEBYLEX k 0                      !ERR wrong number of arguments for 'zrevrangebylex' command
# ZRANGESTORE
> ZRANGESTORE t k 1 3                     =3
> ZRANGE t 0 -1 WITHSCORES                =@{"b": ~2, "c": ~3, "d": ~4}
> ZRANGESTORE t k 0 0 REV                 =1
> ZRANGE t 0 -1 WITHSCORES                =@{"e": ~5}
> ZRANGESTORE t k 2 4 BYSCORE LIMIT 1 5   =2
> ZRANGE t 0 -1 WITHSCORES                =@{"c": ~3, "d": ~4}
> ZRANGESTORE t k 4 2 BYSCORE REV LIMIT 0 1  =1
> ZRANGE t 0 -1 WITHSCORES                =@{"d": ~4}
> ZRANGESTORE t l [b [c BYLEX             =2
> ZRANGE t 0 -1 WITHSCORES                =@{"b": ~0, "c": ~0}
> ZRANGESTORE k k 1 3                     =3
> ZRANGE k 0 -1 WITHSCORES                =@{"b": ~2, "c": ~3, "d": ~4}
> ZRANGESTORE t none 0 -1                 =0
> EXISTS t                                =0
> ZRANGESTORE s k 0 0                     =1
> TYPE s                                  =zset
> EXPIRE s 100                            =1
> ZRANGESTORE s k 0 0                     =1
> TTL s                                   =-1
> ZRANGESTORE s k 9 10                    =0
> EXISTS s                                =0
> SET s v                                 =OK
> ZRANGESTORE t s 0 -1                    !WRONGTYPE Operation against a key holding the wrong kind of value
> ZRANGESTORE t k 0 -1 WITHSCORES         !ERR syntax error
> ZRANGESTORE t k 0 x                     !ERR value is not an integer or out of range
> ZRANGESTORE t k 0 1 LIMIT 0 1
!ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX
> ZRANGESTORE t k 0 1 FOO                 !ERR syntax error
> ZRANGESTORE t k 0                       !ERR wrong number of arguments for 'zrangestore' command
