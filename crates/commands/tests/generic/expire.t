> SET k v                                 =OK
> EXPIRE k 100                            =1
> TTL k                                   =40..100
> PEXPIRE k 200000                        =1
> TTL k                                   =140..200
> EXPIREAT k 33177117420                  =1
> EXPIRETIME k                            =33177117420
> PEXPIREAT k 33177117420123              =1
> PEXPIRETIME k                           =33177117420123
> EXPIRE missing 100                      =0
> PEXPIRE missing 100                     =0
> EXPIREAT missing 33177117420            =0
> PEXPIREAT missing 33177117420123        =0

# NX XX GT LT
> EXPIREAT k 33177117421 NX               =0
> PERSIST k                               =1
> EXPIREAT k 33177117421 XX               =0
> EXPIREAT k 33177117421 GT               =0
> TTL k                                   =-1
> EXPIREAT k 33177117421 NX               =1
> EXPIREAT k 33177117420 GT               =0
> EXPIREAT k 33177117421 GT               =0
> EXPIREAT k 33177117422 GT               =1
> EXPIREAT k 33177117423 LT               =0
> EXPIREAT k 33177117422 LT               =0
> EXPIREAT k 33177117421 LT               =1
> EXPIREAT k 33177117430 xx gt            =1
> EXPIREAT k 33177117431 XX LT            =0
> EXPIREAT k 33177117429 XX LT            =1
> EXPIRETIME k                            =33177117429
> PERSIST k                               =1
> EXPIREAT k 33177117421 LT               =1
> PERSIST k                               =1
> EXPIREAT k 33177117421 XX LT            =0
> EXPIREAT k 33177117421 NX NX            =1
> PEXPIREAT k 33177117420123 LT           =1
> PEXPIRE k 100000 GT                     =0
> PEXPIRE k 100000 LT                     =1
> EXPIRE k 200 GT                         =1
> TTL k                                   =140..200
> EXPIRE missing 100 NX                   =0
> EXPIRE k 100 NX XX                      !ERR NX and XX, GT or LT options at the same time are not compatible
> EXPIRE k 100 NX GT                      !ERR NX and XX, GT or LT options at the same time are not compatible
> EXPIRE k 100 NX LT                      !ERR NX and XX, GT or LT options at the same time are not compatible
> EXPIRE k 100 GT LT                      !ERR GT and LT options at the same time are not compatible
> EXPIRE k 100 XX GT LT                   !ERR GT and LT options at the same time are not compatible
> EXPIRE k 100 FOO                        !ERR Unsupported option FOO
> EXPIRE k 100 "a\x00b"                   !ERR Unsupported option a
> EXPIRE k 100 NX foo                     !ERR Unsupported option foo
> EXPIRE missing abc FOO                  !ERR Unsupported option FOO
> EXPIRE missing abc                      !ERR value is not an integer or out of range

# A time that has passed removes the key.
> EXPIRE k 0                              =1
> EXISTS k                                =0
> SET k v                                 =OK
> EXPIRE k -1                             =1
> EXISTS k                                =0
> SET k v                                 =OK
> PEXPIRE k -100000                       =1
> EXISTS k                                =0
> SET k v                                 =OK
> EXPIREAT k 1                            =1
> EXISTS k                                =0
> RPUSH k a                               =1
> PEXPIREAT k 1                           =1
> EXISTS k                                =0
> SET k v                                 =OK
> EXPIREAT k 0                            =1
> EXISTS k                                =0
> SET k v                                 =OK
> EXPIRE k -1 GT                          =0
> EXISTS k                                =1
> EXPIRE k -1 LT                          =1
> EXISTS k                                =0

# Beyond all times
> SET k v                                 =OK
> EXPIRE k abc                            !ERR value is not an integer or out of range
> EXPIRE k 1.5                            !ERR value is not an integer or out of range
> EXPIRE k 9223372036854775807            !ERR invalid expire time in 'expire' command
> EXPIRE k 9223372036854775               !ERR invalid expire time in 'expire' command
> EXPIRE k 9223372036854776               !ERR invalid expire time in 'expire' command
> EXPIRE k -9223372036854776              !ERR invalid expire time in 'expire' command
> PEXPIRE k 9223372036854775807           !ERR invalid expire time in 'pexpire' command
> EXPIREAT k 9223372036854776             !ERR invalid expire time in 'expireat' command
> EXPIREAT k 9223372036854775             =1
> EXPIRETIME k                            =9223372036854775
> PEXPIREAT k 9223372036854775807         =1
> PEXPIRETIME k                           =9223372036854775807
> PTTL k                                  =*
> EXPIRE missing 9223372036854775807      !ERR invalid expire time in 'expire' command
> EXPIRE k 99999999999999999999           !ERR value is not an integer or out of range
> EXPIRE k                                !ERR wrong number of arguments for 'expire' command
> PEXPIRE k                               !ERR wrong number of arguments for 'pexpire' command
> EXPIREAT k                              !ERR wrong number of arguments for 'expireat' command
> PEXPIREAT k                             !ERR wrong number of arguments for 'pexpireat' command
> SET k v                                 =OK
> PEXPIRE k 1000                          =1
> GET k                                   ="v"
+1100
> GET k                                   =nil
> TTL k                                   =-2
> EXPIRE k 100                            =0
