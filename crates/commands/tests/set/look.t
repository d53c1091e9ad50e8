> SADD s one 2 three                      =3
> SISMEMBER s one                         =1
> SISMEMBER s two                         =0
> SISMEMBER s 2                           =1
> SISMEMBER missing one                   =0
> SMISMEMBER s one two 2 one              =[1, 0, 1, 1]
> SMISMEMBER missing one two              =[0, 0]
> SCARD s                                 =3
> SCARD missing                           =0
> SET t v                                 =OK
> SISMEMBER t one                         !WRONGTYPE Operation against a key holding the wrong kind of value
> SMISMEMBER t one two                    !WRONGTYPE Operation against a key holding the wrong kind of value
> SCARD t                                 !WRONGTYPE Operation against a key holding the wrong kind of value
> SISMEMBER s                             !ERR wrong number of arguments for 'sismember' command
> SISMEMBER s a b                         !ERR wrong number of arguments for 'sismember' command
> SMISMEMBER s                            !ERR wrong number of arguments for 'smismember' command
> SCARD                                   !ERR wrong number of arguments for 'scard' command
> SCARD s t                               !ERR wrong number of arguments for 'scard' command
