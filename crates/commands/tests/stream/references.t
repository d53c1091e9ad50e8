since: 8.2 redis.io/commands/xdelex, xackdel, xadd, xtrim
> XADD s 1-0 f v                          ="1-0"
> XADD s 2-0 f v                          ="2-0"
> XADD s 3-0 f v                          ="3-0"
> XDELEX s IDS 2 1-0 9-0                  =[1, -1]
> XLEN s                                  =2
> XDELEX s KEEPREF IDS 2 2-0 2-0          =[1, -1]
> XINFO STREAM s
={"length": 1, "radix-tree-keys": 1, "radix-tree-nodes": *, "last-generated-id": "3-0", "max-deleted-entry-id": "2-0", "entries-added": 3, "recorded-first-entry-id": "3-0", "groups": 0, "first-entry": ["3-0", ["f", "v"]], "last-entry": ["3-0", ["f", "v"]]}
> XDELEX s IDS 1 3 ACKED                  =[1]
> EXISTS s                                =1
> XDELEX none IDS 2 1-1 2-2               =[-1, -1]
> XDELEX s IDS abc 1-1                    !ERR Number of IDs must be a positive integer
> XDELEX s IDS 0 1-1                      !ERR Number of IDs must be a positive integer
> XDELEX s IDS -5 1-1                     !ERR Number of IDs must be a positive integer
> XDELEX s IDS 3 1-1 2-2                  !ERR The `numids` parameter must match the number of arguments
> XDELEX s IDS 1 1-1 2-2                  !ERR syntax error
> XDELEX s KEEPREF DELREF IDS 1 1-1       !ERR syntax error
> XDELEX s KEEPREF ACKED IDS 1 1-1        !ERR syntax error
> XDELEX s DELREF ACKED IDS 1 1-1         !ERR syntax error
> XDELEX s BOTH IDS 1 1-1                 !ERR syntax error
> XDELEX s IDS 1 x                        !ERR Invalid stream ID specified as stream command argument
> XDELEX s IDS 1                          !ERR wrong number of arguments for 'xdelex' command
> SET text v                              =OK
> XDELEX text IDS 1 1-1                   !WRONGTYPE Operation against a key holding the wrong kind of value

# DELREF: what is pending goes, in all groups, of what is gone already too.
since: 8.2 redis.io/commands/xdelex
> DEL s                                   =1
> XADD s 1-0 f v                          ="1-0"
> XADD s 2-0 f v                          ="2-0"
> XGROUP CREATE s g 0                     =OK
> XGROUP CREATE s h 0                     =OK
> XREADGROUP GROUP g alice STREAMS s >    =%{"s": [["1-0", ["f", "v"]], ["2-0", ["f", "v"]]]}
> XREADGROUP GROUP h bob STREAMS s >      =%{"s": [["1-0", ["f", "v"]], ["2-0", ["f", "v"]]]}
> XDELEX s KEEPREF IDS 1 1-0              =[1]
> XPENDING s g                            =[2, "1-0", "2-0", [["alice", "2"]]]
> XDELEX s DELREF IDS 2 1-0 2-0           =[-1, 1]
> XPENDING s g                            =[0, nil, nil, nil-array]
> XPENDING s h                            =[0, nil, nil, nil-array]

# ACKED: nothing goes that a group has pending, or is still to read.
since: 8.2 redis.io/commands/xdelex
> DEL s                                   =1
> XADD s 1-0 f v                          ="1-0"
> XADD s 2-0 f v                          ="2-0"
> XADD s 3-0 f v                          ="3-0"
> XGROUP CREATE s g 0                     =OK
> XDELEX s ACKED IDS 2 1-0 9-0            =[2, -1]
> XREADGROUP GROUP g alice COUNT 2 STREAMS s >  =%{"s": [["1-0", ["f", "v"]], ["2-0", ["f", "v"]]]}
> XDELEX s ACKED IDS 3 1-0 2-0 3-0        =[2, 2, 2]
> XACK s g 1-0                            =1
> XDELEX s ACKED IDS 3 1-0 2-0 3-0        =[1, 2, 2]
> XGROUP DESTROY s g                      =1
> XDELEX s ACKED IDS 3 1-0 2-0 3-0        =[-1, 1, 1]
> XLEN s                                  =0

# XACKDEL
since: 8.2 redis.io/commands/xackdel
> DEL s                                   =1
> XACKDEL s g IDS 2 1-1 2-2               =[-1, -1]
> XADD s 1-0 f v                          ="1-0"
> XADD s 2-0 f v                          ="2-0"
> XACKDEL s g IDS 2 1-0 2-0               =[-1, -1]
> XGROUP CREATE s g 0                     =OK
> XGROUP CREATE s h 0                     =OK
> XREADGROUP GROUP g alice STREAMS s >    =%{"s": [["1-0", ["f", "v"]], ["2-0", ["f", "v"]]]}
> XREADGROUP GROUP h bob STREAMS s >      =%{"s": [["1-0", ["f", "v"]], ["2-0", ["f", "v"]]]}
> XACKDEL s g ACKED IDS 2 1-0 2-0         =[2, 2]
> XLEN s                                  =2
> XPENDING s g                            =[0, nil, nil, nil-array]
> XPENDING s h                            =[2, "1-0", "2-0", [["bob", "2"]]]
> XACKDEL s h ACKED IDS 3 1-0 1-0 2-0     =[1, -1, 1]
> XLEN s                                  =0
> XPENDING s h                            =[0, nil, nil, nil-array]
> XADD s 3-0 f v                          ="3-0"
> XREADGROUP GROUP g alice STREAMS s >    =%{"s": [["3-0", ["f", "v"]]]}
> XREADGROUP GROUP h bob STREAMS s >      =%{"s": [["3-0", ["f", "v"]]]}
> XACKDEL s g KEEPREF IDS 1 3-0           =[1]
> XLEN s                                  =0
> XPENDING s h                            =[1, "3-0", "3-0", [["bob", "1"]]]
> XACKDEL s h IDS 1 3-0                   =[1]
> XADD s 4-0 f v                          ="4-0"
> XREADGROUP GROUP g alice STREAMS s >    =%{"s": [["4-0", ["f", "v"]]]}
> XREADGROUP GROUP h bob STREAMS s >      =%{"s": [["4-0", ["f", "v"]]]}
> XACKDEL s g DELREF IDS 1 4-0            =[1]
> XPENDING s h                            =[0, nil, nil, nil-array]
> XACKDEL s h DELREF IDS 1 4-0            =[-1]
> XACKDEL s g IDS abc 1-1                 !ERR Number of IDs must be a positive integer
> XACKDEL s g IDS 3 1-1 2-2               !ERR The `numids` parameter must match the number of arguments
> XACKDEL s g IDS 1 1-1 2-2               !ERR syntax error
> XACKDEL s g KEEPREF DELREF IDS 1 1-1    !ERR syntax error
> XACKDEL s g IDS 1                       !ERR wrong number of arguments for 'xackdel' command

# XADD and XTRIM
since: 8.2 redis.io/commands/xadd, xtrim
> DEL s                                   =1
> XADD s 1-0 f v                          ="1-0"
> XADD s 2-0 f v                          ="2-0"
> XADD s KEEPREF 3-0 f v                  ="3-0"
> XADD s 4-0 f v                          ="4-0"
> XADD s 5-0 f v                          ="5-0"
> XGROUP CREATE s g 0                     =OK
> XADD s MAXLEN = 1 ACKED 6-0 f v         ="6-0"
> XLEN s                                  =6
> XREADGROUP GROUP g alice COUNT 1 STREAMS s >  =%{"s": [["1-0", ["f", "v"]]]}
> XACK s g 1-0                            =1
> XADD s MAXLEN = 1 ACKED 7-0 f v         ="7-0"
> XLEN s                                  =6
> XREADGROUP GROUP g alice COUNT 4 STREAMS s >  =%{"s": [["2-0", ["f", "v"]], ["3-0", ["f", "v"]], ["4-0", ["f", "v"]], ["5-0", ["f", "v"]]]}
> XACK s g 3-0 5-0                        =2
> XTRIM s ACKED MAXLEN 5                  =1
> XRANGE s - +                            =[["2-0", ["f", "v"]], ["4-0", ["f", "v"]], ["5-0", ["f", "v"]], ["6-0", ["f", "v"]], ["7-0", ["f", "v"]]]
> XTRIM s MINID 5-0 ACKED                 =0
> XTRIM s MINID = 6-0 ACKED               =1
> XTRIM s DELREF MAXLEN 2                 =2
> XPENDING s g                            =[0, nil, nil, nil-array]
> XREADGROUP GROUP g alice STREAMS s >    =%{"s": [["6-0", ["f", "v"]], ["7-0", ["f", "v"]]]}
> XADD s MAXLEN 1 DELREF 8-0 f v          ="8-0"
> XPENDING s g                            =[0, nil, nil, nil-array]
> XTRIM s MAXLEN 0 KEEPREF ACKED          !ERR syntax error
> XTRIM s ACKED                           !ERR wrong number of arguments for 'xtrim' command
> XADD s ACKED DELREF * f v               !ERR syntax error
