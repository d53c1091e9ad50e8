# RENAME
> SET a 1                                 =OK
> RENAME a b                              =OK
> GET b                                   ="1"
> EXISTS a                                =0
> RENAME missing x                        !ERR no such key
> RENAME missing missing                  !ERR no such key
> RENAME b b                              =OK
> RPUSH l x y                             =2
> EXPIRE l 100                            =1
> RENAME l b                              =OK
> TYPE b                                  =list
> LRANGE b 0 -1                           =["x", "y"]
> TTL b                                   =40..100
> SET c v EX 100                          =OK
> SET d w                                 =OK
> RENAME d c                              =OK
> TTL c                                   =-1
> GET c                                   ="w"
> RENAME c                                !ERR wrong number of arguments for 'rename' command
> RENAME c d e                            !ERR wrong number of arguments for 'rename' command

# RENAMENX
> RENAMENX c d                            =1
> RENAMENX d b                            =0
> GET d                                   ="w"
> RENAMENX d d                            =0
> RENAMENX missing d                      !ERR no such key
> RENAMENX missing missing                !ERR no such key
> RENAMENX d                              !ERR wrong number of arguments for 'renamenx' command

# COPY
> SET a sheep                             =OK
> COPY a clone                            =1
> GET clone                               ="sheep"
> COPY a clone                            =0
> COPY b clone                            =0
> COPY b clone REPLACE                    =1
> LRANGE clone 0 -1                       =["x", "y"]
> TTL clone                               =40..100
> RPUSH clone z                           =3
> LRANGE b 0 -1                           =["x", "y"]
> COPY missing clone                      =0
> COPY missing clone REPLACE              =0
> EXISTS clone                            =1
> COPY a a                                !ERR source and destination objects are the same
> COPY a a REPLACE                        !ERR source and destination objects are the same
> COPY missing missing                    !ERR source and destination objects are the same
> COPY a a DB 1                           =1
> SELECT 1                                =OK
> GET a                                   ="sheep"
> SELECT 0                                =OK
> COPY a a DB 1                           =0
> COPY a a DB 1 REPLACE                   =1
> copy a a2 db 1 replace                  =1
> COPY a a DB 0                           !ERR source and destination objects are the same
> COPY a b DB 0 DB 1                      =1
> COPY a b DB                             !ERR syntax error
> COPY a b DB abc                         !ERR value is not an integer or out of range
> COPY a b DB -1                          !ERR DB index is out of range
> COPY a b DB 99999                       !ERR DB index is out of range
> COPY a b DB 99999999999                 !ERR value is out of range, value must between -2147483648 and 2147483647
> COPY a b FOO                            !ERR syntax error
> COPY a                                  !ERR wrong number of arguments for 'copy' command
> COPY n m REPLACE REPLACE                =0

# MOVE
> SET m v EX 100                          =OK
> MOVE m 1                                =1
> EXISTS m                                =0
> SELECT 1                                =OK
> GET m                                   ="v"
> TTL m                                   =40..100
> SELECT 0                                =OK
> SET m again                             =OK
> MOVE m 1                                =0
> GET m                                   ="again"
> MOVE missing 1                          =0
> MOVE m 0                                !ERR source and destination objects are the same
> MOVE missing 0                          !ERR source and destination objects are the same
> MOVE m abc                              !ERR value is not an integer or out of range
> MOVE m -1                               !ERR DB index is out of range
> MOVE m 99999                            !ERR DB index is out of range
> MOVE m 99999999999                      !ERR value is out of range, value must between -2147483648 and 2147483647
> MOVE m                                  !ERR wrong number of arguments for 'move' command
> RPUSH ml a b                            =2
> MOVE ml 1                               =1
> SELECT 1                                =OK
> LRANGE ml 0 -1                          =["a", "b"]
> DBSIZE                                  =5
> SELECT 0                                =OK
