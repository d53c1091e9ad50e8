> HINCRBY k n 5                           =5
> HINCRBY k n -7                          =-2
> HSET k t text max 9223372036854775807 half 10.50 e 5.0e3  =4
> HINCRBY k t 1                           !ERR hash value is not an integer
> HINCRBY k half 1                        !ERR hash value is not an integer
> HINCRBY k max 1                         !ERR increment or decrement would overflow
> HINCRBY k max 0                         =9223372036854775807
> HINCRBY k n x                           !ERR value is not an integer or out of range
> HINCRBY k n 1.5                         !ERR value is not an integer or out of range
> HINCRBY k n 9223372036854775808         !ERR value is not an integer or out of range
> HINCRBYFLOAT k half 0.1                 ="10.6"
> HINCRBYFLOAT k half -5                  ="5.6"
> HINCRBYFLOAT k e 2.0e2                  ="5200"
> HINCRBYFLOAT k new 3                    ="3"
> HINCRBYFLOAT k n 1.5                    ="-0.5"
> HINCRBYFLOAT k t 1                      !ERR hash value is not a float
> HINCRBYFLOAT k half x                   !ERR value is not a valid float
> HGET k half                             ="5.6"
> HINCRBY k new 1                         =4
> SET s v                                 =OK
> HINCRBY s n 1                           !WRONGTYPE Operation against a key holding the wrong kind of value
> HINCRBYFLOAT s n 1                      !WRONGTYPE Operation against a key holding the wrong kind of value
> HINCRBY s n x                           !ERR value is not an integer or out of range
> HINCRBYFLOAT s n x                      !ERR value is not a valid float
> HINCRBY k n                             !ERR wrong number of arguments for 'hincrby' command
> HINCRBYFLOAT k n                        !ERR wrong number of arguments for 'hincrbyfloat' command
> HINCRBYFLOAT fresh f inf                !ERR value is NaN or Infinity
> EXISTS fresh                            =0
