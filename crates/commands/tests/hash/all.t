> HSET k a 1 b 2 c 3                      =3
> HGETALL k                               ={"a": "1", "b": "2", "c": "3"}
> HKEYS k                                 =["a", "b", "c"]
> HVALS k                                 =["1", "2", "3"]
> HDEL k a                                =1
> HSET k a 4                              =1
> HKEYS k                                 =["b", "c", "a"]
> HSET k c 5                              =0
> HVALS k                                 =["2", "5", "4"]
> HGETALL missing                         ={}
> HKEYS missing                           =[]
> HVALS missing                           =[]
> HSET k big 01234567890123456789012345678901234567890123456789012345678901234  =1
> HDEL k big                              =1
> HKEYS k                                 =?["a", "b", "c"]
> HVALS k                                 =?["2", "5", "4"]
> SET s v                                 =OK
> HGETALL s                               !WRONGTYPE Operation against a key holding the wrong kind of value
> HKEYS s                                 !WRONGTYPE Operation against a key holding the wrong kind of value
> HVALS s                                 !WRONGTYPE Operation against a key holding the wrong kind of value
> HGETALL                                 !ERR wrong number of arguments for 'hgetall' command
> HKEYS k x                               !ERR wrong number of arguments for 'hkeys' command
> HVALS                                   !ERR wrong number of arguments for 'hvals' command
