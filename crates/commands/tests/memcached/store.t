# what the key has to be like
since: 1000.0 memcached 1.6.18
> MC.REPLACE k 0 0 v                      =NOT_STORED
> MC.APPEND k 0 0 v                       =NOT_STORED
> MC.PREPEND k 0 0 v                      =NOT_STORED
> MC.ADD k 1 0 v                          =STORED
> MC.ADD k 2 0 w                          =NOT_STORED
> MC.REPLACE k 2 0 w                      =STORED
> MC.GET k                                =["VALUE k 2 1", "w"]
> MC.APPEND k 9 9 >                       =STORED
> MC.PREPEND k 9 9 <                      =STORED
> MC.GET k                                =["VALUE k 2 3", "<w>"]
> TTL k                                   =-1
> MC.SET k x 0 v                          !CLIENT_ERROR bad command line format
> MC.SET k 0 x v                          !CLIENT_ERROR bad command line format
> MC.SET k -1 0 v                         !CLIENT_ERROR bad command line format

# how long it lives
since: 1000.0 memcached 1.6.18
> MC.SET k 0 100 v                        =STORED
> TTL k                                   =40..100
> MC.SET k 0 2147483647 v                =STORED
> EXPIRETIME k                            =2147483647
> MC.SET k 0 2592001 v                    =STORED
> EXISTS k                                =0
> MC.SET k 0 0 v                          =STORED
> MC.SET k 0 -1 v                         =STORED
> EXISTS k                                =0
> MC.SET k 0 100 v                        =STORED
> MC.APPEND k 0 0 w                       =STORED
> MC.PREPEND k 0 0 u                      =STORED
> TTL k                                   =40..100
> MC.TOUCH k 0                            =TOUCHED
> TTL k                                   =-1
> MC.TOUCH k 100                          =TOUCHED
> TTL k                                   =40..100
> MC.TOUCH k x                            !CLIENT_ERROR invalid exptime argument
> MC.TOUCH k -1                           =TOUCHED
> MC.TOUCH k 0                            =NOT_FOUND
> MC.SET k 0 0 v                          =STORED
> MC.DELETE k                             =DELETED
> MC.DELETE k                             =NOT_FOUND

# by the meta protocol
since: 1000.0 memcached 1.6.18
> MC.MS k T100 F7 k Oqq abc               ="HD kk Oqq"
> MC.MG k v f                             =["VA 3 f7", "abc"]
> MC.MS k q abd                           =nil
> MC.MS k ME abc                          ="NS"
> MC.MS absent MR abc                     ="NS"
> MC.MS k MA zz                           ="HD"
> MC.MS k MP yy                           ="HD"
> MC.MG k v f t                           =["VA 7 f0 t-1", "yyabdzz"]
> MC.MS k MX abc                          !CLIENT_ERROR invalid mode for ms M token
> MC.MS k MEE abc                         !CLIENT_ERROR incorrect length for M token
> MC.MS k C1 ab                           ="EX"
> MC.MS absent C1 ab                      ="NF"
> MC.MS k C0 ab                           ="EX"
> MC.MS k C0 I ab                         ="EX"
> MC.MS k C0 MA q !                       =nil
> MC.MS k C0 MP q !                       =nil
> MC.MG k v                               =["VA 9", "!yyabdzz!"]
> MC.MS k F ab                            !CLIENT_ERROR bad command line format
> MC.MS k Tx ab                           !CLIENT_ERROR bad token in command line format
> MC.MS k T-1 ab                          ="HD"
> MC.MG k v                               ="EN"
> MC.MS k MA N60 ab                       ="HD"
> TTL k                                   =5..60

# a key that was given in base64 is told so
since: 1000.0 memcached 1.6.18
> MC.MS foo b k ab                        ="HD kZm9v b"
> MC.MG foo v k                           =["VA 2 kZm9v b", "ab"]
> MC.MD foo b k                           ="HD kZm9v b"
> MC.MG foo b k                           ="EN kZm9v b"
