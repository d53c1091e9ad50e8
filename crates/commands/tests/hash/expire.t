since: 7.4 redis.io/commands/hexpire
> HSET k a 1 b 2 c 3                      =3
> HEXPIRE k 100 FIELDS 2 a none           =[1, -2]
> HTTL k FIELDS 3 a b none                =[40..100, -1, -2]
> OBJECT ENCODING k                       ="listpackex"
> HEXPIRE k 200 NX FIELDS 2 a b           =[0, 1]
> HEXPIRE k 300 XX FIELDS 2 a c           =[1, 0]
> HEXPIRE k 250 GT FIELDS 3 a b c         =[0, 1, 0]
> HEXPIRE k 50 LT FIELDS 3 a c none       =[1, 1, -2]
> HEXPIRE k 60 LT FIELDS 1 a              =[0]
> HTTL k FIELDS 3 a b c                   =[1..50, 201..250, 1..50]
> HEXPIRE k 100 NX FIELDS 2 a a           =[0, 0]
> HGETALL k                               ={"a": "1", "b": "2", "c": "3"}
> HEXPIRE k 0 FIELDS 2 a a                =[2, -2]
> HEXPIREAT k 1 FIELDS 1 b                =[2]
> HGETALL k                               ={"c": "3"}
> HPEXPIREAT k 0 FIELDS 1 c               =[2]
> EXISTS k                                =0
> HEXPIRE k 10 FIELDS 2 a b               =[-2, -2]
> HSET k a 1 b 2 c 3                      =3
> HPEXPIRE k 1000 FIELDS 1 a              =[1]
> HPEXPIREAT k 33177117420000 FIELDS 1 b  =[1]
> HEXPIREAT k 33177117421 FIELDS 1 c      =[1]
> HPEXPIRETIME k FIELDS 3 a b c           =[-2..33177117420000, 33177117420000, 33177117421000]
+1100
> HGET k a                                =nil
> HEXISTS k a                             =0
> HSTRLEN k a                             =0
> HLEN k                                  =2
> HKEYS k                                 =["b", "c"]
> HVALS k                                 =["2", "3"]
> HMGET k a b                             =[nil, "2"]
> HSCAN k 0                               =["0", ["b", "2", "c", "3"]]
> HRANDFIELD k 10                         =?["b", "c"]
> HTTL k FIELDS 1 a                       =[-2]
> HPERSIST k FIELDS 1 a                   =[-2]
> HEXPIRE k 100 FIELDS 1 a                =[-2]
> HDEL k a                                =0
> HSETNX k a again                        =1
> HTTL k FIELDS 1 a                       =[-1]
> HPEXPIRE k 1000 FIELDS 1 a              =[1]
+1100
> HINCRBY k a 5                           =5
> HTTL k FIELDS 1 a                       =[-1]
> HEXPIRE k 100 FIELDS 1 a                =[1]
> HINCRBY k a 5                           =10
> HINCRBYFLOAT k a 1.5                    ="11.5"
> HTTL k FIELDS 1 a                       =[40..100]
> HSET k a new                            =0
> HTTL k FIELDS 1 a                       =[-1]
> HSET all a 1 b 2                        =2
> HPEXPIRE all 1000 FIELDS 2 a b          =[1, 1]
+1100
> EXISTS all                              =0
> TYPE all                                =none
> HLEN all                                =0
> HSET all c 3                            =1
> HGETALL all                             ={"c": "3"}
> OBJECT ENCODING all                     ="listpack"
> HSET long a 0123456789012345678901234567890123456789012345678901234567890123456789 b 2 c 3  =3
> HPEXPIRE long 4000 FIELDS 2 a b         =[1, 1]
> OBJECT ENCODING long                    ="hashtable"
> COPY long copied                        =1
> RENAME long renamed                     =OK
> HLEN renamed                            =3
+4100
> HGETALL renamed                         ={"c": "3"}
> HGETALL copied                          ={"c": "3"}
> SET s v                                 =OK
> HEXPIRE s 10 FIELDS 1 a                 !WRONGTYPE Operation against a key holding the wrong kind of value
> HPEXPIRE s x FIELDS 1 a                 !WRONGTYPE Operation against a key holding the wrong kind of value
> HEXPIREAT s 10 FIELDS 1 a               !WRONGTYPE Operation against a key holding the wrong kind of value
> HPEXPIREAT s 10 FIELDS 1 a              !WRONGTYPE Operation against a key holding the wrong kind of value
> HEXPIRE k x FIELDS 1 a                  !ERR value is not an integer or out of range
> HEXPIRE k -1 FIELDS 1 a                 !ERR invalid expire time, must be >= 0
> HEXPIRE k 9223372036854775807 FIELDS 1 a  !ERR invalid expire time in 'hexpire' command
> HPEXPIRE k 70368744177664 FIELDS 1 a    !ERR invalid expire time in 'hpexpire' command
> HEXPIREAT k 70368744178 FIELDS 1 a      !ERR invalid expire time in 'hexpireat' command
> HPEXPIREAT k 70368744177663 FIELDS 1 a  =[1]
> HPEXPIREAT k 70368744177664 FIELDS 1 a  !ERR invalid expire time in 'hpexpireat' command
> HEXPIRE k 10 FIELD 1 a                  !ERR Mandatory argument FIELDS is missing or not at the right position
> HEXPIRE k 10 NX XX FIELDS 1 a           !ERR Mandatory argument FIELDS is missing or not at the right position
> HEXPIRE k 10 FIELDS 0 a                 !ERR Parameter `numFields` should be greater than 0
> HEXPIRE k 10 FIELDS x a                 !ERR Parameter `numFields` should be greater than 0
> HEXPIRE k 10 FIELDS 2 a                 !ERR The `numfields` parameter must match the number of arguments
> HEXPIRE k 10 FIELDS 1 a b               !ERR The `numfields` parameter must match the number of arguments
> HEXPIRE k 10 FIELDS 1                   !ERR wrong number of arguments for 'hexpire' command
> HPEXPIRE k 10 FIELDS                    !ERR wrong number of arguments for 'hpexpire' command
