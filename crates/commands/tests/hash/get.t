> HSET k f v g "a value" n 12             =3
> HGET k f                                ="v"
> HGET k g                                ="a value"
> HGET k none                             =nil
> HGET missing f                          =nil
> HMGET k f none g                        =["v", nil, "a value"]
> HMGET k f f                             =["v", "v"]
> HMGET missing f g                       =[nil, nil]
> HEXISTS k f                             =1
> HEXISTS k none                          =0
> HEXISTS missing f                       =0
> HSTRLEN k g                             =7
> HSTRLEN k n                             =2
> HSTRLEN k none                          =0
> HSTRLEN missing f                       =0
> HLEN k                                  =3
> HLEN missing                            =0
> SET s v                                 =OK
> HGET s f                                !WRONGTYPE Operation against a key holding the wrong kind of value
> HMGET s f                               !WRONGTYPE Operation against a key holding the wrong kind of value
> HEXISTS s f                             !WRONGTYPE Operation against a key holding the wrong kind of value
> HSTRLEN s f                             !WRONGTYPE Operation against a key holding the wrong kind of value
> HLEN s                                  !WRONGTYPE Operation against a key holding the wrong kind of value
> HGET k                                  !ERR wrong number of arguments for 'hget' command
> HGET k f g                              !ERR wrong number of arguments for 'hget' command
> HMGET k                                 !ERR wrong number of arguments for 'hmget' command
> HEXISTS k                               !ERR wrong number of arguments for 'hexists' command
> HSTRLEN k                               !ERR wrong number of arguments for 'hstrlen' command
> HLEN                                    !ERR wrong number of arguments for 'hlen' command
