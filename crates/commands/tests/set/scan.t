> SSCAN missing 0                         =["0", []]
> SSCAN missing 0 FOO                     =["0", []]
> SADD s aa ab b                          =3
> SSCAN s 0                               =["0", ?["aa", "ab", "b"]]
> SSCAN s 0 MATCH a*                      =["0", ?["aa", "ab"]]
> SSCAN s 0 MATCH a* COUNT 100 MATCH *b   =["0", ?["ab", "b"]]
> sscan s 0 count 1000 match *            =["0", ?["aa", "ab", "b"]]
> SADD i 3 1 2                            =3
> SSCAN i 0 COUNT 1                       =["0", ["1", "2", "3"]]
> SSCAN i 5                               =["0", ["1", "2", "3"]]
> SSCAN s 0 COUNT 0                       !ERR syntax error
> SSCAN s 0 COUNT x                       !ERR value is not an integer or out of range
> SSCAN s 0 COUNT                         !ERR syntax error
> SSCAN s 0 NOVALUES                      !ERR syntax error
> SSCAN s x                               !ERR invalid cursor
> SSCAN s -1x                             !ERR invalid cursor
> SET t v                                 =OK
> SSCAN t 0                               !WRONGTYPE Operation against a key holding the wrong kind of value
> SSCAN t x                               !ERR invalid cursor
> SSCAN s                                 !ERR wrong number of arguments for 'sscan' command

since: 7.2 redis.io/commands/object-encoding: a small set of texts is a listpack, in the order in which they came
> SADD l 2 x 1 a                          =4
> SSCAN l 0                               =["0", ["2", "x", "1", "a"]]
> SADD m 9 1 x 5                          =4
> SSCAN m 0                               =["0", ["1", "9", "x", "5"]]
