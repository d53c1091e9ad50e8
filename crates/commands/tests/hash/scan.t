> HSCAN missing 0                         =["0", []]
> HSCAN missing 7                         =["0", []]
> HSET k a 1 b 2 ab 3                     =3
> HSCAN k 0                               =["0", ["a", "1", "b", "2", "ab", "3"]]
> HSCAN k 0 MATCH a*                      =["0", ["a", "1", "ab", "3"]]
> HSCAN k 0 COUNT 1                       =["0", ["a", "1", "b", "2", "ab", "3"]]
> HSCAN k 0 MATCH x COUNT 1               =["0", []]
> HSET k big 01234567890123456789012345678901234567890123456789012345678901234  =1
> HSCAN k 0 MATCH a* COUNT 1000           =["0", ?["a", "1", "ab", "3"]]
> HSCAN k 0 COUNT 0                       !ERR syntax error
> HSCAN k 0 COUNT x                       !ERR value is not an integer or out of range
> HSCAN k 0 COUNT                         !ERR syntax error
> HSCAN k 0 FOO 1                         !ERR syntax error
> HSCAN k x                               !ERR invalid cursor
> HSCAN k                                 !ERR wrong number of arguments for 'hscan' command
> SET s v                                 =OK
> HSCAN s 0                               !WRONGTYPE Operation against a key holding the wrong kind of value

since: 7.4 redis.io/commands/hscan
> HSCAN k 0 MATCH a* COUNT 1000 NOVALUES  =["0", ?["a", "ab"]]
> HSCAN k 0 NOVALUES x                    !ERR syntax error
