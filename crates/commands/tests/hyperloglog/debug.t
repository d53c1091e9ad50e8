> PFADD k a b c d e f g                   =1
> PFDEBUG ENCODING k                      =sparse
> PFDEBUG DECODE k                        ="Z:1646 v:1,1 Z:5645 v:1,1 Z:1085 v:2,1 z:57 v:1,1 Z:4274 v:2,1 Z:2445 v:1,1 Z:622 v:1,1 Z:603"
> pfdebug decode k                        ="Z:1646 v:1,1 Z:5645 v:1,1 Z:1085 v:2,1 z:57 v:1,1 Z:4274 v:2,1 Z:2445 v:1,1 Z:622 v:1,1 Z:603"
> PFADD one x                             =1
> PFDEBUG DECODE one                      ="Z:16374 v:2,1 z:9"
> PFADD none                              =1
> PFDEBUG DECODE none                     ="Z:16384"
> PFDEBUG TODENSE k                       =1
> PFDEBUG ENCODING k                      =dense
> PFDEBUG DECODE k                        !ERR HLL encoding is not sparse
> PFDEBUG TODENSE k                       =0
> PFCOUNT k                               =7
> PFADD r a                               =1
> PFDEBUG GETREG r  =*
> PFDEBUG ENCODING r                      =dense
> PFCOUNT r                               =1
> SET n 12                                =OK
> RPUSH l a                               =1
> PFDEBUG ENCODING n                      !WRONGTYPE Key is not a valid HyperLogLog string value.
> PFDEBUG ENCODING l                      !WRONGTYPE Operation against a key holding the wrong kind of value
> PFDEBUG ENCODING missing                !ERR The specified key does not exist
> PFDEBUG FOO k                           !ERR Unknown PFDEBUG subcommand 'FOO'
> PFDEBUG foo missing                     !ERR The specified key does not exist
> PFDEBUG ENCODING                        !ERR wrong number of arguments for 'pfdebug' command
> PFDEBUG ENCODING k k                    !ERR wrong number of arguments for 'pfdebug' command

