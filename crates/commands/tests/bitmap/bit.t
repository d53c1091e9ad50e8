# SETBIT
> SETBIT k 7 1                            =0
> SETBIT k 7 0                            =1
> GET k                                   ="\x00"
> SETBIT k 1 1                            =0
> SETBIT k 1 1                            =1
> GET k                                   ="@"
> SETBIT k 20 1                           =0
> GET k                                   ="@\x00\x08"
> STRLEN k                                =3
> SETBIT k 40 0                           =0
> STRLEN k                                =6
> SETBIT n 0 0                            =0
> EXISTS n                                =1
> STRLEN n                                =1
> SET i 12                                =OK
> SETBIT i 3 0                            =1
> GET i                                   ="!2"
> INCR i                                  !ERR value is not an integer or out of range
> SET e v EX 100                          =OK
> SETBIT e 0 1                            =0
> TTL e  =40..100
> SETBIT big 1000000 1                    =0
> STRLEN big                              =125001
> GETBIT big 1000000                      =1
> GETBIT big 999999                       =0
> GETBIT big 1000001                      =0
> SETBIT big 1000000 0                    =1
> SETBIT big 0 1                          =0
> GETBIT big 0                            =1
> SETBIT huge 4294967295 1                =0
> STRLEN huge                             =536870912
> GETBIT huge 4294967295                  =1
> GETRANGE huge 536870910 -1              ="\x00\x01"
> DEL huge                                =1
> SETBIT k 4294967296 1                   !ERR bit offset is not an integer or out of range
> SETBIT k -1 1                           !ERR bit offset is not an integer or out of range
> SETBIT k x 1                            !ERR bit offset is not an integer or out of range
> SETBIT k 1 2                            !ERR bit is not an integer or out of range
> SETBIT k 1 x                            !ERR bit is not an integer or out of range
> SETBIT k 1 -1                           !ERR bit is not an integer or out of range
> SETBIT k #1 1                           !ERR bit offset is not an integer or out of range
> SETBIT k 01 1                           !ERR bit offset is not an integer or out of range
> RPUSH l a                               =1
> SETBIT l 0 1                            !WRONGTYPE Operation against a key holding the wrong kind of value
> SETBIT l x 1                            !ERR bit offset is not an integer or out of range
> SETBIT l 0 x                            !ERR bit is not an integer or out of range
> SETBIT k 1                              !ERR wrong number of arguments for 'setbit' command
> SETBIT k 1 1 1                          !ERR wrong number of arguments for 'setbit' command

# GETBIT
> SET t foobar                            =OK
> GETBIT t 0                              =0
> GETBIT t 1                              =1
> GETBIT t 2                              =1
> GETBIT t 47                             =0
> GETBIT t 48                             =0
> GETBIT t 4294967295                     =0
> GETBIT t 4294967296                     !ERR bit offset is not an integer or out of range
> GETBIT t -1                             !ERR bit offset is not an integer or out of range
> GETBIT t x                              !ERR bit offset is not an integer or out of range
> GETBIT t #0                             !ERR bit offset is not an integer or out of range
> GETBIT missing 0                        =0
> GETBIT missing x                        !ERR bit offset is not an integer or out of range
> EXISTS missing                          =0
> GETBIT i 3                              =0
> GETBIT l 0                              !WRONGTYPE Operation against a key holding the wrong kind of value
> GETBIT l x                              !ERR bit offset is not an integer or out of range
> GETBIT t                                !ERR wrong number of arguments for 'getbit' command
> GETBIT t 0 1                            !ERR wrong number of arguments for 'getbit' command

