> GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania 13.583333 37.316667 Agrigento  =3
> GEORADIUS g 15 37 200 km                                   =["Agrigento", "Palermo", "Catania"]
> GEORADIUS g 15 37 200 km WITHDIST                          =[["Agrigento", "130.4235"], ["Palermo", "190.4424"], ["Catania", "56.4413"]]
> GEORADIUS g 15 37 200 km withcoord withhash withdist desc  =[["Palermo", "190.4424", 3479099956230698, [~13.36138933897018433, ~38.11555639549629859]], ["Agrigento", "130.4235", 3479030013248308, [~13.5833314061164856, ~37.31666804993816555]], ["Catania", "56.4413", 3479447370796909, [~15.08726745843887329, ~37.50266842333162032]]]
> GEORADIUS g 15 37 200 km COUNT 1                           =["Catania"]
> GEORADIUS g 15 37 200 km COUNT 1 ANY                       =["Agrigento"]
> GEORADIUS g 15 37 200 km COUNT 10 DESC                     =["Palermo", "Agrigento", "Catania"]
> GEORADIUS_RO g 15 37 100 km ASC                            =["Catania"]
> GEORADIUS_RO g 15 37 100 km STORE d                        !ERR syntax error
> GEORADIUS none 15 37 100 km                                =[]
> GEORADIUS none 15 37 100 x                                 !ERR unsupported unit provided. please use M, KM, FT, MI
> GEORADIUS none 15 97 100 km                                !ERR invalid longitude,latitude pair 15.000000,97.000000
> GEORADIUS g 15 37 x km                                     !ERR need numeric radius
> GEORADIUS g 15 37 -1 km                                    !ERR radius cannot be negative
> GEORADIUS g 15 37 1 km ANY                                 !ERR the ANY argument requires COUNT argument
> GEORADIUS g 15 37 1 km FROMMEMBER a                        !ERR syntax error
> GEORADIUS g 15 37 1 km BYRADIUS 1 km                       !ERR syntax error
> GEORADIUSBYMEMBER g Agrigento 100 km                       =["Agrigento", "Palermo"]
> GEORADIUSBYMEMBER g Agrigento 100 km WITHDIST ASC          =[["Agrigento", "0.0000"], ["Palermo", "90.9778"]]
> GEORADIUSBYMEMBER_RO g Agrigento 100 km DESC               =["Palermo", "Agrigento"]
> GEORADIUSBYMEMBER_RO g Agrigento 100 km STORE d            !ERR syntax error
> GEORADIUSBYMEMBER g nobody 100 km                          !ERR could not decode requested zset member
> GEORADIUSBYMEMBER g nobody x y                             !ERR could not decode requested zset member
> GEORADIUSBYMEMBER g Agrigento x y                          !ERR need numeric radius
> GEORADIUSBYMEMBER none nobody x y                          =[]
> GEORADIUSBYMEMBER none nobody x y z                        !ERR syntax error
> GEORADIUS g 15 37 200 km STORE d                           =3
> ZRANGE d 0 -1                                              =["Agrigento", "Palermo", "Catania"]
> GEORADIUS g 15 37 200 km STOREDIST d COUNT 2               =2
> ZRANGE d 0 -1                                              =["Catania", "Agrigento"]
> GEORADIUS g 15 37 200 km STORE d WITHDIST                  !ERR STORE option in GEORADIUS is not compatible with WITHDIST, WITHHASH and WITHCOORD options
> GEORADIUS g 15 37 200 km STORE                             !ERR syntax error
> GEORADIUS g 15 37 200 km STORE a STORE b                   =3
> EXISTS a b                                                 =1
> GEORADIUS g 15 37 200 km STORE STOREDIST STOREDIST c       =3
> EXISTS STOREDIST c                                         =1
> GEORADIUS g 15 37 200 km STOREDIST STORE STORE STORE       =3
> TYPE STORE                                                 =zset
> GEORADIUS g 15 37 200 km STORE COUNT COUNT 1               =1
> ZCARD COUNT                                                =1
> GEORADIUSBYMEMBER g Agrigento 100 km STORE g               =2
> ZRANGE g 0 -1                                              =["Agrigento", "Palermo"]
> GEORADIUSBYMEMBER none a 100 km STORE d                    =0
> EXISTS d                                                   =0
> SET text x                                                 =OK
> GEORADIUS text x 37 200 km                                 !WRONGTYPE Operation against a key holding the wrong kind of value
> GEORADIUSBYMEMBER text a 200 km                            !WRONGTYPE Operation against a key holding the wrong kind of value
> GEORADIUS_RO text 15 37 200 km                             !WRONGTYPE Operation against a key holding the wrong kind of value
> GEORADIUSBYMEMBER_RO text a 200 km                         !WRONGTYPE Operation against a key holding the wrong kind of value
