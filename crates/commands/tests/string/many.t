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
