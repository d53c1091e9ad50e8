# an item, and as much of it as is asked for
since: 1000.0 memcached 1.6.18
> MC.MG k                                 ="EN"
> MC.MG k q                               =nil
> MC.MG k k O5                            ="EN kk O5"
> MC.SET k 5 100 abc                      =STORED
> MC.MG k                                 ="HD"
> MC.MG k q                               ="HD"
> MC.MG k v                               =["VA 3", "abc"]
> MC.MG k f s v k O99                     =["VA 3 f5 s3 kk O99", "abc"]
> MC.MG k P1 L2 Omm                       ="HD Omm"
> MC.MG k v v                             !CLIENT_ERROR duplicate flag
> MC.MG k Z                               !CLIENT_ERROR invalid flag
> MC.MG k M                               !CLIENT_ERROR incorrect length for M token
> MC.MG k O12345678901234567890123456789012  !CLIENT_ERROR opaque token too long
> MC.MG k c                               !CLIENT_ERROR
> MC.MGT k T                              !CLIENT_ERROR bad token in command line format
> MC.MGT k T10 t                          ="HD t10"
> MC.MGT k f T2000 t                      ="HD f5 t2000"
> TTL k                                   =1000..2000
> MC.MGT k T-1                            ="HD"
> MC.MG k                                 ="EN"

# one is told to make what is missing, the others that somebody does
since: 1000.0 memcached 1.6.18
> MC.MGT n N3000 v t                      =["VA 0 t3000 W", ""]
> MC.MGT n N3000 v                        =["VA 0 Z", ""]
> MC.MGT n R9000                          ="HD Z"
> MC.MG n v                               =["VA 0 Z", ""]
> MC.MS n new                             ="HD"
> MC.MG n v                               =["VA 3", "new"]
> MC.MGT m N3000 q                        ="HD W"

# an item that is outdated
since: 1000.0 memcached 1.6.18
> MC.MD k                                 ="NF"
> MC.MS k E7 ab                           ="HD"
> MC.MD k C6                              ="EX"
> MC.MD k I T3000 E8                       ="HD"
> MC.MGT k v c                            =["VA 2 c8 X W", "ab"]
> MC.MS k C7 I cd                         ="HD"
> MC.MS k C9 I cd                         ="HD"
> MC.APPEND k 0 0 e                       =STORED
> MC.MG k v                               =["VA 3", "cde"]
> MC.MD k q                               =nil
> MC.MD k q                               ="NF"
> MC.MD k k O1                            ="NF kk O1"
> MC.MD k Z                               !CLIENT_ERROR invalid or duplicate flag
> MC.MS k F7 T100 ab                      ="HD"
> MC.MD k x                               ="HD"
> MC.MG k v f                             =["VA 0 f0", ""]

# what is known of an item
since: 1000.0 memcached 1.6.18
> MC.ME e                                 ="EN"
> MC.MS e T100 abcde                      ="HD"
> MC.ME e                                 =*

# which items there are
since: 1000.0 memcached 1.6.18
> FLUSHALL                                =OK
> MC.METADUMP all                         =["END"]
> MC.METADUMP x                           !BADCLASS invalid class id
> MC.METADUMP 1,64                        !BADCLASS invalid class id
> MC.SET k 0 0 abc                        =STORED
> RPUSH list a                            =1
> MC.METADUMP 2                           =["END"]
> MC.CACHEDUMP 1 10                       =["ITEM k [3 b; 0 s]", "END"]
> MC.CACHEDUMP 1 0                        =["ITEM k [3 b; 0 s]", "END"]
> MC.CACHEDUMP 2 10                       =["END"]
> MC.CACHEDUMP 64 10                      !CLIENT_ERROR Illegal slab id
> MC.CACHEDUMP 1 x                        !CLIENT_ERROR bad command line format
> MC.GETS k                               =*
