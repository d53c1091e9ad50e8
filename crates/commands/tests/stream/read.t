> XADD s 1-1 a 1                          ="1-1"
> XADD s 1-2 b 2                          ="1-2"
> XADD t 5-0 c 3                          ="5-0"
> XREAD STREAMS s 0                       =%{"s": [["1-1", ["a", "1"]], ["1-2", ["b", "2"]]]}
> XREAD STREAMS s 0-0                     =%{"s": [["1-1", ["a", "1"]], ["1-2", ["b", "2"]]]}
> XREAD STREAMS s t 1-1 0                 =%{"s": [["1-2", ["b", "2"]]], "t": [["5-0", ["c", "3"]]]}
> XREAD COUNT 1 STREAMS s t 0 0           =%{"s": [["1-1", ["a", "1"]]], "t": [["5-0", ["c", "3"]]]}
> XREAD COUNT 0 STREAMS s 0               =%{"s": [["1-1", ["a", "1"]], ["1-2", ["b", "2"]]]}
> XREAD COUNT -5 STREAMS s 1-1            =%{"s": [["1-2", ["b", "2"]]]}
> XREAD STREAMS s t 1-2 4                 =%{"t": [["5-0", ["c", "3"]]]}
> XREAD STREAMS s t 1-2 5                 =nil-array
> XREAD STREAMS s $                       =nil-array
> XREAD STREAMS none 0                    =nil-array
> XREAD STREAMS none s 0 0                =%{"s": [["1-1", ["a", "1"]], ["1-2", ["b", "2"]]]}
> XREAD BLOCK 1 STREAMS s $               =nil-array
> XREAD BLOCK 1 COUNT 2 STREAMS none s 0 $  =nil-array
> XREAD BLOCK 0 STREAMS s 1               =%{"s": [["1-1", ["a", "1"]], ["1-2", ["b", "2"]]]}
> xread count 1 block 5 streams s 1-1     =%{"s": [["1-2", ["b", "2"]]]}
> XREAD STREAMS s 18446744073709551615-18446744073709551615  =nil-array
> XREAD STREAMS s s 0 1-1                 =%{"s": [["1-1", ["a", "1"]], ["1-2", ["b", "2"]]], "s": [["1-2", ["b", "2"]]]}
> XREAD STREAMS s                         !ERR wrong number of arguments for 'xread' command
> XREAD STREAMS                           !ERR wrong number of arguments for 'xread' command
> XREAD COUNT STREAMS s 0                 !ERR value is not an integer or out of range
> XREAD COUNT x STREAMS s 0               !ERR value is not an integer or out of range
> XREAD COUNT 1 s 0                       !ERR syntax error
> XREAD BLOCK x STREAMS s 0               !ERR timeout is not an integer or out of range
> XREAD BLOCK -1 STREAMS s 0              !ERR timeout is negative
> XREAD BLOCK 1.5 STREAMS s 0             !ERR timeout is not an integer or out of range
> XREAD STREAMS s x                       !ERR Invalid stream ID specified as stream command argument
> XREAD STREAMS s >
!ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option.
> XREAD STREAMS s -                       !ERR Invalid stream ID specified as stream command argument
> XREAD NOACK STREAMS s 0                 !ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.
> XREAD GROUP g c STREAMS s 0             !ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.
> XREAD FOO STREAMS s 0                   !ERR syntax error
> SET text v                              =OK
> XREAD STREAMS text 0                    !WRONGTYPE Operation against a key holding the wrong kind of value
> XREAD STREAMS s text 0 0                !WRONGTYPE Operation against a key holding the wrong kind of value
> XREAD BLOCK 1 STREAMS text $            !WRONGTYPE Operation against a key holding the wrong kind of value
> XDEL t 5-0                              =1
> XREAD STREAMS t 0                       =nil-array
> XREAD STREAMS t $                       =nil-array

since: 7.4 redis.io/commands/xread: + is the last entry
> XREAD STREAMS s +                       =%{"s": [["1-2", ["b", "2"]]]}
> XREAD COUNT 5 STREAMS s t + 0           =%{"s": [["1-2", ["b", "2"]]]}
> XREAD STREAMS none +                    =nil-array
> XREAD BLOCK 1 STREAMS t +               =nil-array

since: 7.2 github.com/redis/redis: the command is named as it is
> XREAD STREAMS s t 0
!ERR Unbalanced 'xread' list of streams: for each stream key an ID or '$' must be specified.
> XREADGROUP GROUP g c STREAMS s s >
!ERR Unbalanced 'xreadgroup' list of streams: for each stream key an ID or '>' must be specified.

# CLAIM: what has been pending for long is taken too, and each entry is told with how it was.
since: 8.4 redis.io/commands/xreadgroup
> DEL claimed                             =0
> XADD claimed 1-0 f v1                   ="1-0"
> XADD claimed 2-0 f v2                   ="2-0"
> XADD claimed 3-0 f v3                   ="3-0"
> XGROUP CREATE claimed g 0               =OK
> XREADGROUP GROUP g a CLAIM 9000000000 COUNT 1 STREAMS claimed >
=%{"claimed": [["1-0", ["f", "v1"], 0, 0]]}
> XREADGROUP GROUP g b CLAIM 9000000000 COUNT 1 STREAMS claimed >
=%{"claimed": [["2-0", ["f", "v2"], 0, 0]]}
> XREADGROUP GROUP g b CLAIM 0 STREAMS claimed >
=%{"claimed": [["1-0", ["f", "v1"], *, 1], ["2-0", ["f", "v2"], *, 1], ["3-0", ["f", "v3"], 0, 0]]}
> XREADGROUP GROUP g b CLAIM 9000000000 STREAMS claimed >  =nil-array
> XPENDING claimed g - + 10               =[["1-0", "b", *, 2], ["2-0", "b", *, 2], ["3-0", "b", *, 1]]
+10
> XREADGROUP GROUP g c CLAIM 0 COUNT 2 STREAMS claimed >
=%{"claimed": [["1-0", ["f", "v1"], *, 2], ["2-0", ["f", "v2"], *, 2]]}
> XREADGROUP GROUP g a COUNT 1 CLAIM 0 STREAMS claimed >
=%{"claimed": [["3-0", ["f", "v3"], *, 1]]}
+10
> XDEL claimed 1-0                        =1
> XREADGROUP GROUP g a CLAIM 0 COUNT 1 STREAMS claimed >
=%{"claimed": [["2-0", ["f", "v2"], *, 3]]}
> XPENDING claimed g                      =[3, "1-0", "3-0", [["a", "2"], ["c", "1"]]]
> XADD claimed 4-0 f v4                   ="4-0"
+10
> XREADGROUP GROUP g d NOACK CLAIM 0 STREAMS claimed >
=%{"claimed": [["3-0", ["f", "v3"], *, 2], ["2-0", ["f", "v2"], *, 4], ["4-0", ["f", "v4"], 0, 0]]}
> XPENDING claimed g                      =[3, "1-0", "3-0", [["c", "1"], ["d", "2"]]]
> XREADGROUP GROUP g d CLAIM 9223372036854775807 STREAMS claimed 0
=%{"claimed": [["2-0", ["f", "v2"]], ["3-0", ["f", "v3"]]]}
> XREADGROUP CLAIM 0 GROUP g d COUNT 1 CLAIM 9223372036854775807 STREAMS claimed >  =nil-array
> XREADGROUP GROUP g d CLAIM x STREAMS claimed >     !ERR min-idle-time is not an integer
> XREADGROUP GROUP g d CLAIM 5.5 STREAMS claimed >   !ERR min-idle-time is not an integer
> XREADGROUP GROUP g d CLAIM +10 STREAMS claimed >   !ERR min-idle-time is not an integer
> XREADGROUP GROUP g d CLAIM -0 STREAMS claimed >    !ERR min-idle-time is not an integer
> XREADGROUP GROUP g d CLAIM -10 STREAMS claimed >   !ERR min-idle-time must be a positive integer
> XREADGROUP GROUP g d CLAIM STREAMS claimed >       !ERR min-idle-time is not an integer
> XREADGROUP GROUP g CLAIM 50 d STREAMS claimed >    !ERR syntax error
> XREADGROUP GROUP no d CLAIM 50 STREAMS claimed >   !NOGROUP No such key 'claimed' or consumer group 'no' in XREADGROUP with GROUP option
> XREAD CLAIM 50 STREAMS claimed 0                   !ERR The CLAIM option is only supported by XREADGROUP. You called XREAD instead.
