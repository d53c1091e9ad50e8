> SET n 12                                =OK
> SET s short                             =OK
> SET long 012345678901234567890123456789012345678901234  =OK
> SET longer 0123456789012345678901234567890123456789012345  =OK
> SET big 9223372036854775808             =OK
> SET min -9223372036854775808            =OK
> SET zero 007                            =OK
> OBJECT ENCODING n                       ="int"
> OBJECT ENCODING s                       ="embstr"
> OBJECT ENCODING long                    ="raw"
> OBJECT ENCODING longer                  ="raw"
> OBJECT ENCODING big                     ="embstr"
> OBJECT ENCODING min                     ="int"
> OBJECT ENCODING zero                    ="embstr"
> OBJECT ENCODING missing                 =nil
> object encoding n                       ="int"
> RPUSH l a b c                           =3

since: 7.2 redis.io/commands/object-encoding: a small list is a listpack
> OBJECT ENCODING l                       ="listpack"

> OBJECT REFCOUNT s                       =1
> OBJECT REFCOUNT n                       =1
> OBJECT REFCOUNT missing                 =nil
> OBJECT IDLETIME s                       =0..60
> OBJECT IDLETIME missing                 =nil
> OBJECT FREQ s                           !ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.
> OBJECT FREQ missing                     =nil
> OBJECT ENCODING                         !ERR wrong number of arguments for 'object|encoding' command
> OBJECT ENCODING a b                     !ERR wrong number of arguments for 'object|encoding' command
> OBJECT REFCOUNT                         !ERR wrong number of arguments for 'object|refcount' command
> OBJECT IDLETIME                         !ERR wrong number of arguments for 'object|idletime' command
> OBJECT FREQ                             !ERR wrong number of arguments for 'object|freq' command

# Texts that were changed in place
> SET part abc                            =OK
> SETRANGE part 0 x                       =3
> OBJECT ENCODING part                    ="embstr"
> APPEND part y                           =4
> OBJECT ENCODING part                    ="embstr"
> SET part 12                             =OK
> APPEND part 3                           =3
> OBJECT ENCODING part                    ="embstr"
> SET part abc                            =OK
> OBJECT ENCODING part                    ="embstr"

# Sums
> SET sum 1                               =OK
> INCRBYFLOAT sum 1                       ="2"
> OBJECT ENCODING sum                     ="embstr"
> INCRBYFLOAT sum 0.5                     ="2.5"
> OBJECT ENCODING sum                     ="embstr"
> INCRBYFLOAT sum 0.5                     ="3"
> OBJECT ENCODING sum                     ="embstr"
> INCR sum                                =4
> OBJECT ENCODING sum                     ="int"
> INCRBYFLOAT fresh 2                     ="2"
> OBJECT ENCODING fresh                   ="embstr"
> DECRBY fresh 5                          =-3
> OBJECT ENCODING fresh                   ="int"
