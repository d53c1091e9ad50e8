> BITFIELD k SET u8 0 255 GET u8 0        =[0, 255]
> BITFIELD k INCRBY u8 0 1                =[0]
> BITFIELD k GET u4 0 GET i4 4 GET u1 7   =[0, 0, 0]
> BITFIELD k SET u8 #1 200 GET u16 0      =[0, 200]
> STRLEN k                                =2
> BITFIELD k GET i64 0 GET u63 0          =[56294995342131200, 28147497671065600]
> BITFIELD k GET i64 1000000              =[0]
> STRLEN k                                =2
> BITFIELD k                              =[]
> BITFIELD missing                        =[]
> BITFIELD missing GET u8 0               =[0]
> EXISTS missing                          =0
> BITFIELD mykey INCRBY i5 100 1 GET u4 0  =[1, 0]
> STRLEN mykey                            =14
> DEL mykey                               =1
> BITFIELD mykey incrby u2 100 1 OVERFLOW SAT incrby u2 102 1  =[1, 1]
> BITFIELD mykey incrby u2 100 1 OVERFLOW SAT incrby u2 102 1  =[2, 2]
> BITFIELD mykey incrby u2 100 1 OVERFLOW SAT incrby u2 102 1  =[3, 3]
> BITFIELD mykey incrby u2 100 1 OVERFLOW SAT incrby u2 102 1  =[0, 3]
> BITFIELD mykey OVERFLOW FAIL incrby u2 102 1  =[nil]
> BITFIELD s SET i8 0 127 INCRBY i8 0 1   =[0, -128]
> BITFIELD s SET i8 0 -128 INCRBY i8 0 -1  =[-128, 127]
> BITFIELD s OVERFLOW SAT SET i8 0 1000 GET i8 0 SET i8 0 -1000 GET i8 0  =[127, 127, 127, -128]
> BITFIELD low OVERFLOW SAT SET i5 0 -9223372036854775808 GET i5 0  =[0, 15]
> BITFIELD low OVERFLOW SAT SET i5 0 -9223372036854775793 GET i5 0  =[15, 15]
> BITFIELD low OVERFLOW SAT SET i5 0 -9223372036854775792 GET i5 0  =[15, -16]
> BITFIELD low OVERFLOW WRAP SET i5 0 -9223372036854775808 GET i5 0  =[-16, 0]
> BITFIELD low OVERFLOW FAIL SET i5 0 -9223372036854775808  =[nil]
> BITFIELD s OVERFLOW FAIL SET i8 0 1000 GET i8 0 INCRBY i8 0 -1  =[nil, -128, nil]
> BITFIELD s OVERFLOW WRAP SET i8 0 1000 GET i8 0 SET i8 0 -1000 GET i8 0  =[-128, -24, -24, 24]
> BITFIELD u OVERFLOW SAT SET u8 0 -1 GET u8 0  =[0, 255]
> BITFIELD u OVERFLOW FAIL SET u8 0 -1 GET u8 0  =[nil, 255]
> BITFIELD u OVERFLOW WRAP SET u8 0 -2 GET u8 0  =[255, 254]
> BITFIELD u SET u63 0 9223372036854775807 INCRBY u63 0 1  =[9151314442816847872, 0]
> BITFIELD u OVERFLOW SAT INCRBY u63 0 -1  =[0]
> BITFIELD w SET i64 3 9223372036854775807 INCRBY i64 3 1  =[0, -9223372036854775808]
> BITFIELD w OVERFLOW SAT INCRBY i64 3 -1  =[-9223372036854775808]
> BITFIELD w OVERFLOW FAIL INCRBY i64 3 -1  =[nil]
> BITFIELD w OVERFLOW SAT SET i64 3 9223372036854775807 INCRBY i64 3 9223372036854775807  =[-9223372036854775808, 9223372036854775807]
> BITFIELD w SET i64 3 -9223372036854775808 INCRBY i64 3 -9223372036854775808  =[9223372036854775807, 0]
> GET w                                   ="\x00\x00\x00\x00\x00\x00\x00\x00\x00"
> BITFIELD fresh OVERFLOW FAIL INCRBY u4 30 16  =[nil]
> STRLEN fresh                            =5
> BITFIELD one SET i1 3 -1 GET i1 3 SET u1 3 0 INCRBY i1 3 1  =[0, -1, 1, -1]
> SET n 12                                =OK
> BITFIELD n GET u8 0 SET u8 8 51         =[49, 50]
> GET n                                   ="13"
> BITFIELD long SET u8 200000 255 SET i64 32636 -2  =[0, 0]
> BITFIELD long GET u8 200000 GET i64 32636 GET u7 32693  =[255, -2, 126]
> STRLEN long                             =25001
> BITFIELD big SET u8 #536870911 7        =[0]
> BITFIELD big GET u8 4294967288          =[7]
> DEL big                                 =1
> SET e v EX 100                          =OK
> BITFIELD e SET u8 0 1                   =[118]
> TTL e  =40..100
> RPUSH l a                               =1
> BITFIELD l GET u8 0                     !WRONGTYPE Operation against a key holding the wrong kind of value
> BITFIELD l SET u8 0 1                   !WRONGTYPE Operation against a key holding the wrong kind of value
> BITFIELD l                              !WRONGTYPE Operation against a key holding the wrong kind of value
> BITFIELD k GET                          !ERR syntax error
> BITFIELD k GET u8                       !ERR syntax error
> BITFIELD k SET u8 0                     !ERR syntax error
> BITFIELD k FOO u8 0                     !ERR syntax error
> BITFIELD k OVERFLOW                     !ERR syntax error
> BITFIELD k OVERFLOW FOO                 !ERR Invalid OVERFLOW type specified
> BITFIELD k OVERFLOW SAT                 =[]
> BITFIELD k GET u64 0                    !ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.
> BITFIELD k GET i65 0                    !ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.
> BITFIELD k GET u0 0                     !ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.
> BITFIELD k GET x8 0                     !ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.
> BITFIELD k GET U8 0                     !ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.
> BITFIELD k GET u08 0                    !ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.
> BITFIELD k GET u8 -1                    !ERR bit offset is not an integer or out of range
> BITFIELD k GET u8 x                     !ERR bit offset is not an integer or out of range
> BITFIELD k GET u8 4294967296            !ERR bit offset is not an integer or out of range
> BITFIELD k GET u8 #536870912            !ERR bit offset is not an integer or out of range
> BITFIELD k SET u8 0 x                   !ERR value is not an integer or out of range
> BITFIELD k SET u8 0 9223372036854775808  !ERR value is not an integer or out of range
> BITFIELD                                !ERR wrong number of arguments for 'bitfield' command

# BITFIELD_RO
> BITFIELD_RO k GET u8 0 GET u8 #1        =[0, 200]
> BITFIELD_RO k                           =[]
> BITFIELD_RO missing GET u8 0            =[0]
> BITFIELD_RO k SET u8 0 1                !ERR BITFIELD_RO only supports the GET subcommand
> BITFIELD_RO k GET u8 0 INCRBY u8 0 1    !ERR BITFIELD_RO only supports the GET subcommand
> BITFIELD_RO k OVERFLOW SAT GET u8 0     =[0]
> BITFIELD_RO l GET u8 0                  !WRONGTYPE Operation against a key holding the wrong kind of value
> BITFIELD_RO k GET u8                    !ERR syntax error
> BITFIELD_RO                             !ERR wrong number of arguments for 'bitfield_ro' command

