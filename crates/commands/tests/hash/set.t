> HSET k f v                              =1
> HSET k f w g x                          =1
> HSET k f w g x                          =0
> HSET k h 1 h 2 i 3                      =2
> HGETALL k                               ={"f": "w", "g": "x", "h": "2", "i": "3"}
> HMSET k f y j ""                        =OK
> HGET k f                                ="y"
> HGET k j                                =""
> HSETNX k f no                           =0
> HSETNX k new yes                        =1
> HGET k f                                ="y"
> HGET k new                              ="yes"
> HSETNX fresh "" empty                   =1
> HGETALL fresh                           ={"": "empty"}
> TYPE k                                  =hash
> SET s v                                 =OK
> HSET s f v                              !WRONGTYPE Operation against a key holding the wrong kind of value
> HMSET s f v                             !WRONGTYPE Operation against a key holding the wrong kind of value
> HSETNX s f v                            !WRONGTYPE Operation against a key holding the wrong kind of value
> RPUSH k a                               !WRONGTYPE Operation against a key holding the wrong kind of value
> GET k                                   !WRONGTYPE Operation against a key holding the wrong kind of value
> HSET k f                                !ERR wrong number of arguments for 'hset' command
> HSET k f v g                            !ERR wrong number of arguments for 'hset' command
> HSET s f v g                            !ERR wrong number of arguments for 'hset' command
> HMSET k f v g                           !ERR wrong number of arguments for 'hmset' command
> HSETNX k f                              !ERR wrong number of arguments for 'hsetnx' command
> HSETNX k f v g                          !ERR wrong number of arguments for 'hsetnx' command
> EXPIRE k 100                            =1
> HSET k f v                              =0
> TTL k                                   =40..100
> PEXPIRE fresh 1000                      =1
+1100
> HSET fresh a b                          =1
> HGETALL fresh                           ={"a": "b"}
> TTL fresh                               =-1
> OBJECT ENCODING fresh                   ="listpack"
> HSET fresh big 01234567890123456789012345678901234567890123456789012345678901234  =1
> OBJECT ENCODING fresh                   ="hashtable"
> HDEL fresh big                          =1
> OBJECT ENCODING fresh                   ="hashtable"
> HSET name 01234567890123456789012345678901234567890123456789012345678901234 v  =1
> OBJECT ENCODING name                    ="hashtable"
> HSETNX nx f 01234567890123456789012345678901234567890123456789012345678901234  =1
> OBJECT ENCODING nx                      ="hashtable"
> HSET just f 0123456789012345678901234567890123456789012345678901234567890123  =1
> OBJECT ENCODING just                    ="listpack"
> COPY fresh copied                       =1
> HGETALL copied                          ={"a": "b"}
> RENAME copied moved                     =OK
> HGET moved a                            ="b"
> MOVE moved 1                            =1
> EXISTS moved                            =0
> SELECT 1                                =OK
> HGETALL moved                           ={"a": "b"}
> SELECT 0                                =OK
> SCAN 0 TYPE hash COUNT 1000 MATCH k     =["0", ["k"]]
