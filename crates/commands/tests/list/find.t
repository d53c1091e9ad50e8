> RPUSH k a b c d 1 2 3 4 3 3 3           =11
> LPOS k 3                                =6
> LPOS k c                                =2
> LPOS k 3 COUNT 0 RANK 2                 =[8, 9, 10]
> LPOS k 3 COUNT 0                        =[6, 8, 9, 10]
> LPOS k 3 COUNT 2                        =[6, 8]
> LPOS k 3 RANK -1                        =10
> LPOS k 3 RANK 2                         =8
> LPOS k 3 RANK -2 COUNT 2                =[9, 8]
> LPOS k 3 RANK 5                         =nil
> LPOS k 3 RANK 100                       =nil
> LPOS k 3 RANK 100 COUNT 0               =[]
> LPOS k 3 RANK -100                      =nil
> LPOS k 3 MAXLEN 5                       =nil
> LPOS k 3 MAXLEN 7                       =6
> LPOS k 3 MAXLEN 0                       =6
> LPOS k 3 COUNT 0 MAXLEN 9               =[6, 8]
> LPOS k 3 RANK -1 MAXLEN 2 COUNT 0       =[10, 9]
> LPOS k a RANK -1 MAXLEN 10              =nil
> LPOS k a RANK -1 MAXLEN 11              =0
> LPOS k a RANK 1                         =0
> LPOS k x                                =nil
> LPOS k x COUNT 0                        =[]
> LPOS missing a                          =nil
> LPOS missing a COUNT 1                  =[]
> lpos k 3 count 1 rank 1 maxlen 1000     =[6]
> LPOS k 3 COUNT 1 COUNT 2                =[6, 8]
> LPOS k 3 RANK 0                         !ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list
> LPOS k 3 RANK abc                       !ERR value is not an integer or out of range
> LPOS k 3 RANK 9223372036854775807       =nil
> LPOS k 3 RANK -9223372036854775807      =nil
> LPOS k 3 COUNT -1                       !ERR COUNT can't be negative
> LPOS k 3 COUNT abc                      !ERR COUNT can't be negative
> LPOS k 3 MAXLEN -1                      !ERR MAXLEN can't be negative
> LPOS k 3 MAXLEN abc                     !ERR MAXLEN can't be negative
> LPOS k 3 RANK                           !ERR syntax error
> LPOS k 3 FOO 1                          !ERR syntax error
> LPOS k 3 COUNT                          !ERR syntax error
> LPOS missing 3 RANK 0                   !ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list
> SET s v                                 =OK
> LPOS s a                                !WRONGTYPE Operation against a key holding the wrong kind of value
> LPOS s a RANK 0                         !ERR RANK can't be zero: use 1 to start from the first match, 2 from the second ... or use negative to start from the end of the list
> LPOS k                                  !ERR wrong number of arguments for 'lpos' command

since: 7.2 github.com/redis/redis/pull/12167: a rank that has no opposite is out of range
> LPOS k 3 RANK -9223372036854775808      !ERR value is out of range
