> ZADD a 1 x 2 y 3 z                      =3
> ZADD b 10 y 20 z 30 w                   =3
> ZADD c 100 z 5 v                        =2
> ZUNION 2 a b                            =["x", "y", "z", "w"]
> ZUNION 2 a b WITHSCORES                 =@{"x": ~1, "y": ~12, "z": ~23, "w": ~30}
> ZUNION 3 a b c WITHSCORES               =@{"x": ~1, "v": ~5, "y": ~12, "w": ~30, "z": ~123}
> ZUNION 2 a b WEIGHTS 2 3 WITHSCORES     =@{"x": ~2, "y": ~34, "z": ~66, "w": ~90}
> ZUNION 2 a b AGGREGATE MIN WITHSCORES   =@{"x": ~1, "y": ~2, "z": ~3, "w": ~30}
> ZUNION 2 a b AGGREGATE MAX WITHSCORES   =@{"x": ~1, "y": ~10, "z": ~20, "w": ~30}
> ZUNION 2 a b WEIGHTS 2 -1 AGGREGATE MAX WITHSCORES  =@{"w": ~-30, "x": ~2, "y": ~4, "z": ~6}
> ZUNION 1 none                           =[]
> ZUNION 2 a none WITHSCORES              =@{"x": ~1, "y": ~2, "z": ~3}
> ZUNION 2 a a WITHSCORES                 =@{"x": ~2, "y": ~4, "z": ~6}
> ZINTER 2 a b                            =["y", "z"]
> ZINTER 2 a b WITHSCORES                 =@{"y": ~12, "z": ~23}
> ZINTER 3 a b c WITHSCORES               =@{"z": ~123}
> ZINTER 2 a b WEIGHTS 1 0.5 AGGREGATE SUM WITHSCORES  =@{"y": ~7, "z": ~13}
> ZINTER 2 a b AGGREGATE MIN WITHSCORES   =@{"y": ~2, "z": ~3}
> ZINTER 2 a b AGGREGATE MAX WITHSCORES   =@{"y": ~10, "z": ~20}
> ZINTER 2 a none                         =[]
> ZINTER 2 a a WITHSCORES                 =@{"x": ~2, "y": ~4, "z": ~6}
> ZDIFF 2 a b                             =["x"]
> ZDIFF 2 a b WITHSCORES                  =@{"x": ~1}
> ZDIFF 2 b a WITHSCORES                  =@{"w": ~30}
> ZDIFF 3 a b c                           =["x"]
> ZDIFF 2 a a                             =[]
> ZDIFF 1 a                               =["x", "y", "z"]
> ZDIFF 2 none a                          =[]
> ZDIFF 2 a none WITHSCORES               =@{"x": ~1, "y": ~2, "z": ~3}
> ZINTERCARD 2 a b                        =2
> ZINTERCARD 3 a b c                      =1
> ZINTERCARD 2 a b LIMIT 1                =1
> ZINTERCARD 2 a b LIMIT 0                =2
> ZINTERCARD 2 a b LIMIT 5                =2
> ZINTERCARD 2 a none                     =0
> ZINTERCARD 1 a                          =3
> ZUNIONSTORE t 2 a b                     =4
> ZRANGE t 0 -1 WITHSCORES                =@{"x": ~1, "y": ~12, "z": ~23, "w": ~30}
> ZUNIONSTORE t 2 a b WEIGHTS 1 2 AGGREGATE MIN  =4
> ZRANGE t 0 -1 WITHSCORES                =@{"x": ~1, "y": ~2, "z": ~3, "w": ~60}
> ZINTERSTORE t 2 a b                     =2
> ZRANGE t 0 -1 WITHSCORES                =@{"y": ~12, "z": ~23}
> ZDIFFSTORE t 2 a b                      =1
> ZRANGE t 0 -1 WITHSCORES                =@{"x": ~1}
> ZINTERSTORE t 2 a none                  =0
> EXISTS t                                =0
> ZUNIONSTORE a 2 a b                     =4
> ZRANGE a 0 -1 WITHSCORES                =@{"x": ~1, "y": ~12, "z": ~23, "w": ~30}
> SET s v                                 =OK
> ZUNIONSTORE s 1 c                       =2
> TYPE s                                  =zset
> EXPIRE s 100                            =1
> ZUNIONSTORE s 1 c                       =2
> TTL s                                   =-1
> ZDIFFSTORE s 2 c c                      =0
> EXISTS s                                =0
> ZADD i inf p -inf m 1 o                 =3
> ZADD j -inf p inf m 1 o                 =3
> ZUNION 2 i j WITHSCORES                 =@{"m": ~0, "p": ~0, "o": ~2}
> ZUNION 1 i WEIGHTS 0 WITHSCORES         =@{"m": ~0, "o": ~0, "p": ~0}
> ZINTER 2 i j WEIGHTS -1 1 WITHSCORES    =@{"p": ~-inf, "o": ~0, "m": ~inf}
> ZADD w 1 p 2 m 3 o                      =3
> ZINTER 2 w i WEIGHTS 1 0 WITHSCORES     =@{"m": ~0, "p": ~0, "o": ~3}
> ZINTER 2 w i WEIGHTS 1 0 AGGREGATE MIN WITHSCORES  =@{"o": ~0, "p": ~1, "m": ~2}
> ZINTER 2 w i WEIGHTS -1 0 AGGREGATE MAX WITHSCORES  =@{"m": ~-2, "p": ~-1, "o": ~0}
> ZINTER 2 i w WEIGHTS 0 1 WITHSCORES     =@{"p": ~1, "m": ~2, "o": ~3}
> ZUNION 2 w i WEIGHTS 1 0 AGGREGATE MIN WITHSCORES  =@{"m": ~0, "o": ~0, "p": ~0}
> ZUNION 0 a                              !ERR at least 1 input key is needed for 'zunion' command
> ZUNION -1 a                             !ERR at least 1 input key is needed for 'zunion' command
> ZUNION x a                              !ERR value is not an integer or out of range
> ZUNION 3 a b                            !ERR syntax error
> ZINTER 0 a                              !ERR at least 1 input key is needed for 'zinter' command
> ZDIFF 0 a                               !ERR at least 1 input key is needed for 'zdiff' command
> ZINTERCARD 0 a                          !ERR at least 1 input key is needed for 'zintercard' command
> ZINTERCARD 3 a b                        !ERR syntax error
> ZUNIONSTORE t 0 a                       !ERR at least 1 input key is needed for 'zunionstore' command
> ZINTERSTORE t x a                       !ERR value is not an integer or out of range
> ZDIFFSTORE t 0 a                        !ERR at least 1 input key is needed for 'zdiffstore' command
> ZUNION 1 a FOO                          !ERR syntax error
> ZUNION 2 a b WEIGHTS 1                  !ERR syntax error
> ZUNION 2 a b WEIGHTS 1 x                !ERR weight value is not a float
> ZUNION 2 a b WEIGHTS 1 nan              !ERR weight value is not a float
> ZUNION 1 a AGGREGATE AVG                !ERR syntax error
> ZUNION 1 a AGGREGATE                    !ERR syntax error
> ZDIFF 1 a WEIGHTS 1                     !ERR syntax error
> ZDIFF 1 a AGGREGATE SUM                 !ERR syntax error
> ZINTERCARD 1 a LIMIT -1                 !ERR LIMIT can't be negative
> ZINTERCARD 1 a LIMIT x                  !ERR LIMIT can't be negative
> ZINTERCARD 1 a LIMIT                    !ERR syntax error
> ZINTERCARD 1 a WITHSCORES               !ERR syntax error
> ZUNIONSTORE t 1 a WITHSCORES            !ERR syntax error
> ZDIFFSTORE t 1 a WITHSCORES             !ERR syntax error
> SET s v                                 =OK
> ZUNION 1 s                              !WRONGTYPE Operation against a key holding the wrong kind of value
> ZUNION 2 a s FOO                        !WRONGTYPE Operation against a key holding the wrong kind of value
> ZINTER 2 none s                         !WRONGTYPE Operation against a key holding the wrong kind of value
> ZDIFF 2 a s                             !WRONGTYPE Operation against a key holding the wrong kind of value
> ZINTERCARD 1 s                          !WRONGTYPE Operation against a key holding the wrong kind of value
> ZUNIONSTORE t 1 s                       !WRONGTYPE Operation against a key holding the wrong kind of value
> ZINTERSTORE t 2 a s                     !WRONGTYPE Operation against a key holding the wrong kind of value
> ZDIFFSTORE t 2 a s                      !WRONGTYPE Operation against a key holding the wrong kind of value
> ZUNION 1                                !ERR wrong number of arguments for 'zunion' command
> ZINTER 1                                !ERR wrong number of arguments for 'zinter' command
> ZDIFF 1                                 !ERR wrong number of arguments for 'zdiff' command
> ZINTERCARD 1                            !ERR wrong number of arguments for 'zintercard' command
> ZUNIONSTORE t 1                         !ERR wrong number of arguments for 'zunionstore' command
> ZINTERSTORE t 1                         !ERR wrong number of arguments for 'zinterstore' command
> ZDIFFSTORE t 1                          !ERR wrong number of arguments for 'zdiffstore' command
