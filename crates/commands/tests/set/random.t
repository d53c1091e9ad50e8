> SRANDMEMBER missing                     =nil
> SRANDMEMBER missing 5                   =[]
> SRANDMEMBER missing -5                  =[]
> SADD one x                              =1
> SRANDMEMBER one                         ="x"
> SRANDMEMBER one 1                       =["x"]
> SRANDMEMBER one 10                      =["x"]
> SRANDMEMBER one 0                       =[]
> SRANDMEMBER one -3                      =["x", "x", "x"]
> SADD s 1 2 3 4                          =4
> SRANDMEMBER s                           =*
> SRANDMEMBER s 4                         =?["1", "2", "3", "4"]
> SRANDMEMBER s 100                       =?["1", "2", "3", "4"]
> SRANDMEMBER s 9223372036854775807       =?["1", "2", "3", "4"]
> SRANDMEMBER s -9223372036854775808      !ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807
> SRANDMEMBER s x                         !ERR value is not an integer or out of range
> SRANDMEMBER missing x                   !ERR value is not an integer or out of range
> SRANDMEMBER s 1 2                       !ERR syntax error
> SCARD s                                 =4
> SPOP missing                            =nil
> SPOP missing 3                          =~[]
> SPOP s 0                                =~[]
> SPOP s -1                               !ERR value is out of range, must be positive
> SPOP s x                                !ERR value is out of range, must be positive
> SPOP s 1 2                              !ERR syntax error
> SPOP s                                  =*
> SCARD s                                 =3
> SPOP s 2                                =*
> SCARD s                                 =1
> SPOP s 5                                =*
> EXISTS s                                =0
> SPOP one                                ="x"
> EXISTS one                              =0
> SADD all a b c                          =3
> SPOP all 3                              =~["a", "b", "c"]
> EXISTS all                              =0
> SET t v                                 =OK
> SRANDMEMBER t                           !WRONGTYPE Operation against a key holding the wrong kind of value
> SRANDMEMBER t 1                         !WRONGTYPE Operation against a key holding the wrong kind of value
> SPOP t                                  !WRONGTYPE Operation against a key holding the wrong kind of value
> SPOP t 1                                !WRONGTYPE Operation against a key holding the wrong kind of value
> SPOP t 0                                !WRONGTYPE Operation against a key holding the wrong kind of value
> SRANDMEMBER                             !ERR wrong number of arguments for 'srandmember' command
> SPOP                                    !ERR wrong number of arguments for 'spop' command
