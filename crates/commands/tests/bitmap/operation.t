> MSET a "\xff\x0f\xaa" b "\x0f\xff" c "\x01"  =OK
> BITOP AND d a b                         =3
> GET d                                   ="\x0f\x0f\x00"
> BITOP OR d a b                          =3
> GET d                                   ="\xff\xff\xaa"
> BITOP XOR d a b                         =3
> GET d                                   ="\xf0\xf0\xaa"
> BITOP XOR d a b c                       =3
> GET d                                   ="\xf1\xf0\xaa"
> BITOP NOT d a                           =3
> GET d                                   ="\x00\xf0U"
> BITOP and d a                           =3
> GET d                                   ="\xff\x0f\xaa"
> BITOP or d a missing                    =3
> GET d                                   ="\xff\x0f\xaa"
> BITOP AND d a missing                   =3
> GET d                                   ="\x00\x00\x00"
> BITOP AND d a b c                       =3
> GET d                                   ="\x01\x00\x00"
> BITOP NOT a a                           =3
> GET a                                   ="\x00\xf0U"
> BITOP XOR a a a                         =3
> GET a                                   ="\x00\x00\x00"
> BITOP OR d missing missing2             =0
> EXISTS d                                =0
> SET empty ""                            =OK
> SET d v                                 =OK
> BITOP AND d empty missing               =0
> EXISTS d                                =0
> SET e v EX 100                          =OK
> BITOP OR e b                            =2
> TTL e                                   =-1
> RPUSH l x                               =1
> BITOP OR l b                            =2
> TYPE l                                  =string
> RPUSH l2 x                              =1
> BITOP OR d b l2                         !WRONGTYPE Operation against a key holding the wrong kind of value
> BITOP NOT d b c                         !ERR BITOP NOT must be called with a single source key.
> BITOP FOO d b                           !ERR syntax error
> BITOP NOT d                             !ERR wrong number of arguments for 'bitop' command
> BITOP AND d                             !ERR wrong number of arguments for 'bitop' command
> BITOP                                   !ERR wrong number of arguments for 'bitop' command
> SETBIT big 300000 1                     =0
> BITOP OR d big b                        =37501
> BITPOS d 1 2                            =300000
> BITOP XOR d d big                       =37501
> BITCOUNT d                              =12
> SETRANGE big2 90000 "\x05"              =90001
> BITOP NOT d big2                        =90001
> BITCOUNT d                              =720006
> BITOP AND d d big2 big                  =90001
> STRLEN d                                =90001
> BITCOUNT d                              =0
> SET n1 12                               =OK
> SET n2 3                                =OK
> BITOP OR d n1 n2                        =2
> GET d                                   ="32"

since: 8.2 redis.io/docs/latest/commands/bitop
> MSET a "\xff\x0f\xaa" b "\x0f\xff" c "\x01"  =OK
> BITOP DIFF d a b                        =3
> GET d                                   ="\xf0\x00\xaa"
> BITOP DIFF d a b c                      =3
> GET d                                   ="\xf0\x00\xaa"
> BITOP DIFF d c a                        =3
> GET d                                   ="\x00\x00\x00"
> BITOP DIFF1 d a b c                     =3
> GET d                                   ="\x00\xf0\x00"
> BITOP DIFF1 d c a b                     =3
> GET d                                   ="\xfe\xff\xaa"
> BITOP ANDOR d a b c                     =3
> GET d                                   ="\x0f\x0f\x00"
> BITOP ANDOR d c a b                     =3
> GET d                                   ="\x01\x00\x00"
> BITOP ONE d a b c                       =3
> GET d                                   ="\xf0\xf0\xaa"
> BITOP ONE d a                           =3
> GET d                                   ="\xff\x0f\xaa"
> BITOP ONE d a a a                       =3
> GET d                                   ="\x00\x00\x00"
> BITOP DIFF d a missing                  =3
> GET d                                   ="\xff\x0f\xaa"
> BITOP DIFF d missing a                  =3
> GET d                                   ="\x00\x00\x00"
> BITOP one d missing missing2            =0
> EXISTS d                                =0
> BITOP diff d a                          !ERR BITOP DIFF must be called with at least two source keys.
> BITOP DIFF1 d a                         !ERR BITOP DIFF1 must be called with at least two source keys.
> BITOP ANDOR d a                         !ERR BITOP ANDOR must be called with at least two source keys.

