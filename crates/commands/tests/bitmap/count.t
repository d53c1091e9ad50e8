# BITCOUNT
> SET t foobar                            =OK
> BITCOUNT t                              =26
> BITCOUNT t 0 0                          =4
> BITCOUNT t 1 1                          =6
> BITCOUNT t 1 1 BYTE                     =6
> BITCOUNT t 5 30 BIT                     =17
> BITCOUNT t 0 -1                         =26
> BITCOUNT t -2 -1                        =7
> BITCOUNT t -100 -1                      =26
> BITCOUNT t 0 100                        =26
> BITCOUNT t 3 1                          =0
> BITCOUNT t -1 -3                        =0
> BITCOUNT t -200 -100                    =4
> BITCOUNT t -100 -200                    =0
> BITCOUNT t 100 200                      =0
> BITCOUNT t 0 -100                       =4
> BITCOUNT t 0 0 bit                      =0
> BITCOUNT t 1 1 BIT                      =1
> BITCOUNT t 7 8 BIT                      =0
> BITCOUNT t 0 -1 BIT                     =26
> BITCOUNT t -8 -1 BIT                    =4
> BITCOUNT t -9 -7 BIT                    =2
> BITCOUNT t 9223372036854775807 9223372036854775807 BIT  =0
> BITCOUNT t -9223372036854775808 9223372036854775807  =26
> BITCOUNT t -9223372036854775808 9223372036854775807 BIT  =26
> SET n 123                               =OK
> BITCOUNT n                              =10
> SET empty ""                            =OK
> BITCOUNT empty                          =0
> BITCOUNT empty 0 -1                     =0
> BITCOUNT missing                        =0
> BITCOUNT missing 0 0                    =0
> SETBIT big 400000 1                     =0
> SETBIT big 17 1                         =0
> BITCOUNT big                            =2
> BITCOUNT big 3 -1                       =1
> BITCOUNT big 18 400000 BIT              =1
> BITCOUNT big 18 399999 BIT              =0
> BITCOUNT big 17 400000 BIT              =2
> BITCOUNT big 2 2                        =1
> BITCOUNT t 0                            !ERR syntax error
> BITCOUNT t 0 1 2                        !ERR syntax error
> BITCOUNT t 0 1 BIT BIT                  !ERR syntax error
> BITCOUNT t x 1                          !ERR value is not an integer or out of range
> BITCOUNT t 1 x                          !ERR value is not an integer or out of range
> BITCOUNT t x 1 HELLO                    !ERR value is not an integer or out of range
> BITCOUNT t 1 x HELLO                    !ERR value is not an integer or out of range
> RPUSH l a                               =1
> BITCOUNT l                              !WRONGTYPE Operation against a key holding the wrong kind of value
> BITCOUNT l 0 1                          !WRONGTYPE Operation against a key holding the wrong kind of value
> BITCOUNT                                !ERR wrong number of arguments for 'bitcount' command

since: 7.2 redis.io/commands/bitcount
> BITCOUNT missing 0 x                    !ERR value is not an integer or out of range
> BITCOUNT missing 0                      !ERR syntax error
> BITCOUNT missing 0 1 HELLO              !ERR syntax error

# BITPOS
> SET a "\xff\xf0\x00"                    =OK
> BITPOS a 0                              =12
> BITPOS a 1                              =0
> BITPOS a 0 1                            =12
> BITPOS a 1 1                            =8
> BITPOS a 1 2                            =-1
> BITPOS a 1 x 1 HELLO                    !ERR value is not an integer or out of range
> BITPOS a 1 0 x HELLO                    !ERR syntax error
> BITPOS a 1 0 x BIT                      !ERR value is not an integer or out of range
> BITPOS a 1 2 -1                         =-1
> BITPOS a 0 0 0                          =-1
> BITPOS a 0 0 0 BYTE                     =-1
> BITPOS a 0 2 -1                         =16
> BITPOS a 0 13 -1 BIT                    =13
> BITPOS a 0 7 11 BIT                     =-1
> BITPOS a 0 7 12 BIT                     =12
> BITPOS a 1 12 -1 BIT                    =-1
> BITPOS a 1 11 -1 BIT                    =11
> BITPOS a 1 -13 -1 BIT                   =11
> BITPOS a 1 -12 -1 BIT                   =-1
> SET b "\x00\xff\xf0"                    =OK
> BITPOS b 1                              =8
> BITPOS b 1 0                            =8
> BITPOS b 1 2                            =16
> BITPOS b 1 2 -1 BYTE                    =16
> BITPOS b 1 7 15 BIT                     =8
> BITPOS b 1 7 7 BIT                      =-1
> BITPOS b 0 8 19 BIT                     =-1
> BITPOS b 0 8 20 BIT                     =20
> SET f "\xff\xff\xff"                    =OK
> BITPOS f 0                              =24
> BITPOS f 0 1                            =24
> BITPOS f 0 2                            =24
> BITPOS f 0 3                            =-1
> BITPOS f 0 0 -1                         =-1
> BITPOS f 0 0 2                          =-1
> BITPOS f 0 0 100                        =-1
> BITPOS f 0 0 -1 BIT                     =-1
> BITPOS f 0 -1                           =24
> BITPOS f 0 -100                         =24
> BITPOS f 1 2 1                          =-1
> BITPOS f 0 2 1                          =-1
> SET z "\x00\x00"                        =OK
> BITPOS z 1                              =-1
> BITPOS z 0                              =0
> BITPOS z 1 0 -1 BIT                     =-1
> SET empty ""                            =OK
> BITPOS empty 0                          =-1
> BITPOS empty 1                          =-1
> BITPOS empty 0 0                        =-1
> BITPOS missing 0                        =0
> BITPOS missing 1                        =-1
> BITPOS missing 0 5                      =0
> BITPOS missing 0 5 7                    =0
> BITPOS missing 1 5 7                    =-1
> BITPOS big 1                            =17
> BITPOS big 1 3                          =400000
> BITPOS big 1 50001                      =-1
> BITPOS big 0 50000 50000                =400001
> BITPOS big 1 18 399999 BIT              =-1
> BITPOS big 1 18 400000 BIT              =400000
> SETRANGE ones 30000 "\xff"              =30001
> BITOP NOT ones ones                     =30001
> BITPOS ones 0                           =240000
> BITPOS ones 0 0 29999                   =-1
> SETBIT ones 240007 1                    =0
> BITPOS ones 0 30000 30000               =240000
> BITPOS a 2                              !ERR The bit argument must be 1 or 0.
> BITPOS a x                              !ERR value is not an integer or out of range
> BITPOS a 0 x                            !ERR value is not an integer or out of range
> BITPOS a 0 0 x                          !ERR value is not an integer or out of range
> BITPOS a 0 0 1 HELLO                    !ERR syntax error
> BITPOS a 0 0 1 BIT BIT                  !ERR syntax error
> BITPOS l 0                              !WRONGTYPE Operation against a key holding the wrong kind of value
> BITPOS l 2                              !ERR The bit argument must be 1 or 0.
> BITPOS a                                !ERR wrong number of arguments for 'bitpos' command

