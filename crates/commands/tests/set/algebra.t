> SADD a 1 2 3 4 five                     =5
> SADD b 3 4 five 6                       =4
> SADD c 4 five x                         =3
> SADD i 1 2 3                            =3
> SADD j 2 3 4                            =3
> SINTER a b c                            =~["4", "five"]
> SINTER a                                =~["1", "2", "3", "4", "five"]
> SINTER a missing                        =~[]
> SINTER missing                          =~[]
> SINTER a a                              =~["1", "2", "3", "4", "five"]
> SINTER i j                              =~["2", "3"]
> SUNION a b c                            =~["1", "2", "3", "4", "five", "6", "x"]
> SUNION missing a missing                =~["1", "2", "3", "4", "five"]
> SUNION missing missing                  =~[]
> SDIFF a b c                             =~["1", "2"]
> SDIFF a missing                         =~["1", "2", "3", "4", "five"]
> SDIFF missing a                         =~[]
> SDIFF a a                               =~[]
> SDIFF i j                               =~["1"]
> SINTERSTORE to a b c                    =2
> SMEMBERS to                             =~["4", "five"]
> SUNIONSTORE to i j                      =4
> SMEMBERS to                             =~["1", "2", "3", "4"]
> OBJECT ENCODING to                      ="intset"
> SDIFFSTORE to a b                       =2
> SMEMBERS to                             =~["1", "2"]
> EXPIRE to 100                           =1
> SUNIONSTORE to to i                     =3
> TTL to                                  =-1
> SINTERSTORE to to j                     =2
> SDIFFSTORE to to to                     =0
> EXISTS to                               =0
> SUNIONSTORE to missing                  =0
> SET to text                             =OK
> SINTERSTORE to i missing                =0
> EXISTS to                               =0
> SET to text                             =OK
> SUNIONSTORE to a i                      =5
> TYPE to                                 =set
> SINTERCARD 1 a                          =5
> SINTERCARD 3 a b c                      =2
> SINTERCARD 2 a b LIMIT 2                =2
> SINTERCARD 2 a b LIMIT 0                =3
> sintercard 2 a b limit 100              =3
> SINTERCARD 2 a b LIMIT 1 LIMIT 2        =2
> SINTERCARD 2 a missing                  =0
> SINTERCARD 0 a                          !ERR numkeys should be greater than 0
> SINTERCARD -1 a                         !ERR numkeys should be greater than 0
> SINTERCARD x a                          !ERR numkeys should be greater than 0
> SINTERCARD 2 a                          !ERR Number of keys can't be greater than number of args
> SINTERCARD 9223372036854775807 a        !ERR Number of keys can't be greater than number of args
> SINTERCARD 1 a b                        !ERR syntax error
> SINTERCARD 1 a LIMIT                    !ERR syntax error
> SINTERCARD 1 a LIMIT -1                 !ERR LIMIT can't be negative
> SINTERCARD 1 a LIMIT x                  !ERR LIMIT can't be negative
> SET t v                                 =OK
> SINTER a t                              !WRONGTYPE Operation against a key holding the wrong kind of value
> SINTER missing t                        !WRONGTYPE Operation against a key holding the wrong kind of value
> SUNION a t                              !WRONGTYPE Operation against a key holding the wrong kind of value
> SDIFF a t                               !WRONGTYPE Operation against a key holding the wrong kind of value
> SDIFF missing t                         !WRONGTYPE Operation against a key holding the wrong kind of value
> SINTERCARD 2 a t                        !WRONGTYPE Operation against a key holding the wrong kind of value
> SINTERSTORE to a t                      !WRONGTYPE Operation against a key holding the wrong kind of value
> SUNIONSTORE to a t                      !WRONGTYPE Operation against a key holding the wrong kind of value
> SDIFFSTORE to a t                       !WRONGTYPE Operation against a key holding the wrong kind of value
> SCARD to                                =5
> SINTER                                  !ERR wrong number of arguments for 'sinter' command
> SUNION                                  !ERR wrong number of arguments for 'sunion' command
> SDIFF                                   !ERR wrong number of arguments for 'sdiff' command
> SINTERSTORE to                          !ERR wrong number of arguments for 'sinterstore' command
> SUNIONSTORE to                          !ERR wrong number of arguments for 'sunionstore' command
> SDIFFSTORE to                           !ERR wrong number of arguments for 'sdiffstore' command
> SINTERCARD 1                            !ERR wrong number of arguments for 'sintercard' command
