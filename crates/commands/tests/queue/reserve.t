# leases
since: 1000.0 bobbin
> RPUSH q a b c                                    =3
> Q.RESERVE q LEASE 3600000                        =["q", [[*, 1, "a"]]]
> LRANGE q 0 -1                                    =["b", "c"]
> Q.RESERVE none q COUNT 2 LEASE 3600000           =["q", [[*, 1, "b"], [*, 1, "c"]]]
> Q.RESERVE q COUNT 10                             =nil-array
> EXISTS q                                         =1
> TYPE q                                           =list
> LLEN q                                           =0
> LRANGE q 0 -1                                    =[]
> LPOP q                                           =nil
> LPOP q 1                                         =nil-array
> LMPOP 1 q LEFT                                   =nil-array
> LMOVE q other LEFT LEFT                          =nil
> RPUSH q d                                        =1
> Q.RESERVE q COUNT 5 LEASE 3600000                =["q", [[*, 1, "d"]]]
> Q.RESERVE q none BLOCK 10                        =nil-array
> Q.RESERVE q COUNT 0                              !ERR COUNT must be from 1 to 1000
> Q.RESERVE q COUNT 1001                           !ERR COUNT must be from 1 to 1000
> Q.RESERVE q LEASE 0                              !ERR milliseconds are not an integer or out of range
> Q.RESERVE q LEASE 9223372036854775807            !ERR the time is out of range
> Q.RESERVE q BLOCK -1                             !ERR timeout is not an integer or out of range
> Q.RESERVE q BLOCK x                              !ERR timeout is not an integer or out of range
> Q.RESERVE q COUNT                                !ERR syntax error
> Q.RESERVE q COUNT 1 more                         !ERR syntax error
> Q.RESERVE                                        !ERR wrong number of arguments for 'q.reserve' command
> SET text v                                       =OK
> Q.RESERVE text                                   !WRONGTYPE
> Q.RESERVE none                                   =nil-array
> EXISTS none                                      =0

# receipts that are none
since: 1000.0 bobbin
> RPUSH q2 a                                       =1
> Q.ACK q2 1-1                                     =0
> Q.NACK q2 1-1 2-2                                =0
> Q.EXTEND q2 1-1 LEASE 5                          =0
> Q.BURY q2 1-1                                    =0
> Q.ACK none 1-1                                   =0
> Q.ACK q2 1                                       !ERR a receipt is an id and a number of deliveries
> Q.ACK q2 1--1                                    !ERR a receipt is an id and a number of deliveries
> Q.NACK q2 +1-1                                   !ERR a receipt is an id and a number of deliveries
> Q.NACK q2 1-1 DELAY                              !ERR syntax error
> Q.NACK q2 1-1 DELAY 5 6                          !ERR syntax error
> Q.NACK q2 1-1 DELAY x                            !ERR milliseconds are not an integer or out of range
> Q.EXTEND q2 1-1 LEASE -1                         !ERR milliseconds are not an integer or out of range
> Q.KICK q2                                        =0
> Q.KICK q2 COUNT 0                                !ERR COUNT must be from 1 to 1000
> Q.KICK q2 5                                      !ERR syntax error
> LSET q2 0 b                                      =OK
