> GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania  =2
> ZSCORE g Palermo                                                  =~3479099956230698
> ZSCORE g Catania                                                  =~3479447370796909
> GEOADD g 13.361389 38.115556 Palermo                              =0
> GEOADD g NX 1 2 Palermo 12.5 37.9 Trapani                         =1
> ZSCORE g Palermo                                                  =~3479099956230698
> GEOADD g XX CH 1 2 Palermo 3 4 Agrigento                          =1
> ZSCORE g Agrigento                                                =nil
> GEOADD g ch 13.361389 38.115556 Palermo 9 40 Nuoro                =2
> GEOADD g xx 1 2 nobody                                            =0
> GEOADD none XX 1 2 nobody                                         =0
> EXISTS none                                                       =0
> OBJECT ENCODING g                                                 ="listpack"
> TYPE g                                                            =zset
> GEOADD g NX XX 1 2 a                                              !ERR syntax error
> GEOADD g 1 2 a 3                                                  !ERR syntax error
> GEOADD g NX CH XX 2                                               !ERR syntax error
> GEOADD g CH NX CH                                                 !ERR syntax error
> GEOADD g x 2 a                                                    !ERR value is not a valid float
> GEOADD g 1 nan a                                                  !ERR value is not a valid float
> GEOADD g 181 2 a                                                  !ERR invalid longitude,latitude pair 181.000000,2.000000
> GEOADD g 1 2 b -1 85.06 a                                         !ERR invalid longitude,latitude pair -1.000000,85.060000
> GEOADD g -inf 2 a                                                 !ERR invalid longitude,latitude pair -inf,2.000000
> ZSCORE g b                                                        =nil
> GEOADD edge 180 85.05112878 ne -180 -85.05112878 sw 180 0 e       =3
> ZRANGE edge 0 -1 WITHSCORES                                       =@{"sw": ~0, "e": ~10133099161583616, "ne": ~13510798882111488}
> SET text x                                                        =OK
> GEOADD text 1 2 a                                                 !WRONGTYPE Operation against a key holding the wrong kind of value
> GEOADD text 1 200 a                                               !ERR invalid longitude,latitude pair 1.000000,200.000000
