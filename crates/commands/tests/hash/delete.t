> HSET k a 1 b 2 c 3 d 4                  =4
> HDEL k a none                           =1
> HDEL k a                                =0
> HDEL k b b c                            =2
> HGETALL k                               ={"d": "4"}
> HDEL k d                                =1
> EXISTS k                                =0
> HDEL k d                                =0
> HDEL missing a                          =0
> HSET k a 1 b 2                          =2
> HDEL k a b a                            =2
> EXISTS k                                =0
> SET s v                                 =OK
> HDEL s a                                !WRONGTYPE Operation against a key holding the wrong kind of value
> HDEL k                                  !ERR wrong number of arguments for 'hdel' command
