# What is there is taken at once; what is not is waited for until the time is up.
> RPUSH k a b c                           =3
> BLPOP k 0                               =["k", "a"]
> BRPOP k 0                               =["k", "c"]
> BLPOP none k 0                          =["k", "b"]
> EXISTS k                                =0
> BLPOP k 0.01                            =nil-array
> BRPOP k none 0.01                       =nil-array
> BLPOP k none 0.001                      =nil-array
> RPUSH k a b                             =2
> RPUSH k2 x                              =1
> BLPOP k2 k 0                            =["k2", "x"]
> BRPOP k2 k 0                            =["k", "b"]
> blpop k 1                               =["k", "a"]
> SET s v                                 =OK
> BLPOP s 0                               !WRONGTYPE Operation against a key holding the wrong kind of value
> BLPOP none s 0.01                       !WRONGTYPE Operation against a key holding the wrong kind of value
> RPUSH k a                               =1
> BLPOP s k 0                             !WRONGTYPE Operation against a key holding the wrong kind of value
> BLPOP k s 0                             =["k", "a"]
> BLPOP none 0.01                         =nil-array
> BLPOP k -1                              !ERR timeout is negative
> BLPOP k abc                             !ERR timeout is not a float or out of range
> BLPOP s -1                              !ERR timeout is negative
> BLPOP s abc                             !ERR timeout is not a float or out of range
> BLPOP k ""                              !ERR timeout is not a float or out of range
> BLPOP k nan                             !ERR timeout is not a float or out of range
> BLPOP k                                 !ERR wrong number of arguments for 'blpop' command
> BRPOP k                                 !ERR wrong number of arguments for 'brpop' command
> BRPOP k -0.5                            !ERR timeout is negative

since: 7.2 github.com/redis/redis/pull/11338: what overflows is out of range
> BLPOP k inf                             !ERR timeout is out of range
> BLPOP k 1e30                            !ERR timeout is out of range
> BLPOP k 9223372036854775807             !ERR timeout is out of range

# BLMPOP
> RPUSH k one two three                   =3
> BLMPOP 0 2 none k LEFT                  =["k", ["one"]]
> BLMPOP 0.01 1 none LEFT                 =nil-array
> BLMPOP 0 1 k RIGHT COUNT 10             =["k", ["three", "two"]]
> BLMPOP 0.01 2 k none RIGHT COUNT 10     =nil-array
> BLMPOP abc 1 k LEFT                     !ERR timeout is not a float or out of range
> BLMPOP -1 1 k LEFT                      !ERR timeout is negative
> BLMPOP 1 0 k LEFT                       !ERR numkeys should be greater than 0
> BLMPOP 1 abc k LEFT                     !ERR numkeys should be greater than 0
> BLMPOP 1 2 k LEFT                       !ERR syntax error
> BLMPOP 1 1 k MIDDLE                     !ERR syntax error
> BLMPOP 1 1 k LEFT COUNT 0               !ERR count should be greater than 0
> BLMPOP 1 1 k LEFT COUNT 0 2             !ERR count should be greater than 0
> BLMPOP 1 1 k LEFT COUNT abc             !ERR count should be greater than 0
> BLMPOP 1 1 k LEFT COUNT 1 2             !ERR syntax error
> BLMPOP 1 1 k LEFT COUNT                 !ERR syntax error
> BLMPOP 1 1 k LEFT FOO 1                 !ERR syntax error
> BLMPOP 1 1 s LEFT                       !WRONGTYPE Operation against a key holding the wrong kind of value
> BLMPOP 1 1 k                            !ERR wrong number of arguments for 'blmpop' command

# BLMOVE BRPOPLPUSH
> RPUSH k one two three                   =3
> BLMOVE k other LEFT RIGHT 0             ="one"
> BRPOPLPUSH k other 0                    ="three"
> LRANGE other 0 -1                       =["three", "one"]
> BLMOVE k k LEFT RIGHT 0                 ="two"
> BLMOVE none other LEFT LEFT 0.01        =nil-array
> BRPOPLPUSH none other 0.01              =nil-array
> BLMOVE none s LEFT LEFT 0.01            =nil-array
> BLMOVE k s LEFT LEFT 0                  !WRONGTYPE Operation against a key holding the wrong kind of value
> BLMOVE s k LEFT LEFT 0                  !WRONGTYPE Operation against a key holding the wrong kind of value
> BRPOPLPUSH s k 0                        !WRONGTYPE Operation against a key holding the wrong kind of value
> BRPOPLPUSH k s 0                        !WRONGTYPE Operation against a key holding the wrong kind of value
> BLMOVE k other LEFT UP 0                !ERR syntax error
> BLMOVE k other UP LEFT 0                !ERR syntax error
> BLMOVE k other LEFT UP abc              !ERR syntax error
> BLMPOP abc 0 k LEFT                     !ERR numkeys should be greater than 0
> BLMPOP abc 1 k UP                       !ERR syntax error
> BLMPOP abc 1 k LEFT COUNT 0             !ERR count should be greater than 0
> BLMOVE k other LEFT LEFT abc            !ERR timeout is not a float or out of range
> BLMOVE k other LEFT LEFT -1             !ERR timeout is negative
> BRPOPLPUSH k other abc                  !ERR timeout is not a float or out of range
> BRPOPLPUSH k other -1                   !ERR timeout is negative
> BLMOVE k other LEFT LEFT                !ERR wrong number of arguments for 'blmove' command
> BRPOPLPUSH k other                      !ERR wrong number of arguments for 'brpoplpush' command
> LRANGE k 0 -1                           =["two"]
