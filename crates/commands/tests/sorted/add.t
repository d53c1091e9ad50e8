> ZADD k 1 one 2 two 3 three              =3
> ZADD k 1 one                            =0
> ZADD k 10 one 4 four                    =1
> ZADD k CH 1 one 5 five                  =2
> ZADD k CH 1 one                         =0
> ZRANGE k 0 -1 WITHSCORES                =@{"one": ~1, "two": ~2, "three": ~3, "four": ~4, "five": ~5}
> ZADD k NX 100 one 6 six                 =1
> ZADD k XX 2 one 7 seven                 =0
> ZADD k XX CH 1 one 7 seven              =1
> ZADD k GT CH 0 one 8 two 9 eight        =2
> ZADD k LT CH 9 one 1 two 10 nine        =2
> ZADD k GT XX CH 5 two 5 ten             =1
> ZADD k LT XX CH 4 two 5 ten             =1
> ZRANGE k 0 -1 WITHSCORES
=@{"one": ~1, "three": ~3, "four": ~4, "two": ~4, "five": ~5, "six": ~6, "eight": ~9, "nine": ~10}
> ZADD k 1 a 2 a 3 a                      =1
> ZSCORE k a                              =~3
> ZADD k CH 3 a 4 a                       =1
> ZADD k CH 5 a 4 a                       =2
> ZADD k NX 1 b 2 b                       =1
> ZSCORE k b                              =~1
> ZADD k GT CH 5 b 3 b 6 b                =2
> ZSCORE k b                              =~6
> ZADD k INCR 5 b                         =~11
> ZADD k INCR 1.5 new                     =~1.5
> ZADD k NX INCR 5 b                      =nil
> ZADD k XX INCR 5 absent                 =nil
> ZADD k GT INCR -5 b                     =nil
> ZADD k LT INCR -5 b                     =~6
> ZADD k XX INCR 0 b                      =~6
> ZADD none XX 1 a                        =0
> ZADD none XX INCR 1 a                   =nil
> EXISTS none                             =0
> ZINCRBY k 2 b                           =~8
> ZINCRBY k -0.5 b                        =~7.5
> ZINCRBY k inf b                         =~inf
> ZINCRBY k -inf b                        !ERR resulting score is not a number (NaN)
> ZSCORE k b                              =~inf
> ZADD k INCR -inf b                      !ERR resulting score is not a number (NaN)
> ZADD k -inf low +inf high inf higher -Infinity lower  =4
> ZRANGE k 0 -1 WITHSCORES
=@{"low": ~-inf, "lower": ~-inf, "one": ~1, "new": ~1.5, "three": ~3, "a": ~4, "four": ~4, "two": ~4, "five": ~5, "six": ~6, "eight": ~9, "nine": ~10, "b": ~inf, "high": ~inf, "higher": ~inf}
> ZINCRBY fresh 3 m                       =~3
> ZADD edge -0 minus 0 plus 1e3 e .5 half 5. five +7 seven  =6
> ZRANGE edge 0 -1 WITHSCORES             =@{"minus": ~0, "plus": ~0, "half": ~0.5, "five": ~5, "seven": ~7, "e": ~1000}
> ZADD edge CH 0 minus -0 plus            =0
> ZSCORE edge minus                       =~0
> ZADD k x m                              !ERR value is not a valid float
> ZADD k nan m                            !ERR value is not a valid float
> ZADD k "" m                             !ERR value is not a valid float
> ZADD k " 1" m                           !ERR value is not a valid float
> ZADD k "1 " m                           !ERR value is not a valid float
> ZADD k 1e400 m                          !ERR value is not a valid float
> ZADD k -1e400 m                         !ERR value is not a valid float
> ZADD k 1e-400 m                         !ERR value is not a valid float
> ZADD k 0e-400 m                         =1
> ZADD k 1 a x b                          !ERR value is not a valid float
> ZINCRBY k x m                           !ERR value is not a valid float
> ZINCRBY k nan m                         !ERR value is not a valid float
> ZINCRBY k XX m                          !ERR syntax error
> ZINCRBY k incr m                        !ERR syntax error
> ZADD k NX XX 1 m                        !ERR XX and NX options at the same time are not compatible
> ZADD k GT LT 1 m                        !ERR GT, LT, and/or NX options at the same time are not compatible
> ZADD k GT NX 1 m                        !ERR GT, LT, and/or NX options at the same time are not compatible
> ZADD k LT NX 1 m                        !ERR GT, LT, and/or NX options at the same time are not compatible
> ZADD k NX XX GT 1 m                     !ERR XX and NX options at the same time are not compatible
> ZADD k INCR 1 m 2 n                     !ERR INCR option supports a single increment-element pair
> ZADD k 1 m 2                            !ERR syntax error
> ZADD k NX CH                            !ERR syntax error
> ZADD k NX CH INCR                       !ERR syntax error
> ZADD k XX 1                             !ERR syntax error
> ZADD k 1                                !ERR wrong number of arguments for 'zadd' command
> ZADD k                                  !ERR wrong number of arguments for 'zadd' command
> ZINCRBY k 1                             !ERR wrong number of arguments for 'zincrby' command
> ZINCRBY k 1 m n                         !ERR wrong number of arguments for 'zincrby' command
> SET s v                                 =OK
> ZADD s 1 m                              !WRONGTYPE Operation against a key holding the wrong kind of value
> ZADD s x m                              !ERR value is not a valid float
> ZADD s NX XX 1 m                        !ERR XX and NX options at the same time are not compatible
> ZADD s XX 1 m                           !WRONGTYPE Operation against a key holding the wrong kind of value
> ZINCRBY s 1 m                           !WRONGTYPE Operation against a key holding the wrong kind of value
> ZADD k incr 1 "a member"                =~1
> zadd k Nx cH 1 "a member" 2 other       =1
> TYPE k                                  =zset
> OBJECT ENCODING k                       ="listpack"
> ZADD long 1 0123456789012345678901234567890123456789012345678901234567890123  =1
> OBJECT ENCODING long                    ="listpack"
> ZADD long 1 01234567890123456789012345678901234567890123456789012345678901234  =1
> OBJECT ENCODING long                    ="skiplist"
> ZREM long 01234567890123456789012345678901234567890123456789012345678901234  =1
> OBJECT ENCODING long                    ="skiplist"
> ZADD longer 1 01234567890123456789012345678901234567890123456789012345678901234 2 b 1 c  =3
> OBJECT ENCODING longer                  ="skiplist"
> ZRANGE longer 0 -1 WITHSCORES
=@{"01234567890123456789012345678901234567890123456789012345678901234": ~1, "c": ~1, "b": ~2}
> ZADD longer 1 b 0 c                     =0
> ZRANGE longer 0 -1 WITHSCORES
=@{"c": ~0, "01234567890123456789012345678901234567890123456789012345678901234": ~1, "b": ~1}
> ZREM longer b                           =1
> ZREM longer c 01234567890123456789012345678901234567890123456789012345678901234  =2
> EXISTS longer                           =0
> ZADD longer 1 a                         =1
> OBJECT ENCODING longer                  ="listpack"
> ZADD hex 0x10 a -0x1.8p1 b 0X.8 c 0x1p-2 d  =4
> ZRANGE hex 0 -1 WITHSCORES              =@{"b": ~-3, "d": ~0.25, "c": ~0.5, "a": ~16}
> ZINCRBY hex 0x1P+2 a                    =~20
> ZCOUNT hex 0x0 (0x14                    =2
> ZCOUNT hex -0x1p4000 0x1p4000           =4
> ZADD hex 0x a                           !ERR value is not a valid float
> ZADD hex 0x1p a                         !ERR value is not a valid float
> ZADD hex 0x1.2.3 a                      !ERR value is not a valid float
> ZADD hex 0x1p1024 a                     !ERR value is not a valid float
> ZADD hex 0x1p-1076 a                    !ERR value is not a valid float
