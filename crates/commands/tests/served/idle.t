# When a key was last used
> SET used text                           =OK
> SET again text                          =OK
> RPUSH items a                           =1
> LPUSH pushed a                          =1
+2100
> SET again other                         =OK
> LPUSH pushed b                          =2
> OBJECT IDLETIME used                    =2..60
> OBJECT IDLETIME again                   =0..1
> OBJECT IDLETIME items                   =2..60
> OBJECT IDLETIME pushed                  =0..1
> TYPE used                               =string
> EXISTS used                             =1
> TTL used                                =-1
> OBJECT IDLETIME used                    =2..60
> TOUCH used                              =1
> OBJECT IDLETIME used                    =0..1
> LLEN items                              =1
> OBJECT IDLETIME items                   =0..1

# What is restored may say when it was used
> RESTORE restored 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" IDLETIME 1000  =OK
> OBJECT IDLETIME restored                =1000..2000
> RESTORE restored 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" REPLACE  =OK
> OBJECT IDLETIME restored                =0..60
