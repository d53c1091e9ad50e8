> MSET a 1 b two c ""                     =OK
> MGET a b c                              =["1", "two", ""]
> MGET a missing b a                      =["1", nil, "two", "1"]
> RPUSH l x                               =1
> MGET a l b                              =["1", nil, "two"]
> MGET missing                            =[nil]
> MGET                                    !ERR wrong number of arguments for 'mget' command
> MSET                                    !ERR wrong number of arguments for 'mset' command
> MSET a                                  !ERR wrong number of arguments for 'mset' command
> MSET a 1 b                              !ERR wrong number of arguments for 'mset' command
> MSET a 5 a 6                            =OK
> GET a                                   ="6"
> SET e v EX 100                          =OK
> MSET e w l now-text                     =OK
> TTL e                                   =-1
> GET l                                   ="now-text"
> MSETNX a 1 z 2                          =0
> EXISTS z                                =0
> MSETNX y 1 z 2                          =1
> MGET y z                                =["1", "2"]
> MSETNX n 1 n 2                          =1
> GET n                                   ="2"
> RPUSH l2 x                              =1
> MSETNX l2 v m v                         =0
> EXISTS m                                =0
> MSETNX a                                !ERR wrong number of arguments for 'msetnx' command
> MSETNX a 1 b                            !ERR wrong number of arguments for 'msetnx' command
> mset a 1 b                              !ERR wrong number of arguments for 'mset' command

# MSETEX
since: 8.4 redis.io/commands/msetex
> DEL a b c d                             =*
> MSETEX 2 a 1 b 2                        =1
> MGET a b                                =["1", "2"]
> TTL a                                   =-1
> MSETEX 2 a 3 b 4 EX 100                 =1
> TTL a                                   =40..100
> TTL b                                   =40..100
> MSETEX 2 a 5 c 6 KEEPTTL                =1
> MGET a b c                              =["5", "4", "6"]
> TTL a                                   =40..100
> TTL c                                   =-1
> MSETEX 1 a 7 PX 100000 XX               =1
> PTTL a                                  =40000..100000
> MSETEX 2 a 7 c 8 exat 33177117420       =1
> EXPIRETIME c                            =33177117420
> MSETEX 2 a 7 c 8 PXAT 33177117420001    =1
> PEXPIRETIME a                           =33177117420001
> MSETEX 2 a 9 d 9 XX EX 10               =0
> MSETEX 2 d 9 a 9 NX EX 10               =0
> EXISTS d                                =0
> MSETEX 2 d 9 fresh 9 nx ex 10             =1
> TTL fresh                               =1..10
> MSETEX 2 a 9 d 10 EX 20 XX              =1
> MGET a d                                =["9", "10"]
> MSETEX 1 a 10                           =1
> TTL a                                   =-1
> MSETEX 2 a 11 a 12                      =1
> GET a                                   ="12"
> MSETEX key value EX 10                  !ERR invalid numkeys value
> MSETEX 0 a 1                            !ERR invalid numkeys value
> MSETEX -1 a 1                           !ERR invalid numkeys value
> MSETEX 2147483648 a 1 EX 10             !ERR invalid numkeys value
> MSETEX 2147483647 a 1 EX 10             !ERR wrong number of key-value pairs
> MSETEX 2 a 1 b                          !ERR wrong number of key-value pairs
> MSETEX 1 a 1 b                          !ERR syntax error
> MSETEX 1 a 1 GET                        !ERR syntax error
> MSETEX 1 a 1 IFEQ 12                    !ERR syntax error
> MSETEX 1 a 1 NX XX                      !ERR syntax error
> MSETEX 1 a 1 EX 10 PX 10                !ERR syntax error
> MSETEX 1 a 1 EX 10 EXAT 10              !ERR syntax error
> MSETEX 1 a 1 KEEPTTL EX 10              !ERR syntax error
> MSETEX 1 a 1 EX                         !ERR syntax error
> MSETEX 1 a 1 EX x                       !ERR value is not an integer or out of range
> MSETEX 1 a 1 EX 0                       !ERR invalid expire time in 'msetex' command
> MSETEX 1 a 1 PX -5                      !ERR invalid expire time in 'msetex' command
> MSETEX 1 a                              !ERR wrong number of arguments for 'msetex' command
> HSET h f v                              =1
> MSETEX 2 h x a y XX                     =1
> GET h                                   ="x"
> GET a                                   ="y"
