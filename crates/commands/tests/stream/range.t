> XADD s 1-1 a 1                          ="1-1"
> XADD s 1-2 a 2 b x                      ="1-2"
> XADD s 2-0 a 3                          ="2-0"
> XADD s 3-5 c 4                          ="3-5"
> XRANGE s - +                            =[["1-1", ["a", "1"]], ["1-2", ["a", "2", "b", "x"]], ["2-0", ["a", "3"]], ["3-5", ["c", "4"]]]
> XREVRANGE s + -                         =[["3-5", ["c", "4"]], ["2-0", ["a", "3"]], ["1-2", ["a", "2", "b", "x"]], ["1-1", ["a", "1"]]]
> XRANGE s 1 1                            =[["1-1", ["a", "1"]], ["1-2", ["a", "2", "b", "x"]]]
> XRANGE s 1-2 2                          =[["1-2", ["a", "2", "b", "x"]], ["2-0", ["a", "3"]]]
> XRANGE s (1-1 (3-5                      =[["1-2", ["a", "2", "b", "x"]], ["2-0", ["a", "3"]]]
> XRANGE s (1 +                           =[["1-1", ["a", "1"]], ["1-2", ["a", "2", "b", "x"]], ["2-0", ["a", "3"]], ["3-5", ["c", "4"]]]
> XRANGE s - (2                           =[["1-1", ["a", "1"]], ["1-2", ["a", "2", "b", "x"]], ["2-0", ["a", "3"]]]
> XRANGE s (1-2 2-0                       =[["2-0", ["a", "3"]]]
> XREVRANGE s 2 1-2                       =[["2-0", ["a", "3"]], ["1-2", ["a", "2", "b", "x"]]]
> XREVRANGE s (3-5 (1-1                   =[["2-0", ["a", "3"]], ["1-2", ["a", "2", "b", "x"]]]
> XRANGE s + -                            =[]
> XRANGE s 5 9                            =[]
> XRANGE s 3 1                            =[]
> XREVRANGE s 1 3                         =[]
> XRANGE s - + COUNT 2                    =[["1-1", ["a", "1"]], ["1-2", ["a", "2", "b", "x"]]]
> XREVRANGE s + - COUNT 1                 =[["3-5", ["c", "4"]]]
> XRANGE s - + COUNT 0                    =nil-array
> XRANGE s - + COUNT -1                   =nil-array
> XRANGE s - + COUNT x                    !ERR value is not an integer or out of range
> XRANGE s - + COUNT                      !ERR syntax error
> XRANGE s - + LIMIT 1                    !ERR syntax error
> XRANGE s - + COUNT 1 COUNT 2            =[["1-1", ["a", "1"]], ["1-2", ["a", "2", "b", "x"]]]
> XRANGE s (- +                           !ERR Invalid stream ID specified as stream command argument
> XRANGE s - (+                           !ERR Invalid stream ID specified as stream command argument
> XRANGE s ( +                            !ERR Invalid stream ID specified as stream command argument
> XRANGE s (18446744073709551615-18446744073709551615 +  !ERR invalid start ID for the interval
> XRANGE s - (0-0                         !ERR invalid end ID for the interval
> XRANGE s x +                            !ERR Invalid stream ID specified as stream command argument
> XRANGE s - 1-x                          !ERR Invalid stream ID specified as stream command argument
> XREVRANGE s - +                         =[]
> XREVRANGE s x y                         !ERR Invalid stream ID specified as stream command argument
> XRANGE none - +                         =[]
> XRANGE none - + COUNT 0                 =[]
> XREVRANGE none + -                      =[]
> SET text v                              =OK
> XRANGE text - +                         !WRONGTYPE Operation against a key holding the wrong kind of value
> XRANGE text - + COUNT 0                 !WRONGTYPE Operation against a key holding the wrong kind of value
> XREVRANGE text + -                      !WRONGTYPE Operation against a key holding the wrong kind of value
> XRANGE s -                              !ERR wrong number of arguments for 'xrange' command
> XLEN s                                  =4
