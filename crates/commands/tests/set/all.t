> SMEMBERS missing                        =~[]
> SADD s b a c                            =3
> SMEMBERS s                              =~["a", "b", "c"]
> SADD i 10 9 -1                          =3
> SMEMBERS i                              =~["-1", "9", "10"]
> SET t v                                 =OK
> SMEMBERS t                              !WRONGTYPE Operation against a key holding the wrong kind of value
> SMEMBERS                                !ERR wrong number of arguments for 'smembers' command
> SMEMBERS s t                            !ERR wrong number of arguments for 'smembers' command
