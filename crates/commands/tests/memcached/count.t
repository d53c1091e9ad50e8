# numbers without a sign; an item stays as long as it was
since: 1000.0 memcached 1.6.18
> MC.SET n 5 0 10                         =STORED
> MC.DECR n 1                             ="9"
> MC.GET n                                =["VALUE n 5 2", "9 "]
> MC.INCR n 1                             ="10"
> MC.GET n                                =["VALUE n 5 2", "10"]
> MC.DECR n 100                           ="0"
> MC.GET n                                =["VALUE n 5 2", "0 "]
> MC.INCR n 99                            ="99"
> MC.INCR n 1                             ="100"
> MC.GET n                                =["VALUE n 5 3", "100"]
> MC.SET n 0 0 18446744073709551615       =STORED
> MC.INCR n 1                             ="0"
> MC.INCR n 18446744073709551616          !CLIENT_ERROR invalid numeric delta argument
> MC.INCR n -1                            !CLIENT_ERROR invalid numeric delta argument
> MC.INCR n -0                            ="0"
> MC.INCR n 5x                            !CLIENT_ERROR invalid numeric delta argument
> MC.SET n 0 0 " 12"                      =STORED
> MC.INCR n 1                             ="13"
> MC.GET n                                =["VALUE n 0 3", "13 "]
> MC.SET n 0 0 "12 ab"                    =STORED
> MC.INCR n 1                             ="13"
> MC.GET n                                =["VALUE n 0 5", "13   "]
> MC.SET n 0 0 12xab                      =STORED
> MC.INCR n 1                             !CLIENT_ERROR cannot increment or decrement non-numeric value
> MC.SET n 0 0 ""                         =STORED
> MC.INCR n 1                             !CLIENT_ERROR cannot increment or decrement non-numeric value
> MC.SET n 0 0 -5                         =STORED
> MC.INCR n 1                             !CLIENT_ERROR cannot increment or decrement non-numeric value
> MC.SET n 0 0 +5                         =STORED
> MC.INCR n 1                             ="6"
> MC.SET n 0 0 100000000000000000000      =STORED
> MC.INCR n 1                             !CLIENT_ERROR cannot increment or decrement non-numeric value
> MC.SET n 0 0 000000000000000000000000000005  =STORED
> MC.INCR n 1                             ="6"
> MC.INCR absent 1                        =NOT_FOUND
> MC.DECR absent 1                        =NOT_FOUND

# by the meta protocol
since: 1000.0 memcached 1.6.18
> MC.MA m                                 ="NF"
> MC.MS m 10                              ="HD"
> MC.MA m                                 ="HD"
> MC.MA m v                               =["VA 2", "12"]
> MC.MA m v D5 t                          =["VA 2 t-1", "17"]
> MC.MA m MD D100 v                       =["VA 1", "0"]
> MC.MA m M- v                            =["VA 1", "0"]
> MC.MA m MX v                            !CLIENT_ERROR invalid mode for ma M token
> MC.MA m2 N0 J13 v                       =["VA 2", "13"]
> MC.MA m2 N0 J13 v                       =["VA 2", "14"]
> MC.MA m2 q                              =nil
> MC.MA m3 q                              ="NF"
> MC.MA m3 k Oa                           ="NF km3 Oa"
> MC.MA m2 D-0 v                          =["VA 2", "15"]
> MC.MA m2 Dx                             !CLIENT_ERROR invalid or duplicate flag
> MC.MA m2 C1                             ="EX"
> MC.MA m2 C0 D0 v                        =["VA 2", "15"]
> MC.MA m2 T30 t v                        =["VA 2 t30", "16"]
> MC.MA m2 E9 c                           ="HD c9"
> MC.MA m2 C9 E10 c                       ="HD c10"
> MC.MA m2 C9                             ="EX"
> MC.MS t ab                              ="HD"
> MC.MA t                                 !CLIENT_ERROR cannot increment or decrement non-numeric value
