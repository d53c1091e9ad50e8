# GET
> GET k                                   =nil
> SET k v                                 =OK
> GET k                                   ="v"
> SET k 12                                =OK
> GET k                                   ="12"
> SET k -9223372036854775808              =OK
> GET k                                   ="-9223372036854775808"
> SET k 007                               =OK
> GET k                                   ="007"
> RPUSH l a                               =1
> GET l                                   !WRONGTYPE Operation against a key holding the wrong kind of value
> GET                                     !ERR wrong number of arguments for 'get' command
> GET k l                                 !ERR wrong number of arguments for 'get' command

# GETDEL
> GETDEL k                                ="007"
> GETDEL k                                =nil
> GETDEL l                                !WRONGTYPE Operation against a key holding the wrong kind of value
> EXISTS l                                =1
> GETDEL                                  !ERR wrong number of arguments for 'getdel' command

# GETEX
> GETEX k                                 =nil
> SET k v                                 =OK
> GETEX k                                 ="v"
> TTL k                                   =-1
> GETEX k EX 100                          ="v"
> TTL k                                   =40..100
> GETEX k                                 ="v"
> TTL k                                   =40..100
> GETEX k PERSIST                         ="v"
> TTL k                                   =-1
> GETEX k PERSIST                         ="v"
> GETEX k PX 100000                       ="v"
> PTTL k                                  =40000..100000
> GETEX k EXAT 33177117420                ="v"
> EXPIRETIME k                            =33177117420
> GETEX k PXAT 33177117420123             ="v"
> PEXPIRETIME k                           =33177117420123
> getex k ex 10                           ="v"
> GETEX k EX 10 EX 20                     ="v"
> GETEX k PERSIST PERSIST                 ="v"
> GETEX missing EX 100                    =nil
> EXISTS missing                          =0
> GETEX missing EX 0                      =nil
> GETEX missing EX abc                    =nil
> GETEX l                                 !WRONGTYPE Operation against a key holding the wrong kind of value
> GETEX l EX 100                          !WRONGTYPE Operation against a key holding the wrong kind of value
> GETEX l EX 0                            !WRONGTYPE Operation against a key holding the wrong kind of value
> GETEX k EX                              !ERR syntax error
> GETEX k EX 0                            !ERR invalid expire time in 'getex' command
> GETEX k EX -1                           !ERR invalid expire time in 'getex' command
> GETEX k EX abc                          !ERR value is not an integer or out of range
> GETEX k PX 0                            !ERR invalid expire time in 'getex' command
> GETEX k PX 9223372036854775807          !ERR invalid expire time in 'getex' command
> GETEX k EX 9223372036854775807          !ERR invalid expire time in 'getex' command
> GETEX k EXAT 0                          !ERR invalid expire time in 'getex' command
> GETEX k EX 10 PX 10                     !ERR syntax error
> GETEX k EX 10 PERSIST                   !ERR syntax error
> GETEX k PERSIST EX 10                   !ERR syntax error
> GETEX k KEEPTTL                         !ERR syntax error
> GETEX k NX                              !ERR syntax error
> GETEX k GET                             !ERR syntax error
> GETEX k FOO                             !ERR syntax error
> GETEX                                   !ERR wrong number of arguments for 'getex' command
> GETEX k EXAT 1                          ="v"
> EXISTS k                                =0
> SET k v                                 =OK
> GETEX k PXAT 1                          ="v"
> GET k                                   =nil
