> XADD s 1-0 a 1                          ="1-0"
> XADD s 2-0 a 1                          ="2-0"
> XADD s 3-0 a 1                          ="3-0"
> XADD s 4-0 a 1                          ="4-0"
> XADD s 4-1 a 1                          ="4-1"
> XADD s 5-0 a 1                          ="5-0"
> XTRIM s MAXLEN 10                       =0
> XTRIM s MAXLEN = 5                      =1
> XTRIM s MAXLEN ~ 1                      =0
> XTRIM s MINID 3                         =1
> XTRIM s MINID = 4-1                     =2
> XRANGE s - +                            =[["4-1", ["a", "1"]], ["5-0", ["a", "1"]]]
> XTRIM s MINID ~ 5                       =0
> XTRIM s MINID ~ 100                     =2
> XLEN s                                  =0
> EXISTS s                                =1
> XADD s 6-0 a 1                          ="6-0"
> XADD s 7-0 a 1                          ="7-0"
> XTRIM s MAXLEN ~ 0 LIMIT 1              =0
> XTRIM s MAXLEN ~ 0 LIMIT 2              =2
> XADD s 8-0 a 1                          ="8-0"
> xtrim s maxlen 0                        =1
> XTRIM s MAXLEN 0                        =0
> XTRIM s MAXLEN                          !ERR wrong number of arguments for 'xtrim' command
> XTRIM s MAXLEN ~                        !ERR value is not an integer or out of range
> XTRIM s MAXLEN -1                       !ERR The MAXLEN argument must be >= 0.
> XTRIM s MAXLEN x                        !ERR value is not an integer or out of range
> XTRIM s MINID x                         !ERR Invalid stream ID specified as stream command argument
> XTRIM s MINID -                         !ERR Invalid stream ID specified as stream command argument
> XTRIM s MAXLEN 5 LIMIT 5                !ERR syntax error, LIMIT cannot be used without the special ~ option
> XTRIM s MAXLEN = 5 LIMIT 5              !ERR syntax error, LIMIT cannot be used without the special ~ option
> XTRIM s MAXLEN ~ 5 LIMIT -1             !ERR The LIMIT argument must be >= 0.
> XTRIM s MAXLEN 5 MINID 5                !ERR syntax error, MAXLEN and MINID options at the same time are not compatible
> XTRIM s MAXLEN 5 10                     !ERR syntax error
> XTRIM s LIMIT 5                         !ERR syntax error, LIMIT cannot be used without specifying a trimming strategy
> XTRIM s LIMIT 0                         !ERR syntax error, XTRIM must be called with a trimming strategy
> XTRIM s FOO 5                           !ERR syntax error
> XTRIM none MAXLEN 5                     =0
> SET text v                              =OK
> XTRIM text MAXLEN 5                     !WRONGTYPE Operation against a key holding the wrong kind of value
> XTRIM text MAXLEN x                     !ERR value is not an integer or out of range
