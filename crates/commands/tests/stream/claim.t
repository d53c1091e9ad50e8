> XADD s 1-1 a 1                          ="1-1"
> XADD s 1-2 b 2                          ="1-2"
> XADD s 2-0 c 3                          ="2-0"
> XADD s 3-0 d 4                          ="3-0"
> XGROUP CREATE s g 0                     =OK
> XREADGROUP GROUP g alice COUNT 3 STREAMS s >
=%{"s": [["1-1", ["a", "1"]], ["1-2", ["b", "2"]], ["2-0", ["c", "3"]]]}
> XCLAIM s g bob 0 1-1                    =[["1-1", ["a", "1"]]]
> XCLAIM s g bob 100000 1-2               =[]
> XCLAIM s g bob 0 1-2 9-9 JUSTID         =["1-2"]
> XPENDING s g - + 10                     =[["1-1", "bob", 0..60000, 2], ["1-2", "bob", 0..60000, 1], ["2-0", "alice", 0..60000, 1]]
> XCLAIM s g bob 0 3-0                    =[]
> XCLAIM s g bob 0 3-0 FORCE JUSTID       =["3-0"]
> XCLAIM s g bob 0 3-0 RETRYCOUNT 7       =[["3-0", ["d", "4"]]]
> XPENDING s g 3-0 + 10                   =[["3-0", "bob", 0..60000, 7]]
> XCLAIM s g bob 0 9-9 FORCE              =[]
> XCLAIM s g bob 0 1-1 IDLE 100000 JUSTID  =["1-1"]
> XPENDING s g IDLE 90000 - + 10 alice    =[]
> XCLAIM s g carol 90000 1-1 1-2          =[["1-1", ["a", "1"]]]
> XCLAIM s g carol 0 1-1 TIME 99999999999999  =[["1-1", ["a", "1"]]]
> XCLAIM s g carol 0 1-1 IDLE -5          =[["1-1", ["a", "1"]]]
> XCLAIM s g carol 0 1-1 LASTID 2-5       =[["1-1", ["a", "1"]]]
> XINFO GROUPS s
=[{"name": "g", "consumers": 3, "pending": 4, "last-delivered-id": "2-5", "entries-read": 3, "lag": 1}]
> XDEL s 1-2                              =1
> XCLAIM s g carol 0 1-2                  =[]
> XPENDING s g                            =[3, "1-1", "3-0", [["alice", "1"], ["bob", "1"], ["carol", "1"]]]
> XCLAIM s g carol -5 1-1 JUSTID          =["1-1"]
> XCLAIM s g carol x 1-1                  !ERR Invalid min-idle-time argument for XCLAIM
> XCLAIM s g carol 0 x                    !ERR Unrecognized XCLAIM option 'x'
> XCLAIM s g carol 0 1-1 FOO              !ERR Unrecognized XCLAIM option 'FOO'
> XCLAIM s g carol 0 1-1 IDLE             !ERR Unrecognized XCLAIM option 'IDLE'
> XCLAIM s g carol 0 1-1 IDLE x           !ERR Invalid IDLE option argument for XCLAIM
> XCLAIM s g carol 0 1-1 TIME x           !ERR Invalid TIME option argument for XCLAIM
> XCLAIM s g carol 0 1-1 RETRYCOUNT x     !ERR Invalid RETRYCOUNT option argument for XCLAIM
> XCLAIM s g carol 0 1-1 LASTID x         !ERR Invalid stream ID specified as stream command argument
> XCLAIM s none carol 0 1-1               !NOGROUP No such key 's' or consumer group 'none'
> XCLAIM none g carol 0 1-1               !NOGROUP No such key 'none' or consumer group 'g'
> SET text v                              =OK
> XCLAIM text g carol 0 1-1               !WRONGTYPE Operation against a key holding the wrong kind of value
> XCLAIM s g carol 0                      !ERR wrong number of arguments for 'xclaim' command

# XAUTOCLAIM
> XAUTOCLAIM s g dave 0 0 COUNT 1         =["2-0", [["1-1", ["a", "1"]]], []]
> XAUTOCLAIM s g dave 0 2-0 COUNT 1 JUSTID  =["3-0", ["2-0"], []]
> XAUTOCLAIM s g dave 0 (2-0              =["0-0", [["3-0", ["d", "4"]]], []]
> XAUTOCLAIM s g dave 100000 0            =["0-0", [], []]
> XPENDING s g                            =[3, "1-1", "3-0", [["dave", "3"]]]
> XDEL s 2-0 3-0                          =2
> XAUTOCLAIM s g erin 0 - COUNT 2         =["3-0", [["1-1", ["a", "1"]]], ["2-0"]]
> XAUTOCLAIM s g erin 0 - JUSTID          =["0-0", ["1-1"], ["3-0"]]
> XPENDING s g                            =[1, "1-1", "1-1", [["erin", "1"]]]
> XAUTOCLAIM s g erin 0 5                 =["0-0", [], []]
> XAUTOCLAIM s g erin x 0                 !ERR Invalid min-idle-time argument for XAUTOCLAIM
> XAUTOCLAIM s g erin 0 x                 !ERR Invalid stream ID specified as stream command argument
> XAUTOCLAIM s g erin 0 0 COUNT 0         !ERR COUNT must be > 0
> XAUTOCLAIM s g erin 0 0 COUNT x         !ERR COUNT must be > 0
> XAUTOCLAIM s g erin 0 0 COUNT           !ERR syntax error
> XAUTOCLAIM s g erin 0 0 FOO             !ERR syntax error
> XAUTOCLAIM s none erin 0 0              !NOGROUP No such key 's' or consumer group 'none'
> XAUTOCLAIM none g erin 0 0              !NOGROUP No such key 'none' or consumer group 'g'
> XAUTOCLAIM text g erin 0 0              !WRONGTYPE Operation against a key holding the wrong kind of value
> XAUTOCLAIM s g erin 0                   !ERR wrong number of arguments for 'xautoclaim' command
