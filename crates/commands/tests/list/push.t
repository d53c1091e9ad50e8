> LPUSH k a                               =1
> LPUSH k b c                             =3
> LRANGE k 0 -1                           =["c", "b", "a"]
> RPUSH k x y                             =5
> LRANGE k 0 -1                           =["c", "b", "a", "x", "y"]
> RPUSH fresh 1 2 3                       =3
> LRANGE fresh 0 -1                       =["1", "2", "3"]
> LPUSHX k d                              =6
> RPUSHX k z z2                           =8
> LRANGE k 0 -1                           =["d", "c", "b", "a", "x", "y", "z", "z2"]
> LPUSHX missing a                        =0
> RPUSHX missing a                        =0
> EXISTS missing                          =0
> RPUSH k ""                              =9
> RPUSH k "\x00\r\n"                      =10
> LRANGE k -2 -1                          =["", "\x00\r\n"]
> EXPIRE k 100                            =1
> RPUSH k more                            =11
> TTL k                                   =40..100
> SET s v                                 =OK
> LPUSH s a                               !WRONGTYPE Operation against a key holding the wrong kind of value
> RPUSH s a                               !WRONGTYPE Operation against a key holding the wrong kind of value
> LPUSHX s a                              !WRONGTYPE Operation against a key holding the wrong kind of value
> RPUSHX s a                              !WRONGTYPE Operation against a key holding the wrong kind of value
> LPUSH k                                 !ERR wrong number of arguments for 'lpush' command
> RPUSH k                                 !ERR wrong number of arguments for 'rpush' command
> LPUSHX k                                !ERR wrong number of arguments for 'lpushx' command
> RPUSHX k                                !ERR wrong number of arguments for 'rpushx' command
> LPUSH                                   !ERR wrong number of arguments for 'lpush' command
> RPUSH t a                               =1
> PEXPIRE t 1000                          =1
+1100
> RPUSH t b                               =1
> LRANGE t 0 -1                           =["b"]
> TTL t                                   =-1
