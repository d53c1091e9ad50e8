# messages and their ids
since: 1000.0 bobbin
> Q.PUSH q a                                       =[*]
> Q.PUSH q b c                                     =[*, *]
> Q.PUSH q DELAY                                   =[*]
> Q.PUSH q ID                                      =[*]
> LRANGE q 0 -1                                    =["a", "b", "c", "DELAY", "ID"]
> Q.PUSH q d DELAY                                 !ERR syntax error
> Q.PUSH q d ID                                    !ERR syntax error
> Q.PUSH q d DELAY x                               !ERR milliseconds are not an integer or out of range
> Q.PUSH q d DELAY -1                              !ERR milliseconds are not an integer or out of range
> Q.PUSH q d DELAY 9223372036854775807             !ERR the time is out of range
> Q.PUSH q d DELAY 0 MORE 1                        !ERR syntax error
> Q.PUSH q d ID ""                                 !ERR a dedup id has 1 to 1024 bytes
> Q.PUSH q d e ID x                                !ERR ID requires exactly one message
> LLEN q                                           =5
> SET text v                                       =OK
> Q.PUSH text a                                    !WRONGTYPE
> Q.PUSH q                                         !ERR wrong number of arguments for 'q.push' command

# messages that are told from each other
since: 1000.0 bobbin
> Q.PUSH once a ID 7                               =[*]
> Q.PUSH once b ID 7                               =[nil]
> Q.PUSH once b id 8                               =[*]
> LRANGE once 0 -1                                 =["a", "b"]
> LPOP once                                        ="a"
> Q.PUSH once c ID 7                               =[*]
> RPOP once                                        ="c"
> Q.PUSH once d ID 7 DELAY 50000                   =[*]
> Q.PUSH once e ID 7                               =[nil]
> LRANGE once 0 -1                                 =["b"]
> DEL once                                         =1
> Q.PUSH once e ID 7                               =[*]

# messages that come later
since: 1000.0 bobbin
> Q.PUSH late a b DELAY 3600000                    =[*, *]
> Q.PUSH late c                                    =[*]
> EXISTS late                                      =1
> LRANGE late 0 -1                                 =["c"]
> Q.DROP late                                      !ERR the queue has 2 messages that are leased, delayed or buried
> Q.RESERVE late COUNT 5 LEASE 3600000             =["late", [[*, 1, "c"]]]
> Q.RESERVE late                                   =nil-array

# many messages that come later, under a long name: each has a record with it
since: 1000.0 bobbin
> Q.PUSH a:queue:whose:name:is:longer:than:its:messages:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:so:on m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m m DELAY 3600000   =[*, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *, *]
> LLEN a:queue:whose:name:is:longer:than:its:messages:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:so:on   =0
> Q.PUSH a:queue:whose:name:is:longer:than:its:messages:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:and:so:on x ID y DELAY 3600000   =[*]
