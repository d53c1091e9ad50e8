# APPEND
> APPEND k Hello                          =5
> APPEND k " World"                       =11
> GET k                                   ="Hello World"
> APPEND k ""                             =11
> APPEND empty ""                         =0
> EXISTS empty                            =1
> GET empty                               =""
> APPEND number 12                        =2
> OBJECT ENCODING number                  ="int"
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

# Long texts: at 16 KiB, where one becomes a tree, and at the edges of its pieces of 4,080 bytes
> SETRANGE t 16383 x                      =16384
> OBJECT ENCODING t                       ="raw"
> APPEND t yz                             =16386
> STRLEN t                                =16386
> GETRANGE t 16380 -1                     ="\x00\x00\x00xyz"
> GETRANGE t 16383 16383                  ="x"
> GETRANGE t 16384 16384                  ="y"
> SETRANGE t 4078 abcdef                  =16386
> GETRANGE t 4077 4084                    ="\x00abcdef\x00"
> GETRANGE t 4079 4079                    ="b"
> GETRANGE t 4080 4080                    ="c"
> GETRANGE t 4081 4081                    ="d"
> GETRANGE t 4080 4079                    =""
> SETRANGE t 8160 p                       =16386
> SETRANGE t 8159 o                       =16386
> SUBSTR t 8158 8161                      ="\x00op\x00"
> SETRANGE t 16386 next                   =16390
> GETRANGE t -7 -1                        ="xyznext"
> SETRANGE t 20398 end                    =20401
> GETRANGE t 16386 16391                  ="next\x00\x00"
> GETRANGE t -5 -1                        ="\x00\x00end"
> APPEND t ""                             =20401
> APPEND t more                           =20405
> GETRANGE t 20396 99999                  ="\x00\x00endmore"
> SETRANGE t 0 first                      =20405
> GETRANGE t 0 6                          ="first\x00\x00"
> GETRANGE t -99999 4                     ="first"
> GETRANGE t 20405 20405                  =""
> GETRANGE t -99999 -99999                ="f"
> SETRANGE t 30000 ""                     =20405
> SETRANGE t 536870912 x                  !ERR string exceeds maximum allowed size (proto-max-bulk-len)
> EXPIRE t 100                            =1
> APPEND t !                              =20406
> TTL t                                   =40..100
> OBJECT ENCODING t                       ="raw"
> INCR t                                  !ERR value is not an integer or out of range
> INCRBYFLOAT t 1                         !ERR value is not a valid float
> RENAME t u                              =OK
> COPY u t                                =1
> SETRANGE u 4079 UU                      =20406
> GETRANGE t 4078 4083                    ="abcdef"
> GETRANGE u 4078 4083                    ="aUUdef"
> STRLEN t                                =20406
> TTL t                                   =40..100
> SETRANGE far 100000000 x                =100000001
> GETRANGE far 99999998 -1                ="\x00\x00x"
> SETRANGE far 50000000 y                 =100000001
> GETRANGE far 49999999 50000001          ="\x00y\x00"
> STRLEN far                              =100000001
> SET far short                           =OK
> OBJECT ENCODING far                     ="embstr"
> GETRANGE far 0 -1                       ="short"
> SET far "" GET                          ="short"
