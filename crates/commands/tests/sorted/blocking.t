> ZADD k 1 a 2 b 3 c 4 d                  =4
> BZPOPMIN k 0                            =["k", "a", ~1]
> BZPOPMAX k 0                            =["k", "d", ~4]
> BZPOPMIN none k 1                       =["k", "b", ~2]
> BZPOPMIN none 0.01                      =nil-array
> BZPOPMAX none 0.01                      =nil-array
> BZMPOP 0 1 k MIN                        =["k", [["c", ~3]]]
> EXISTS k                                =0
> BZMPOP 0.01 1 k MIN                     =nil-array
> ZADD k 1 a 2 b 3 c                      =3
> BZMPOP 0.01 2 none k MAX COUNT 2        =["k", [["c", ~3], ["b", ~2]]]
> BZMPOP 0.01 2 k none MAX COUNT 10       =["k", [["a", ~1]]]
> BZPOPMIN k -1                           !ERR timeout is negative
> BZPOPMIN k abc                          !ERR timeout is not a float or out of range
> BZPOPMIN k nan                          !ERR timeout is not a float or out of range
> BZPOPMAX k ""                           !ERR timeout is not a float or out of range
> BZMPOP abc 1 k MIN                      !ERR timeout is not a float or out of range
> BZMPOP -1 1 k MIN                       !ERR timeout is negative
> BZMPOP 1 0 k MIN                        !ERR numkeys should be greater than 0
> BZMPOP 1 abc k MIN                      !ERR numkeys should be greater than 0
> BZMPOP 1 2 k MIN                        !ERR syntax error
> BZMPOP 1 1 k MIDDLE                     !ERR syntax error
> BZMPOP 1 1 k MIN COUNT 0                !ERR count should be greater than 0
> BZMPOP 1 1 k MIN COUNT 0 2              !ERR count should be greater than 0
> BZMPOP 1 1 k MIN COUNT abc              !ERR count should be greater than 0
> BZMPOP 1 1 k MIN COUNT 1 2              !ERR syntax error
> BZMPOP 1 1 k MIN COUNT                  !ERR syntax error
> BZMPOP 1 1 k MIN FOO 1                  !ERR syntax error
> SET s v                                 =OK
> BZPOPMIN s 0                            !WRONGTYPE Operation against a key holding the wrong kind of value
> BZPOPMAX none s 0.01                    !WRONGTYPE Operation against a key holding the wrong kind of value
> BZMPOP 1 1 s MIN                        !WRONGTYPE Operation against a key holding the wrong kind of value
> BZPOPMIN k                              !ERR wrong number of arguments for 'bzpopmin' command
> BZPOPMAX k                              !ERR wrong number of arguments for 'bzpopmax' command
> BZMPOP 1 1 k                            !ERR wrong number of arguments for 'bzmpop' command
