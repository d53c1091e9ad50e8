> MSET a 1 b 2                            =OK
> RPUSH l x                               =1
> EXISTS a                                =1
> EXISTS a b l missing                    =3
> EXISTS a a a                            =3
> EXISTS missing                          =0
> TOUCH a b l missing                     =3
> TOUCH a a                               =2
> TOUCH missing                           =0
> TYPE a                                  =string
> TYPE l                                  =list
> TYPE missing                            =none
> EXISTS                                  !ERR wrong number of arguments for 'exists' command
> TOUCH                                   !ERR wrong number of arguments for 'touch' command
> TYPE                                    !ERR wrong number of arguments for 'type' command
> TYPE a b                                !ERR wrong number of arguments for 'type' command
> PEXPIRE a 1000                          =1
+1100
> EXISTS a                                =0
> TYPE a                                  =none
> TOUCH a                                 =0
