> RPUSH k one two three                   =3
> LLEN k                                  =3
> LLEN missing                            =0
> LRANGE k 0 0                            =["one"]
> LRANGE k -3 2                           =["one", "two", "three"]
> LRANGE k -100 100                       =["one", "two", "three"]
> LRANGE k 5 10                           =[]
> LRANGE k 0 -1                           =["one", "two", "three"]
> LRANGE k 1 1                            =["two"]
> LRANGE k -2 -1                          =["two", "three"]
> LRANGE k 2 1                            =[]
> LRANGE k -1 -2                          =[]
> LRANGE k 0 -100                         =[]
> LRANGE k -9223372036854775808 9223372036854775807  =["one", "two", "three"]
> LRANGE k 9223372036854775807 9223372036854775807  =[]
> LRANGE missing 0 -1                     =[]
> LRANGE k a 1                            !ERR value is not an integer or out of range
> LRANGE k 0 b                            !ERR value is not an integer or out of range
> LRANGE missing a b                      !ERR value is not an integer or out of range
> LRANGE k 0                              !ERR wrong number of arguments for 'lrange' command
> LRANGE k 0 1 2                          !ERR wrong number of arguments for 'lrange' command
> LINDEX k 0                              ="one"
> LINDEX k -1                             ="three"
> LINDEX k 2                              ="three"
> LINDEX k 3                              =nil
> LINDEX k -3                             ="one"
> LINDEX k -4                             =nil
> LINDEX k -9223372036854775808           =nil
> LINDEX k 9223372036854775807            =nil
> LINDEX k abc                            !ERR value is not an integer or out of range
> LINDEX missing 0                        =nil
> LINDEX missing abc                      =nil
> LINDEX k                                !ERR wrong number of arguments for 'lindex' command
> SET s v                                 =OK
> LLEN s                                  !WRONGTYPE Operation against a key holding the wrong kind of value
> LRANGE s 0 -1                           !WRONGTYPE Operation against a key holding the wrong kind of value
> LINDEX s 0                              !WRONGTYPE Operation against a key holding the wrong kind of value
> LINDEX s abc                            !WRONGTYPE Operation against a key holding the wrong kind of value
> LRANGE s a b                            !ERR value is not an integer or out of range
> LLEN                                    !ERR wrong number of arguments for 'llen' command
> LLEN k s                                !ERR wrong number of arguments for 'llen' command
> RPUSH mixed 1 22 333 "" 4444 "a b"      =6
> LRANGE mixed 0 -1                       =["1", "22", "333", "", "4444", "a b"]
> LRANGE mixed 1 4                        =["22", "333", "", "4444"]
> LINDEX mixed 3                          =""
