> MSET a 1 b 2 c 3 d 4                    =OK
> DEL a                                   =1
> DEL a                                   =0
> DEL a b c c                             =2
> RPUSH l 1 2 3                           =3
> UNLINK l d missing                      =2
> UNLINK l                                =0
> EXISTS a b c d l                        =0
> DEL                                     !ERR wrong number of arguments for 'del' command
> UNLINK                                  !ERR wrong number of arguments for 'unlink' command
> SET e v PX 1000                         =OK
+1100
> DEL e                                   =0
> SET e v PX 1000                         =OK
+1100
> UNLINK e                                =0
