> XGROUP CREATE s g 0
!ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.
> XGROUP CREATE s g 0 MKSTREAM            =OK
> EXISTS s                                =1
> XLEN s                                  =0
> XGROUP CREATE s g 0                     !BUSYGROUP Consumer Group name already exists
> XGROUP CREATE s g $ MKSTREAM            !BUSYGROUP Consumer Group name already exists
> XADD s 1-1 a 1                          ="1-1"
> XADD s 1-2 b 2                          ="1-2"
> XADD s 2-0 c 3                          ="2-0"
> XREADGROUP GROUP g alice COUNT 1 STREAMS s >  =%{"s": [["1-1", ["a", "1"]]]}
> XREADGROUP GROUP g bob COUNT 1 STREAMS s >  =%{"s": [["1-2", ["b", "2"]]]}
> XREADGROUP GROUP g alice STREAMS s >    =%{"s": [["2-0", ["c", "3"]]]}
> XREADGROUP GROUP g alice STREAMS s >    =nil-array
> XREADGROUP GROUP g alice BLOCK 1 STREAMS s >  =nil-array
> XREADGROUP GROUP g alice STREAMS s 0    =%{"s": [["1-1", ["a", "1"]], ["2-0", ["c", "3"]]]}
> XREADGROUP GROUP g alice COUNT 1 STREAMS s 0  =%{"s": [["1-1", ["a", "1"]]]}
> XREADGROUP GROUP g alice STREAMS s 1-1  =%{"s": [["2-0", ["c", "3"]]]}
> XREADGROUP GROUP g alice STREAMS s 9    =%{"s": []}
> XREADGROUP GROUP g carol STREAMS s 0    =%{"s": []}
> XPENDING s g                            =[3, "1-1", "2-0", [["alice", "2"], ["bob", "1"]]]
> XPENDING s g - + 10                     =[["1-1", "alice", 0..60000, 3], ["1-2", "bob", 0..60000, 1], ["2-0", "alice", 0..60000, 3]]
> XPENDING s g - + 10 alice               =[["1-1", "alice", 0..60000, 3], ["2-0", "alice", 0..60000, 3]]
> XPENDING s g (1-1 2 10                  =[["1-2", "bob", 0..60000, 1], ["2-0", "alice", 0..60000, 3]]
> XPENDING s g - + 1                      =[["1-1", "alice", 0..60000, 3]]
> XPENDING s g - + 0                      =[]
> XPENDING s g - + 10 nobody              =[]
> XPENDING s g IDLE 100000 - + 10         =[]
> XPENDING s g IDLE 0 - + 10 bob          =[["1-2", "bob", 0..60000, 1]]
> XACK s g 1-1                            =1
> XACK s g 1-1 1-2 1-2 7-7                =1
> XPENDING s g                            =[1, "2-0", "2-0", [["alice", "1"]]]
> XDEL s 2-0                              =1
> XREADGROUP GROUP g alice STREAMS s 0    =%{"s": [["2-0", nil-array]]}
> XACK s g 2-0                            =1
> XPENDING s g                            =[0, nil, nil, nil-array]
> XPENDING s g - + 10                     =[]
> XINFO GROUPS s
=[{"name": "g", "consumers": 3, "pending": 0, "last-delivered-id": "2-0", "entries-read": 3, "lag": 0}]
> XINFO CONSUMERS s none                  !NOGROUP No such consumer group 'none' for key name 's'
> XGROUP SETID s g 0                      =OK
> XREADGROUP GROUP g bob NOACK STREAMS s >  =%{"s": [["1-1", ["a", "1"]], ["1-2", ["b", "2"]]]}
> XPENDING s g                            =[0, nil, nil, nil-array]
> XGROUP SETID s g 1-1 ENTRIESREAD 1      =OK
> XINFO GROUPS s
=[{"name": "g", "consumers": 3, "pending": 0, "last-delivered-id": "1-1", "entries-read": 1, "lag": nil}]
> XGROUP SETID s g $                      =OK
> XREADGROUP GROUP g bob STREAMS s >      =nil-array
> XGROUP CREATECONSUMER s g dave          =1
> XGROUP CREATECONSUMER s g dave          =0
> XGROUP CREATECONSUMER s none dave       !NOGROUP No such consumer group 'none' for key name 's'
> XGROUP CREATECONSUMER none g dave
!ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.
> XGROUP SETID s g +                      =OK
> XREADGROUP GROUP g dave STREAMS s >     =nil-array
> XGROUP SETID s g -                      =OK
> XREADGROUP GROUP g dave STREAMS s >     =%{"s": [["1-1", ["a", "1"]], ["1-2", ["b", "2"]]]}
> XGROUP DELCONSUMER s g dave             =2
> XGROUP DELCONSUMER s g dave             =0
> XGROUP DELCONSUMER s none dave          !NOGROUP No such consumer group 'none' for key name 's'
> XGROUP DESTROY s none                   =0
> XGROUP DESTROY none g
!ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.
> XGROUP DESTROY s g                      =1
> XGROUP DESTROY s g                      =0
> XREADGROUP GROUP g bob STREAMS s >      !NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option
> XGROUP CREATE s g - ENTRIESREAD 5       !ERR Invalid stream ID specified as stream command argument
> XGROUP CREATE s h + ENTRIESREAD -1      !ERR Invalid stream ID specified as stream command argument
> XGROUP CREATE s i 0 ENTRIESREAD -2      !ERR value for ENTRIESREAD must be positive or -1
> XGROUP CREATE s i 0 ENTRIESREAD x       !ERR value is not an integer or out of range
> XGROUP CREATE s i 0 FOO                 !ERR unknown subcommand or wrong number of arguments for 'CREATE'. Try XGROUP HELP.
> XGROUP CREATE s i x                     !ERR Invalid stream ID specified as stream command argument
> XGROUP CREATE s i (1                    !ERR Invalid stream ID specified as stream command argument
> XGROUP SETID s g x                      !NOGROUP No such consumer group 'g' for key name 's'
> XGROUP SETID s none 0                   !NOGROUP No such consumer group 'none' for key name 's'
> XGROUP SETID none g 0
!ERR The XGROUP subcommand requires the key to exist. Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically.
> XGROUP SETID s g 0 MKSTREAM             !ERR unknown subcommand or wrong number of arguments for 'SETID'. Try XGROUP HELP.
> XGROUP SETID s g 0 ENTRIESREAD          !ERR unknown subcommand or wrong number of arguments for 'SETID'. Try XGROUP HELP.
> XINFO GROUPS s                          =[]
> SET text v                              =OK
> XGROUP CREATE text g 0                  !WRONGTYPE Operation against a key holding the wrong kind of value
> XGROUP CREATE text g 0 MKSTREAM         !WRONGTYPE Operation against a key holding the wrong kind of value
> XGROUP SETID text g 0                   !WRONGTYPE Operation against a key holding the wrong kind of value
> XGROUP DESTROY text g                   !WRONGTYPE Operation against a key holding the wrong kind of value
> XGROUP CREATECONSUMER text g c          !WRONGTYPE Operation against a key holding the wrong kind of value
> XGROUP DELCONSUMER text g c             !WRONGTYPE Operation against a key holding the wrong kind of value
> XREADGROUP GROUP g c STREAMS text >     !WRONGTYPE Operation against a key holding the wrong kind of value
> XREADGROUP GROUP g c STREAMS none >
!NOGROUP No such key 'none' or consumer group 'g' in XREADGROUP with GROUP option
> XREADGROUP GROUP none c STREAMS s >
!NOGROUP No such key 's' or consumer group 'none' in XREADGROUP with GROUP option
> XREADGROUP GROUP g c STREAMS s none > >
!NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option
> XREADGROUP GROUP g c STREAMS s $        !NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option
> XREADGROUP GROUP g c STREAMS s x        !NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option
> XREADGROUP GROUP g c COUNT x STREAMS s >  !ERR value is not an integer or out of range
> XREADGROUP COUNT 1 GROUP g c STREAMS s >
!NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option
> XREADGROUP COUNT 1 NOACK COUNT 2 STREAMS s >  !ERR Missing GROUP option for XREADGROUP
> XREADGROUP GROUP g c s > 1              !ERR syntax error
> XREADGROUP GROUP g STREAMS s >          !ERR wrong number of arguments for 'xreadgroup' command
> XGROUP CREATE s                         !ERR wrong number of arguments for 'xgroup|create' command
> XACK none g 1-1                         =0
> XACK s none 1-1                         =0
> XACK s g x                              =0
> XACK none g x                           =0
> XACK text g 1-1                         !WRONGTYPE Operation against a key holding the wrong kind of value
> XACK s g                                !ERR wrong number of arguments for 'xack' command
> XPENDING none g                         !NOGROUP No such key 'none' or consumer group 'g'
> XPENDING s none                         !NOGROUP No such key 's' or consumer group 'none'
> XPENDING s g -                          !ERR syntax error
> XPENDING s g - +                        !ERR syntax error
> XPENDING s g - + x                      !ERR value is not an integer or out of range
> XPENDING s g x + 1                      !ERR Invalid stream ID specified as stream command argument
> XPENDING s g IDLE x - + 1               !ERR value is not an integer or out of range
> XPENDING s g IDLE 1 - +                 !ERR syntax error
> XPENDING s g IDLE 1 - + 1 a b           !ERR syntax error
> XPENDING text g                         !WRONGTYPE Operation against a key holding the wrong kind of value
