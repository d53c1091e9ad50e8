> DBSIZE                                  =0
> RANDOMKEY                               =nil
> SET a 1                                 =OK
> RANDOMKEY                               ="a"
> DBSIZE                                  =1
> MSET b 2 c 3                            =OK
> RPUSH l x                               =1
> DBSIZE                                  =4
> DBSIZE x                                !ERR wrong number of arguments for 'dbsize' command
> RANDOMKEY x                             !ERR wrong number of arguments for 'randomkey' command
> SELECT 1                                =OK
> DBSIZE                                  =0
> RANDOMKEY                               =nil
> SET other here                          =OK
> SELECT 0                                =OK

# SWAPDB
> SWAPDB 0 1                              =OK
> GET other                               ="here"
> DBSIZE                                  =1
> SELECT 1                                =OK
> DBSIZE                                  =4
> SWAPDB 1 0                              =OK
> GET other                               ="here"
> SWAPDB 1 1                              =OK
> GET other                               ="here"
> SELECT 0                                =OK
> GET a                                   ="1"
> SWAPDB a 1                              !ERR invalid first DB index
> SWAPDB 0 b                              !ERR invalid second DB index
> SWAPDB 0 99999                          !ERR DB index is out of range
> SWAPDB -1 0                             !ERR DB index is out of range
> SWAPDB 99999999999 0                    !ERR invalid first DB index
> SWAPDB 0 99999999999                    !ERR invalid second DB index
> SWAPDB 0                                !ERR wrong number of arguments for 'swapdb' command

# FLUSHDB FLUSHALL
> FLUSHDB                                 =OK
> DBSIZE                                  =0
> EXISTS a                                =0
> SELECT 1                                =OK
> GET other                               ="here"
> SET x 1                                 =OK
> SELECT 0                                =OK
> SET x 1                                 =OK
> FLUSHALL                                =OK
> EXISTS x                                =0
> SELECT 1                                =OK
> EXISTS x                                =0
> SELECT 0                                =OK
> SET x 1                                 =OK
> FLUSHDB ASYNC                           =OK
> EXISTS x                                =0
> SET x 1                                 =OK
> flushdb sync                            =OK
> EXISTS x                                =0
> FLUSHALL ASYNC                          =OK
> FLUSHALL SYNC                           =OK
> FLUSHALL FOO                            !ERR syntax error
> FLUSHDB FOO                             !ERR syntax error
> FLUSHALL ASYNC SYNC                     !ERR syntax error
> FLUSHDB SYNC SYNC                       !ERR syntax error
> SET x 1                                 =OK
> SELECT 1                                =OK
> FLUSHDB                                 =OK
> SELECT 0                                =OK
> GET x                                   ="1"
