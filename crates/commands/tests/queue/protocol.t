# messages by the words of the queue door
since: 1000.0 bobbin
> MQ.GET q                                         =nil
> MQ.SET q 0 one                                     =STORED
> MQ.SET q 0 ""                                      =STORED
> RPUSH q three                                    =3
> TYPE q                                           =list
> MQ.PEEK q                                        =["VALUE q 0 3", "one"]
> MQ.GET q                                         =["VALUE q 0 3", "one"]
> MQ.GETS q                                        =["VALUE q 0 0 0", ""]
> MQ.GET q BLOCK 5                                 =["VALUE q 0 5", "three"]
> EXISTS q                                         =0
> MQ.PEEK q                                        =nil
> MQ.PEEK q BLOCK                                  !ERR syntax error
> MQ.GET q BLOCK -1                                !ERR timeout is not an integer or out of range
> MQ.GET q BLOCK                                   !ERR syntax error
> MQ.GET q nonsense 1                              !ERR syntax error
> SET text v                                       =OK
> MQ.GET text                                      =nil
> MQ.OPEN text                                     =nil
> MQ.PEEK text                                     =nil
> MQ.SET text 0 m                                    !WRONGTYPE
> MQ.DELETE text                                   =NOT_FOUND
> MQ.DELETE q                                      =NOT_FOUND
> MQ.SET q 0 a                                       =STORED
> MQ.DELETE q                                      =DELETED
> MQ.SET q x a                                     !CLIENT_ERROR
> MQ.SET q 4294967296 a                            !CLIENT_ERROR
> MQ.SET q 4294967295 a                            =STORED
> MQ.SET q 0 "\x00MQflags"                         =STORED
> LRANGE q 0 0                                     =["\x00MQflags\xff\xff\xff\xffa"]
> MQ.PEEK q                                        =["VALUE q 4294967295 1", "a"]
> MQ.GETS q                                        =["VALUE q 4294967295 1 0", "a"]
> MQ.GET q                                         =["VALUE q 0 8", "\x00MQflags"]

# messages that are opened
since: 1000.0 bobbin
> RPUSH q a b                                      =2
> MQ.OPEN q                                        =["VALUE q 0 1", "a"]
> LRANGE q 0 -1                                    =["b"]
> MQ.CLOSE q 17-1                                  !SERVER_ERROR the lease has ended: the message was returned to the queue or removed
> MQ.CLOSE q nonsense                              !ERR a receipt is an id and a number of deliveries: 17-2
> MQ.ABORT q 17-1                                  =nil
> MQ.OPEN q                                        =["VALUE q 0 1", "b"]
> MQ.OPEN q                                        =nil
> LLEN q                                           =0
> MQ.SET q 0 c                                       =STORED
> MQ.GET q                                         =["VALUE q 0 1", "c"]
> MQ.DELETE q                                      =DELETED
> MQ.CLOSE q 17-1                                  !SERVER_ERROR
> MQ.ABORT q 17-1                                  =nil
