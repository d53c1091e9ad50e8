> ZSCAN none 0                            =["0", []]
> ZADD k 1 a 2.5 b -3 ab                  =3
> ZSCAN k 0                               =["0", ["ab", "-3", "a", "1", "b", "2.5"]]
> ZSCAN k 0 MATCH a*                      =["0", ["ab", "-3", "a", "1"]]
> ZSCAN k 0 MATCH a* COUNT 1              =["0", ["ab", "-3", "a", "1"]]
> ZSCAN k 0 MATCH none                    =["0", []]
> ZSCAN k 0 COUNT 0                       !ERR syntax error
> ZSCAN k 0 COUNT -1                      !ERR syntax error
> ZSCAN k 0 COUNT x                       !ERR value is not an integer or out of range
> ZSCAN k 0 FOO                           !ERR syntax error
> ZSCAN k 0 MATCH                         !ERR syntax error
> ZSCAN k 0 FOO 1                         !ERR syntax error
> ZSCAN k 5                               =["0", ["ab", "-3", "a", "1", "b", "2.5"]]
> ZSCAN k x                               !ERR invalid cursor
> ZSCAN none 0 FOO                        =["0", []]
> SET s v                                 =OK
> ZSCAN s 0                               !WRONGTYPE Operation against a key holding the wrong kind of value
> ZSCAN s x                               !ERR invalid cursor
> ZSCAN k                                 !ERR wrong number of arguments for 'zscan' command
> ZADD big 1 01234567890123456789012345678901234567890123456789012345678901234 2 b  =2
> ZREM big b                              =1
> ZSCAN big 0                             =["0", ["01234567890123456789012345678901234567890123456789012345678901234", "1"]]
