> XADD s 1-1 a 1                          ="1-1"
> XADD s 1-1 a 1                          !ERR The ID specified in XADD is equal or smaller than the target stream top item
> XADD s 1-0 a 1                          !ERR The ID specified in XADD is equal or smaller than the target stream top item
> XADD s 1-* b 2 c 3                      ="1-2"
> XADD s 2 a 1                            ="2-0"
> XADD s 2-* a ""                         ="2-1"
> XADD s 5-* a 1                          ="5-0"
> XADD s 4-* a 1                          !ERR The ID specified in XADD is equal or smaller than the target stream top item
> XADD s 0-0 a 1                          !ERR The ID specified in XADD must be greater than 0-0
> XADD other 0-0 a 1                      !ERR The ID specified in XADD must be greater than 0-0
> XADD other 0 a 1                        !ERR The ID specified in XADD must be greater than 0-0
> EXISTS other                            =0
> XADD other 0-* a 1                      ="0-1"
> XADD other 0-* a 1                      ="0-2"
> XLEN s                                  =5
> XRANGE s - +
=[["1-1", ["a", "1"]], ["1-2", ["b", "2", "c", "3"]], ["2-0", ["a", "1"]], ["2-1", ["a", ""]], ["5-0", ["a", "1"]]]
> XADD s NOMKSTREAM 6-0 a 1               ="6-0"
> XADD none NOMKSTREAM 6-0 a 1            =nil
> EXISTS none                             =0
> XADD s 7-0 a                            !ERR wrong number of arguments for 'xadd' command
> XADD s 7-0 a 1 b                        !ERR wrong number of arguments for 'xadd' command
> XADD s MAXLEN 3 7-0                     !ERR wrong number of arguments for 'xadd' command
> XADD s 7-0                              !ERR wrong number of arguments for 'xadd' command
> XADD s -1 a 1                           !ERR Invalid stream ID specified as stream command argument
> XADD s abc a 1                          !ERR Invalid stream ID specified as stream command argument
> XADD s 7-x a 1                          !ERR Invalid stream ID specified as stream command argument
> XADD s 7-- a 1                          !ERR Invalid stream ID specified as stream command argument
> XADD s + a 1                            !ERR Invalid stream ID specified as stream command argument
> XADD s - a 1                            !ERR Invalid stream ID specified as stream command argument
> XADD s $ a 1                            !ERR Invalid stream ID specified as stream command argument
> XADD s 007-01 a 1                       ="7-1"
> XADD s 18446744073709551616 a 1         !ERR Invalid stream ID specified as stream command argument
> XADD s MAXLEN 2 8-0 a 1                 ="8-0"
> XLEN s                                  =2
> XADD s MAXLEN = 1 9-0 a 1               ="9-0"
> XRANGE s - +                            =[["9-0", ["a", "1"]]]
> XADD s MAXLEN ~ 0 10-0 a 1              ="10-0"
> XADD s MINID 10 11-0 a 1                ="11-0"
> XRANGE s - +                            =[["11-0", ["a", "1"]]]
> XADD s MAXLEN 0 12-0 a 1                ="12-0"
> XLEN s                                  =0
> EXISTS s                                =1
> XADD s MAXLEN -1 13-0 a 1               !ERR The MAXLEN argument must be >= 0.
> XADD s MAXLEN x 13-0 a 1                !ERR value is not an integer or out of range
> XADD s MINID x 13-0 a 1                 !ERR Invalid stream ID specified as stream command argument
> XADD s MAXLEN 1 MINID 3 13-0 a 1        !ERR syntax error, MAXLEN and MINID options at the same time are not compatible
> XADD s MAXLEN 1 MAXLEN 3 13-0 a 1       !ERR syntax error, MAXLEN and MINID options at the same time are not compatible
> XADD s LIMIT 5 13-0 a 1                 !ERR syntax error, LIMIT cannot be used without specifying a trimming strategy
> XADD s LIMIT 0 13-0 a 1                 !ERR syntax error, LIMIT cannot be used without the special ~ option
> XADD s MAXLEN 5 LIMIT 5 14-0 a 1        !ERR syntax error, LIMIT cannot be used without the special ~ option
> XADD s MAXLEN ~ 5 LIMIT 5 14-0 a 1      ="14-0"
> XADD s MAXLEN ~ 5 LIMIT -1 15-0 a 1     !ERR The LIMIT argument must be >= 0.
> XADD s MAXLEN ~ 5 LIMIT x 15-0 a 1      !ERR value is not an integer or out of range
> xadd s nomkstream maxlen ~ 5 limit 0 15-0 a 1  ="15-0"
> XADD s 18446744073709551615-18446744073709551615 a 1  ="18446744073709551615-18446744073709551615"
> XADD s * a 1                            !ERR The stream has exhausted the last possible ID, unable to add more items
> XADD s 18446744073709551615-* a 1       !ERR The stream has exhausted the last possible ID, unable to add more items
> XADD late 18446744073709551615-18446744073709551614 a 1  ="18446744073709551615-18446744073709551614"
> XADD late * a 1                         ="18446744073709551615-18446744073709551615"
> XRANGE late - +
=[["18446744073709551615-18446744073709551614", ["a", "1"]], ["18446744073709551615-18446744073709551615", ["a", "1"]]]
> XADD late * a 1                         !ERR The stream has exhausted the last possible ID, unable to add more items
> XADD many 5-0 a 1 a 2 b 3               ="5-0"
> XADD many 5-1 b 3 a 2                   ="5-1"
> XRANGE many - +                         =[["5-0", ["a", "1", "a", "2", "b", "3"]], ["5-1", ["b", "3", "a", "2"]]]
> TYPE s                                  =stream
> OBJECT ENCODING s                       ="stream"
> SET text v                              =OK
> XADD text * a 1                         !WRONGTYPE Operation against a key holding the wrong kind of value
> XADD text NOMKSTREAM * a 1              !WRONGTYPE Operation against a key holding the wrong kind of value
> XLEN text                               !WRONGTYPE Operation against a key holding the wrong kind of value
> XLEN none                               =0
> XADD s                                  !ERR wrong number of arguments for 'xadd' command
> XADD s * a                              !ERR wrong number of arguments for 'xadd' command
> COPY many copy                          =1
> XRANGE copy 5-1 +                       =[["5-1", ["b", "3", "a", "2"]]]
> RENAME copy renamed                     =OK
> XLEN renamed                            =2
