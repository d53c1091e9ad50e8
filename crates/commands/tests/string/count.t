> INCR n                                  =1
> INCR n                                  =2
> GET n                                   ="2"
> INCRBY n 40                             =42
> DECR n                                  =41
> DECRBY n 50                             =-9
> GET n                                   ="-9"
> DECR fresh                              =-1
> DECRBY fresh2 5                         =-5
> INCRBY fresh3 -5                        =-5
> INCRBY n 0                              =-9
> SET n 10 EX 100                         =OK
> INCR n                                  =11
> TTL n                                   =40..100
> SET n 9223372036854775806               =OK
> INCR n                                  =9223372036854775807
> INCR n                                  !ERR increment or decrement would overflow
> GET n                                   ="9223372036854775807"
> INCRBY n 1                              !ERR increment or decrement would overflow
> DECRBY n -1                             !ERR increment or decrement would overflow
> SET n -9223372036854775807              =OK
> DECR n                                  =-9223372036854775808
> DECR n                                  !ERR increment or decrement would overflow
> DECRBY n 1                              !ERR increment or decrement would overflow
> INCRBY n -1                             !ERR increment or decrement would overflow
> SET n 5                                 =OK
> DECRBY n -9223372036854775808           !ERR decrement would overflow
> DECRBY n 9223372036854775807            =-9223372036854775802
> INCRBY n -9223372036854775808           !ERR increment or decrement would overflow
> INCRBY n abc                            !ERR value is not an integer or out of range
> INCRBY n 1.5                            !ERR value is not an integer or out of range
> INCRBY n 9223372036854775808            !ERR value is not an integer or out of range
> INCRBY n " 1"                           !ERR value is not an integer or out of range
> INCRBY n +1                             !ERR value is not an integer or out of range
> INCRBY n 01                             !ERR value is not an integer or out of range
> INCRBY n ""                             !ERR value is not an integer or out of range
> SET n abc                               =OK
> INCR n                                  !ERR value is not an integer or out of range
> SET n "1 "                              =OK
> INCR n                                  !ERR value is not an integer or out of range
> SET n 1.5                               =OK
> INCR n                                  !ERR value is not an integer or out of range
> SET n ""                                =OK
> INCR n                                  !ERR value is not an integer or out of range
> SET n 01                                =OK
> INCR n                                  !ERR value is not an integer or out of range
> SET n 9223372036854775808               =OK
> INCR n                                  !ERR value is not an integer or out of range
> RPUSH l a                               =1
> INCR l                                  !WRONGTYPE Operation against a key holding the wrong kind of value
> DECR l                                  !WRONGTYPE Operation against a key holding the wrong kind of value
> INCRBY l 1                              !WRONGTYPE Operation against a key holding the wrong kind of value
> DECRBY l 1                              !WRONGTYPE Operation against a key holding the wrong kind of value
> INCRBY l abc                            !ERR value is not an integer or out of range
> DEL n                                   =1
> APPEND n 1                              =1
> APPEND n 2                              =2
> INCR n                                  =13
> GET n                                   ="13"
> SETRANGE n 0 9                          =2
> INCR n                                  =94
> INCR                                    !ERR wrong number of arguments for 'incr' command
> INCR n 1                                !ERR wrong number of arguments for 'incr' command
> DECR                                    !ERR wrong number of arguments for 'decr' command
> INCRBY n                                !ERR wrong number of arguments for 'incrby' command
> DECRBY n                                !ERR wrong number of arguments for 'decrby' command
> DECRBY n x                              !ERR value is not an integer or out of range

# INCRBYFLOAT: the page's examples first
> SET f 10.50                             =OK
> INCRBYFLOAT f 0.1                       ="10.6"
> INCRBYFLOAT f -5                        ="5.6"
> SET f 5.0e3                             =OK
> INCRBYFLOAT f 2.0e2                     ="5200"
> GET f                                   ="5200"
> SET f 0.1                               =OK
> INCRBYFLOAT f 0.2                       ="0.3"
> INCRBYFLOAT f 0.0000001                 ="0.3000001"
> SET f 3                                 =OK
> INCRBYFLOAT f 1                         ="4"
> INCR f                                  =5
> INCRBYFLOAT fresh4 1.5                  ="1.5"
> INCRBYFLOAT fresh5 -1.5                 ="-1.5"
> INCRBYFLOAT fresh5 1.5                  ="0"
> SET f 1                                 =OK
> INCRBYFLOAT f 1e3                       ="1001"
> INCRBYFLOAT f .5                        ="1001.5"
> INCRBYFLOAT f 5.                        ="1006.5"
> INCRBYFLOAT f +1                        ="1007.5"
> INCRBYFLOAT f -0                        ="1007.5"
> SET f -0                                =OK
> INCRBYFLOAT f 0                         ="0"
> SET f 1 EX 100                          =OK
> INCRBYFLOAT f 1                         ="2"
> TTL f                                   =40..100
> SET exact 1234567.1                     =OK
> INCRBYFLOAT exact 0.1                   ="1234567.2"
> SET exact 1e22                          =OK
> INCRBYFLOAT exact 0.1                   ="10000000000000000000000.1"
> SET digits 0.1234567890123456789        =OK
> INCRBYFLOAT digits 0                    ="0.12345678901234568"
> INCRBYFLOAT f abc                       !ERR value is not a valid float
> INCRBYFLOAT hex 0x10                    ="16"
> SET hex 0x10                            =OK
> INCRBYFLOAT hex 1                       ="17"
> INCRBYFLOAT f 0x                        !ERR value is not a valid float
> INCRBYFLOAT f ""                        !ERR value is not a valid float
> INCRBYFLOAT f nan                       !ERR value is not a valid float
> INCRBYFLOAT f inf                       !ERR increment would produce NaN or Infinity
> INCRBYFLOAT f -inf                      !ERR increment would produce NaN or Infinity
> INCRBYFLOAT f " 1"                      !ERR value is not a valid float
> INCRBYFLOAT f "1 "                      !ERR value is not a valid float
> INCRBYFLOAT f 1.2.3                     !ERR value is not a valid float
> INCRBYFLOAT f 1e5000                    !ERR value is not a valid float
> INCRBYFLOAT f 1e-5000                   !ERR value is not a valid float
> GET f                                   ="2"
> SET f abc                               =OK
> INCRBYFLOAT f 1                         !ERR value is not a valid float
> SET f " 1"                              =OK
> INCRBYFLOAT f 1                         !ERR value is not a valid float
> SET f ""                                =OK
> INCRBYFLOAT f 1                         !ERR value is not a valid float
> INCRBYFLOAT l 1                         !WRONGTYPE Operation against a key holding the wrong kind of value
> INCRBYFLOAT l abc                       !WRONGTYPE Operation against a key holding the wrong kind of value
> INCRBYFLOAT f                           !ERR wrong number of arguments for 'incrbyfloat' command
> INCRBYFLOAT f 1 2                       !ERR wrong number of arguments for 'incrbyfloat' command
