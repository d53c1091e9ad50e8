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
