> HRANDFIELD missing                      =nil
> HRANDFIELD missing 5                    =[]
> HRANDFIELD missing -5 WITHVALUES        =[]
> HSET k a 1                              =1
> HRANDFIELD k                            ="a"
> HRANDFIELD k 1                          =["a"]
> HRANDFIELD k 5                          =["a"]
> HRANDFIELD k -3                         =["a", "a", "a"]
> HRANDFIELD k 0                          =[]
> HSET k b 1 c 1                          =2
> HRANDFIELD k 3                          =?["a", "b", "c"]
> HRANDFIELD k 1000                       =?["a", "b", "c"]
> SET s v                                 =OK
> HRANDFIELD s                            !WRONGTYPE Operation against a key holding the wrong kind of value
> HRANDFIELD s 1                          !WRONGTYPE Operation against a key holding the wrong kind of value
> HRANDFIELD k x                          !ERR value is not an integer or out of range
> HRANDFIELD k 1 VALUES                   !ERR syntax error
> HRANDFIELD k 1 WITHVALUES more          !ERR syntax error
> HRANDFIELD k -9223372036854775808       !ERR value is out of range
> HRANDFIELD k -9223372036854775807 WITHVALUES  !ERR value is out of range
> HRANDFIELD                              !ERR wrong number of arguments for 'hrandfield' command
