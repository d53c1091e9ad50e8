# limits
since: 1000.0 bobbin
> Q.LIMIT q MAXLEN 3 MAXBYTES 10                   =OK
> EXISTS q                                         =1
> LLEN q                                           =0
> Q.PUSH q a b                                     =[*, *]
> Q.PUSH q c d                                     !QUEUEFULL the queue would exceed its MAXLEN of 3 messages
> RPUSH q c d                                      !QUEUEFULL
> LPUSH q c d                                      !QUEUEFULL
> Q.RESERVE q LEASE 3600000                        =["q", [[*, 1, "a"]]]
> Q.PUSH q 0123456789                              !QUEUEFULL the queue would exceed its MAXBYTES of 10 bytes of messages
> RPUSH q c                                        =2
> RPUSH list x                                     =1
> LMOVE list q LEFT LEFT                           !QUEUEFULL
> LMOVE q q LEFT RIGHT                             ="b"
> LLEN list                                        =1
> LLEN q                                           =2
> Q.LIMIT q MAXLEN 0                               =OK
> LMOVE list q LEFT LEFT                           ="x"
> Q.LIMIT q                                        =OK
> Q.LIMIT q MAXLEN                                 !ERR syntax error
> Q.LIMIT q MAXLEN -1                              !ERR value is out of range, must be positive
> Q.LIMIT q RETRIES -2                             !ERR RETRIES must be -1 or more
> Q.LIMIT q DEADLETTER q                           !ERR DEADLETTER must be another key
> Q.LIMIT q OTHER 1                                !ERR syntax error
> SET text v                                       =OK
> Q.LIMIT text MAXLEN 1                            !WRONGTYPE

# a queue lasts while it has limits
since: 1000.0 bobbin
> Q.LIMIT e MAXLEN 3                               =OK
> Q.PUSH e a                                       =[*]
> LPOP e                                           ="a"
> EXISTS e                                         =1
> Q.INFO e                                         ={"ready": 0, "leased": 0, "delayed": 0, "buried": 0, "dead": 0, "bytes": 0, "pushed": 1, "acked": 0, "oldest-age-ms": 0..600000, "max-len": 3, "max-bytes": 0, "ttl-ms": 0, "retries": -1, "dead-letter": ""}
> Q.LIMIT e MAXLEN 0                               =OK
> EXISTS e                                         =0
> Q.LIMIT e MAXLEN 0                               =OK
> EXISTS e                                         =0
> Q.LIMIT e RETRIES 0 DEADLETTER d TTL 500 MAXBYTES 7     =OK
> Q.INFO e                                         ={"ready": 0, "leased": 0, "delayed": 0, "buried": 0, "dead": 0, "bytes": 0, "pushed": 0, "acked": 0, "oldest-age-ms": 0..600000, "max-len": 0, "max-bytes": 7, "ttl-ms": 500, "retries": 0, "dead-letter": "d"}
> Q.DROP e                                         =1
> EXISTS e                                         =0
> Q.INFO e                                         !ERR no such key

# what is looked at stays as it is
since: 1000.0 bobbin
> RPUSH p a b c                                    =3
> Q.PEEK p                                         =[[*, 0, "a"]]
> Q.PEEK p COUNT 5                                 =[[*, 0, "a"], [*, 0, "b"], [*, 0, "c"]]
> Q.PEEK p BURIED COUNT 5                          =[]
> Q.INFO p                                         ={"ready": 3, "leased": 0, "delayed": 0, "buried": 0, "dead": 0, "bytes": 3, "pushed": 3, "acked": 0, "oldest-age-ms": 0..600000, "max-len": 0, "max-bytes": 0, "ttl-ms": 0, "retries": -1, "dead-letter": ""}
> LSET p 0 x                                       =OK
> Q.PEEK none                                      =[]
> Q.PEEK p COUNT                                   !ERR syntax error
> Q.PEEK p COUNT 0                                 !ERR COUNT must be from 1 to 1000
> Q.PEEK p ALL                                     !ERR syntax error
