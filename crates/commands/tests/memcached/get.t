# an item is told by a line and its text
since: 1000.0 memcached 1.6.18
> MC.GET k                                =nil
> MC.SET k 5 0 abc                        =STORED
> MC.GET k                                =["VALUE k 5 3", "abc"]
> GET k                                   ="abc"
> MC.SET k 4294967295 0 ""                =STORED
> MC.GET k                                =["VALUE k 4294967295 0", ""]
> MC.SET n 0 0 12                         =STORED
> MC.GET n                                =["VALUE n 0 2", "12"]
> INCR n                                  =13
> MC.GET n                                =["VALUE n 0 2", "13"]

# what Redis's clients put has no flags, what they alter keeps them
since: 1000.0 bobbin
> SET k text                              =OK
> MC.GET k                                =["VALUE k 0 4", "text"]
> MC.SET k 7 0 text                       =STORED
> APPEND k !                              =5
> MC.GET k                                =["VALUE k 7 5", "text!"]
> SETRANGE k 0 T                          =5
> MC.GET k                                =["VALUE k 7 5", "Text!"]
> MC.SET n 7 0 1                          =STORED
> INCR n                                  =2
> MC.GET n                                =["VALUE n 7 1", "2"]
> GETSET n 3                              ="2"
> MC.GET n                                =["VALUE n 0 1", "3"]
> MC.SET n 7 100 1                        =STORED
> SET n 4 KEEPTTL                         =OK
> MC.GET n                                =["VALUE n 0 1", "4"]
> TTL n                                   =40..100

# another kind is a miss
since: 1000.0 bobbin
> RPUSH list a                            =1
> MC.GET list                             =nil
> MC.GETS list                            =nil
> MC.GAT 10 list                          =nil
> MC.GATS 10 list                         =nil
> MC.TOUCH list 10                        =NOT_FOUND
> MC.DELETE list                          =NOT_FOUND
> MC.INCR list 1                          =NOT_FOUND
> MC.ADD list 0 0 v                       =NOT_STORED
> MC.REPLACE list 0 0 v                   =NOT_STORED
> MC.APPEND list 0 0 v                    =NOT_STORED
> MC.CAS list 0 0 1 v                     =NOT_FOUND
> MC.MG list v                            ="EN"
> MC.MGT list v N30                       ="EN"
> MC.MD list                              ="NF"
> MC.MA list N0                           ="NF"
> MC.ME list                              ="EN"
> TTL list                                =-1
> LRANGE list 0 -1                        =["a"]
> MC.SET list 0 0 v                       =STORED
> TYPE list                               =string

# versions are given when they are asked for, and go with each change
since: 1000.0 memcached 1.6.18
> MC.MS k E77 one                         ="HD"
> MC.GETS k                               =["VALUE k 0 3 77", "one"]
> MC.GETS k                               =["VALUE k 0 3 77", "one"]
> MC.CAS k 1 0 76 two                     =EXISTS
> MC.CAS k 1 0 77 two                     =STORED
> MC.CAS k 1 0 77 three                   =EXISTS
> MC.GET k                                =["VALUE k 1 3", "two"]
> MC.GETS k                               =*
> MC.CAS absent 0 0 1 v                   =NOT_FOUND
> MC.CAS k 0 0 x v                        !CLIENT_ERROR bad command line format
> MC.GETS absent                          =nil
> MC.GATS 100 absent                      =nil
> MC.MS k E78 four                        ="HD"
> RENAME k l                              =OK
> MC.GETS l                               =["VALUE l 0 4 78", "four"]
> COPY l m                                =1
> MC.GETS m                               =["VALUE m 0 4 78", "four"]

# a text read and given another life
since: 1000.0 memcached 1.6.18
> MC.SET k 3 0 v                          =STORED
> MC.GAT 100 k                            =["VALUE k 3 1", "v"]
> TTL k                                   =40..100
> MC.GAT 0 k                              =["VALUE k 3 1", "v"]
> TTL k                                   =-1
> MC.MS k E5 v                            ="HD"
> MC.GATS 2147483647 k                   =["VALUE k 0 1 5", "v"]
> EXPIRETIME k                            =2147483647
> MC.GAT x k                              !CLIENT_ERROR invalid exptime argument
> MC.GAT -1 k                             =["VALUE k 0 1", "v"]
> EXISTS k                                =0
