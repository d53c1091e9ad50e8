> ZRANDMEMBER none                        =nil
> ZRANDMEMBER none 3                      =[]
> ZRANDMEMBER none -3 WITHSCORES          =[]
> ZADD k 1 a                              =1
> ZRANDMEMBER k                           ="a"
> ZRANDMEMBER k 1                         =["a"]
> ZRANDMEMBER k 5                         =["a"]
> ZRANDMEMBER k 0                         =[]
> ZRANDMEMBER k -3                        =["a", "a", "a"]
> ZRANDMEMBER k 1 WITHSCORES              =@{"a": ~1}
> ZRANDMEMBER k -2 WITHSCORES             =@{"a": ~1, "a": ~1}
> ZADD k 2 b 3 c                          =2
> ZRANDMEMBER k 3  =?["a", "b", "c"]
> ZRANDMEMBER k 100  =?["a", "b", "c"]
> ZRANDMEMBER k x                         !ERR value is not an integer or out of range
> ZRANDMEMBER k 1 FOO                     !ERR syntax error
> ZRANDMEMBER k 1 WITHSCORES 2            !ERR syntax error
> ZRANDMEMBER k -9223372036854775808
!ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807
> ZRANDMEMBER k 9223372036854775807 WITHSCORES  !ERR value is out of range
> ZRANDMEMBER k 9223372036854775808       !ERR value is not an integer or out of range
> SET s v                                 =OK
> ZRANDMEMBER s                           !WRONGTYPE Operation against a key holding the wrong kind of value
> ZRANDMEMBER s 1                         !WRONGTYPE Operation against a key holding the wrong kind of value
> ZRANDMEMBER s x                         !ERR value is not an integer or out of range
> ZRANDMEMBER                             !ERR wrong number of arguments for 'zrandmember' command
