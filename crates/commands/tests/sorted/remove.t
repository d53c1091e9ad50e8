> ZADD k 1 a 2 b 3 c 4 d 5 e 6 f 7 g 8 h  =8
> ZREM k a none                           =1
> ZREM k a                                =0
> ZREM k b b c                            =2
> ZRANGE k 0 -1                           =["d", "e", "f", "g", "h"]
> ZREM none a                             =0
> ZREMRANGEBYRANK k 0 0                   =1
> ZREMRANGEBYRANK k -1 -1                 =1
> ZRANGE k 0 -1                           =["e", "f", "g"]
> ZREMRANGEBYRANK k 5 9                   =0
> ZREMRANGEBYRANK k 2 1                   =0
> ZREMRANGEBYRANK none 0 -1               =0
> ZREMRANGEBYSCORE k (5 6                 =1
> ZREMRANGEBYSCORE k 100 inf              =0
> ZREMRANGEBYSCORE none 1 2               =0
> ZRANGE k 0 -1 WITHSCORES                =@{"e": ~5, "g": ~7}
> ZREMRANGEBYRANK k 0 -1                  =2
> EXISTS k                                =0
> ZADD l 0 a 0 b 0 c 0 d                  =4
> ZREMRANGEBYLEX l [b (d                  =2
> ZRANGE l 0 -1                           =["a", "d"]
> ZREMRANGEBYLEX l + -                    =0
> ZREMRANGEBYLEX none - +                 =0
> ZREMRANGEBYLEX l - +                    =2
> EXISTS l                                =0
> ZADD k 1 a 2 b                          =2
> ZREMRANGEBYSCORE k -inf +inf            =2
> EXISTS k                                =0
> ZADD k 1 a 2 b                          =2
> ZREM k b a b                            =2
> EXISTS k                                =0
> ZREMRANGEBYRANK k x 1                   !ERR value is not an integer or out of range
> ZREMRANGEBYRANK k 0 x                   !ERR value is not an integer or out of range
> ZREMRANGEBYSCORE k x 1                  !ERR min or max is not a float
> ZREMRANGEBYLEX k a +                    !ERR min or max not valid string range item
> SET s v                                 =OK
> ZREM s a                                !WRONGTYPE Operation against a key holding the wrong kind of value
> ZREMRANGEBYRANK s 0 1                   !WRONGTYPE Operation against a key holding the wrong kind of value
> ZREMRANGEBYSCORE s 0 1                  !WRONGTYPE Operation against a key holding the wrong kind of value
> ZREMRANGEBYLEX s - +                    !WRONGTYPE Operation against a key holding the wrong kind of value
> ZREM k                                  !ERR wrong number of arguments for 'zrem' command
> ZREMRANGEBYRANK k 0                     !ERR wrong number of arguments for 'zremrangebyrank' command
> ZREMRANGEBYSCORE k 0                    !ERR wrong number of arguments for 'zremrangebyscore' command
> ZREMRANGEBYLEX k -                      !ERR wrong number of arguments for 'zremrangebylex' command
