# APPEND
> APPEND k Hello                          =5
> APPEND k " World"                       =11
> GET k                                   ="Hello World"
> APPEND k ""                             =11
> APPEND empty ""                         =0
> EXISTS empty                            =1
> GET empty                               =""
> SET n 12                                =OK
> APPEND n 3                              =3
> GET n                                   ="123"
> SET e v EX 100                          =OK
> APPEND e w                              =2
> TTL e                                   =40..100
> RPUSH l a                               =1
> APPEND l v                              !WRONGTYPE Operation against a key holding the wrong kind of value
> APPEND k                                !ERR wrong number of arguments for 'append' command
> APPEND k a b                            !ERR wrong number of arguments for 'append' command

# STRLEN
> STRLEN k                                =11
> STRLEN missing                          =0
> STRLEN n                                =3
> SET n -100                              =OK
> STRLEN n                                =4
> STRLEN l                                !WRONGTYPE Operation against a key holding the wrong kind of value
> STRLEN                                  !ERR wrong number of arguments for 'strlen' command
> STRLEN k n                              !ERR wrong number of arguments for 'strlen' command

# GETRANGE
> SET k "This is a string"                =OK
> GETRANGE k 0 3                          ="This"
> GETRANGE k -3 -1                        ="ing"
> GETRANGE k 0 -1                         ="This is a string"
> GETRANGE k 10 100                       ="string"
> GETRANGE k 5 3                          =""
> GETRANGE k -1 -3                        =""
> GETRANGE k 0 -100                       ="T"
> GETRANGE k -100 3                       ="This"
> GETRANGE k -100 -200                    =""
> GETRANGE k -200 -100                    ="T"
> GETRANGE k 16 20                        =""
> GETRANGE k 3 3                          ="s"
> GETRANGE k 0 9223372036854775807        ="This is a string"
> GETRANGE k -9223372036854775808 9223372036854775807  ="This is a string"
> GETRANGE missing 0 -1                   =""
> GETRANGE empty 0 -1                     =""
> GETRANGE n 0 1                          ="-1"
> GETRANGE l 0 1                          !WRONGTYPE Operation against a key holding the wrong kind of value
> GETRANGE k a 1                          !ERR value is not an integer or out of range
> GETRANGE k 0 b                          !ERR value is not an integer or out of range
> GETRANGE l a 1                          !ERR value is not an integer or out of range
> GETRANGE k 0                            !ERR wrong number of arguments for 'getrange' command
> SUBSTR k 0 3                            ="This"
> SUBSTR missing 0 3                      =""
> SUBSTR l 0 3                            !WRONGTYPE Operation against a key holding the wrong kind of value
> SUBSTR k 0 x                            !ERR value is not an integer or out of range
> SUBSTR k 0                              !ERR wrong number of arguments for 'substr' command

# SETRANGE
> SET k "Hello World"                     =OK
> SETRANGE k 6 Redis                      =11
> GET k                                   ="Hello Redis"
> SETRANGE pad 3 abc                      =6
> GET pad                                 ="\x00\x00\x00abc"
> SETRANGE k 3 ""                         =11
> SETRANGE none 0 ""                      =0
> EXISTS none                             =0
> SETRANGE none 5 ""                      =0
> EXISTS none                             =0
> SETRANGE k 20 x                         =21
> GET k                                   ="Hello Redis\x00\x00\x00\x00\x00\x00\x00\x00\x00x"
> SETRANGE n 1 9                          =4
> GET n                                   ="-900"
> SETRANGE e 0 X                          =2
> TTL e                                   =40..100
> SETRANGE k -1 x                         !ERR offset is out of range
> SETRANGE k abc x                        !ERR value is not an integer or out of range
> SETRANGE l 0 x                          !WRONGTYPE Operation against a key holding the wrong kind of value
> SETRANGE l -1 x                         !ERR offset is out of range
> SETRANGE l 0 ""                         !WRONGTYPE Operation against a key holding the wrong kind of value
> SETRANGE k 536870912 x                  !ERR string exceeds maximum allowed size (proto-max-bulk-len)
> SETRANGE k 536870911 xy                 !ERR string exceeds maximum allowed size (proto-max-bulk-len)
> SETRANGE k 9223372036854775807 x        !ERR string exceeds maximum allowed size (proto-max-bulk-len)
> SETRANGE missing 536870912 x            !ERR string exceeds maximum allowed size (proto-max-bulk-len)
> SETRANGE k 0                            !ERR wrong number of arguments for 'setrange' command
> EXISTS missing                          =0
