> TTL missing                             =-2
> PTTL missing                            =-2
> EXPIRETIME missing                      =-2
> PEXPIRETIME missing                     =-2
> PERSIST missing                         =0
> SET k v                                 =OK
> TTL k                                   =-1
> PTTL k                                  =-1
> EXPIRETIME k                            =-1
> PEXPIRETIME k                           =-1
> PERSIST k                               =0
> PEXPIRE k 100400                        =1
> TTL k                                   =40..100
> PTTL k                                  =40000..100400
> PEXPIREAT k 33177117420499              =1
> EXPIRETIME k                            =33177117420
> PEXPIREAT k 33177117420500              =1
> EXPIRETIME k                            =33177117421
> PEXPIRETIME k                           =33177117420500
> PERSIST k                               =1
> PERSIST k                               =0
> TTL k                                   =-1
> RPUSH l a                               =1
> EXPIRE l 100                            =1
> TTL l                                   =40..100
> PERSIST l                               =1
> TTL                                     !ERR wrong number of arguments for 'ttl' command
> PTTL                                    !ERR wrong number of arguments for 'pttl' command
> EXPIRETIME                              !ERR wrong number of arguments for 'expiretime' command
> PEXPIRETIME                             !ERR wrong number of arguments for 'pexpiretime' command
> PERSIST                                 !ERR wrong number of arguments for 'persist' command
> TTL k l                                 !ERR wrong number of arguments for 'ttl' command
