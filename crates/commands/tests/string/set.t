# SET and its options
> SET k v                                 =OK
> GET k                                   ="v"
> SET k w                                 =OK
> GET k                                   ="w"
> TTL k                                   =-1
> SET k v EX 100                          =OK
> TTL k                                   =40..100
> SET k v2 KEEPTTL                        =OK
> TTL k                                   =40..100
> SET k v3                                =OK
> TTL k                                   =-1
> SET k v PX 100000                       =OK
> PTTL k                                  =40000..100000
> SET k v EXAT 33177117420                =OK
> EXPIRETIME k                            =33177117420
> SET k v PXAT 33177117420123             =OK
> PEXPIRETIME k                           =33177117420123
> set k v ex 10                           =OK
> SET k v EX 10 EX 20                     =OK
> TTL k                                   =1..20
> SET fresh v KEEPTTL                     =OK
> TTL fresh                               =-1
> SET k "a b\x00\r\n\xff"                 =OK
> GET k                                   ="a b\x00\r\n\xff"
> SET k ""                                =OK
> GET k                                   =""
> STRLEN k                                =0

# conditions
> SET k v NX                              =nil
> SET k new XX                            =OK
> GET k                                   ="new"
> SET none v XX                           =nil
> EXISTS none                             =0
> SET none v NX                           =OK
> GET none                                ="v"
> SET k v NX NX                           =nil
> SET k v nx xx                           !ERR syntax error
> SET k v XX NX                           !ERR syntax error

# GET
> SET k two GET                           ="new"
> GET k                                   ="two"
> SET absent v GET                        =nil
> GET absent                              ="v"
> SET k three XX GET                      ="two"
> SET gone v XX GET                       =nil
> EXISTS gone                             =0
> SET k four NX GET                       ="three"
> GET k                                   ="three"
> SET unborn v NX GET                     =nil
> GET unborn                              ="v"
> SET k v GET EX 100                      ="three"
> TTL k                                   =40..100
> RPUSH l a                               =1
> SET l v GET                             !WRONGTYPE Operation against a key holding the wrong kind of value
> TYPE l                                  =list
> SET l v NX GET                          !WRONGTYPE Operation against a key holding the wrong kind of value
> SET l v                                 =OK
> TYPE l                                  =string

# a deadline that has passed leaves nothing
> SET k v                                 =OK
> SET k w EXAT 1                          =OK
> GET k                                   =nil
> EXISTS k                                =0
> SET k w PXAT 1                          =OK
> EXISTS k                                =0
> SET k v PX 1000                         =OK
> GET k                                   ="v"
+1100
> GET k                                   =nil
> SET k v NX                              =OK
> GET k                                   ="v"
> SET k v PX 1000                         =OK
+1100
> SET k w KEEPTTL                         =OK
> TTL k                                   =-1

# errors
> SET k                                   !ERR wrong number of arguments for 'set' command
> SET k v FOO                             !ERR syntax error
> SET k v EX                              !ERR syntax error
> SET k v EX abc                          !ERR value is not an integer or out of range
> SET k v EX 1.5                          !ERR value is not an integer or out of range
> SET k v EX 0                            !ERR invalid expire time in 'set' command
> SET k v EX -1                           !ERR invalid expire time in 'set' command
> SET k v PX 0                            !ERR invalid expire time in 'set' command
> SET k v PX -5                           !ERR invalid expire time in 'set' command
> SET k v EXAT 0                          !ERR invalid expire time in 'set' command
> SET k v PXAT -1                         !ERR invalid expire time in 'set' command
> SET k v EX 9223372036854775807          !ERR invalid expire time in 'set' command
> SET k v PX 9223372036854775807          !ERR invalid expire time in 'set' command
> SET k v EX 9223372036854776             !ERR invalid expire time in 'set' command
> SET k v EXAT 9223372036854776           !ERR invalid expire time in 'set' command
> SET k v EXAT 9223372036854775           =OK
> SET k v EX 99999999999999999999         !ERR value is not an integer or out of range
> SET k v EX 10 PX 10                     !ERR syntax error
> SET k v EX 10 KEEPTTL                   !ERR syntax error
> SET k v KEEPTTL EX 10                   !ERR syntax error
> SET k v KEEPTTL KEEPTTL                 =OK
> SET k v PERSIST                         !ERR syntax error
> SET k v EX 10 NX GET FOO                !ERR syntax error

# SETNX
> DEL k                                   =1
> SETNX k v                               =1
> SETNX k w                               =0
> GET k                                   ="v"
> SETNX l2 v                              =1
> RPUSH l3 a                              =1
> SETNX l3 v                              =0
> SETNX k                                 !ERR wrong number of arguments for 'setnx' command
> SETNX k v w                             !ERR wrong number of arguments for 'setnx' command

# SETEX PSETEX
> SETEX k 100 v                           =OK
> TTL k                                   =40..100
> GET k                                   ="v"
> PSETEX k 100000 w                       =OK
> PTTL k                                  =40000..100000
> GET k                                   ="w"
> SETEX l3 100 v                          =OK
> TYPE l3                                 =string
> SETEX k 0 v                             !ERR invalid expire time in 'setex' command
> SETEX k -1 v                            !ERR invalid expire time in 'setex' command
> SETEX k abc v                           !ERR value is not an integer or out of range
> SETEX k 9223372036854775807 v           !ERR invalid expire time in 'setex' command
> PSETEX k 0 v                            !ERR invalid expire time in 'psetex' command
> PSETEX k -10 v                          !ERR invalid expire time in 'psetex' command
> PSETEX k 9223372036854775807 v          !ERR invalid expire time in 'psetex' command
> psetex k 0 v                            !ERR invalid expire time in 'psetex' command
> SETEX k 100                             !ERR wrong number of arguments for 'setex' command
> PSETEX k 100 v w                        !ERR wrong number of arguments for 'psetex' command

# GETSET
> SET k v EX 100                          =OK
> GETSET k w                              ="v"
> TTL k                                   =-1
> GETSET missing v                        =nil
> GET missing                             ="v"
> RPUSH l4 a                              =1
> GETSET l4 v                             !WRONGTYPE Operation against a key holding the wrong kind of value
> GETSET k                                !ERR wrong number of arguments for 'getset' command
