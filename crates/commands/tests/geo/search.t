# The examples of the published pages, and what lies at the edges.
> GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania      =2
> GEOADD g 12.758489 38.788135 edge1 17.241510 38.788135 edge2          =2
> GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km ASC                      =["Catania", "Palermo"]
> GEOSEARCH g FROMLONLAT 15 37 BYRADIUS 200 km DESC                     =["Palermo", "Catania"]
> GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 km ASC WITHCOORD WITHDIST  =[["Catania", "56.4413", [~15.08726745843887329, ~37.50266842333162032]], ["Palermo", "190.4424", [~13.36138933897018433, ~38.11555639549629859]], ["edge2", "279.7403", [~17.24151045083999634, ~38.78813451624225195]], ["edge1", "279.7405", [~12.7584877610206604, ~38.78813451624225195]]]
> GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 km ASC COUNT 2             =["Catania", "Palermo"]
> GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 km DESC COUNT 1 WITHDIST   =[["edge1", "279.7405"]]
> GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 km COUNT 1 WITHHASH        =[["Catania", 3479447370796909]]
> GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 km COUNT 1 ANY WITHDIST    =[["Palermo", "190.4424"]]
> GEOSEARCH g FROMLONLAT 15 37 BYBOX 400 400 km COUNT 3 ANY ASC         =["Catania", "Palermo", "edge1"]
> GEOSEARCH g BYBOX 400 400 km FROMLONLAT 15 37                         =["Palermo", "edge1", "Catania", "edge2"]
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS 0 m                           =["Palermo"]
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS 166.2741 km WITHDIST ASC      =[["Palermo", "0.0000"], ["edge1", "91.4007"]]
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS 166.2742 km WITHDIST ASC      =[["Palermo", "0.0000"], ["edge1", "91.4007"], ["Catania", "166.2742"]]
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS 1e9 ft WITHDIST ASC           =[["Palermo", "0.0000"], ["edge1", "299870.9272"], ["Catania", "545518.8700"], ["edge2", "1135588.2690"]]
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS inf mi ASC                    =["Palermo", "edge1", "Catania", "edge2"]
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS 20000 mi                      =["Palermo", "edge1", "Catania", "edge2"]
> GEOSEARCH g FROMMEMBER Palermo BYBOX 0 0 m WITHCOORD WITHDIST WITHHASH  =[["Palermo", "0.0000", 3479099956230698, [~13.36138933897018433, ~38.11555639549629859]]]
> GEOSEARCH g FROMMEMBER Palermo BYBOX 400 0 km                         =["Palermo"]
> GEOSEARCH g FROMLONLAT 0 0 BYRADIUS 1 m                               =[]
> GEOSEARCH none FROMLONLAT 0 0 BYRADIUS 1 m                            =[]
> GEOSEARCH none FROMMEMBER a BYRADIUS 1 m                              =[]
> GEOSEARCH g FROMMEMBER Palermo FROMMEMBER Catania BYRADIUS 1 m        =["Catania"]
> GEOSEARCH g FROMLONLAT 15 37 FROMLONLAT 13.361389 38.115556 BYRADIUS 1 km  =["Palermo"]
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS 1 m BYRADIUS 1000 km ASC      =["Palermo", "edge1", "Catania", "edge2"]
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS 1 m BYBOX 1 1 m               !ERR syntax error
> GEOSEARCH g FROMMEMBER Palermo BYBOX 1 1 m BYRADIUS 1 m               !ERR syntax error
> GEOSEARCH g FROMMEMBER Palermo FROMLONLAT 1 2 BYRADIUS 1 m            !ERR syntax error
> GEOSEARCH g FROMLONLAT 1 2 FROMMEMBER Palermo BYRADIUS 1 m            !ERR syntax error
> GEOSEARCH g FROMMEMBER nobody BYRADIUS 1 m                            !ERR could not decode requested zset member
> GEOSEARCH g FROMMEMBER Palermo ASC COUNT 1 WITHDIST                   !ERR exactly one of BYRADIUS and BYBOX can be specified for GEOSEARCH
> geosearch g BYRADIUS 1 m ASC COUNT 1                                  !ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for geosearch
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS 1 m ANY                       !ERR the ANY argument requires COUNT argument
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS 1 m COUNT 0                   !ERR COUNT must be > 0
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS 1 m COUNT -1                  !ERR COUNT must be > 0
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS 1 m COUNT x                   !ERR value is not an integer or out of range
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS 1 m COUNT                     !ERR syntax error
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS x m                           !ERR need numeric radius
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS -1 m                          !ERR radius cannot be negative
> GEOSEARCH g FROMMEMBER Palermo BYRADIUS 1 x                           !ERR unsupported unit provided. please use M, KM, FT, MI
> GEOSEARCH g FROMMEMBER Palermo BYBOX x 1 m                            !ERR need numeric width
> GEOSEARCH g FROMMEMBER Palermo BYBOX 1 x m                            !ERR need numeric height
> GEOSEARCH g FROMMEMBER Palermo BYBOX 1 -1 m                           !ERR height or width cannot be negative
> GEOSEARCH g FROMLONLAT 181 0 BYRADIUS 1 m                             !ERR invalid longitude,latitude pair 181.000000,0.000000
> GEOSEARCH g FROMLONLAT x 0 BYRADIUS 1 m                               !ERR value is not a valid float
> GEOSEARCH g FROMLONLAT 1 0 BYRADIUS 1 m STORE x                       !ERR syntax error
> GEOSEARCH g FROMLONLAT 1 0 BYRADIUS 1 m STOREDIST                     !ERR syntax error
> GEOADD poles 0 85 n1 90 85 n2 180 85 n3 -90 85 n4 0 -85 s1 179.9 1 e -179.9 1 w  =7
> GEOSEARCH poles FROMMEMBER n1 BYRADIUS 1200 km ASC WITHDIST           =[["n1", "0.0000"], ["n2", "785.9890"], ["n4", "785.9890"]]
> GEOSEARCH poles FROMMEMBER s1 BYRADIUS 100 km                         =["s1"]
> GEOSEARCH poles FROMMEMBER e BYRADIUS 100 km ASC WITHDIST             =[["e", "0.0000"], ["w", "22.2420"]]
> GEOSEARCH poles FROMMEMBER w BYBOX 100 100 km ASC WITHDIST            =[["w", "0.0000"], ["e", "22.2420"]]
> GEOSEARCH poles FROMLONLAT 180 1 BYRADIUS 100 km ASC WITHDIST         =[["e", "11.1210"]]
> GEOSEARCH poles FROMLONLAT -180 1 BYRADIUS 100 km ASC WITHDIST        =[["e", "11.1210"], ["w", "11.1210"]]
> GEOSEARCHSTORE d g FROMLONLAT 15 37 BYBOX 400 400 km ASC COUNT 3      =3
> ZRANGE d 0 -1                                                         =["Palermo", "Catania", "edge2"]
> GEOSEARCHSTORE d g FROMLONLAT 15 37 BYRADIUS 200 km STOREDIST         =2
> ZCARD d                                                               =2
> ZRANGEBYSCORE d 56 57                                                 =["Catania"]
> OBJECT ENCODING d                                                     ="listpack"
> GEOSEARCHSTORE g g FROMLONLAT 15 37 BYRADIUS 200 km                   =2
> ZRANGE g 0 -1                                                         =["Palermo", "Catania"]
> GEOSEARCHSTORE d g FROMLONLAT 0 0 BYRADIUS 1 m                        =0
> EXISTS d                                                              =0
> SET d x                                                               =OK
> GEOSEARCHSTORE d none FROMMEMBER a BYRADIUS 1 m                       =0
> EXISTS d                                                              =0
> GEOSEARCHSTORE d g FROMLONLAT 0 0 BYRADIUS 1 m WITHDIST               !ERR GEOSEARCHSTORE is not compatible with WITHDIST, WITHHASH and WITHCOORD options
> GEOSEARCHSTORE d none FROMLONLAT 0 0 BYRADIUS 1 m WITHCOORD           !ERR GEOSEARCHSTORE is not compatible with WITHDIST, WITHHASH and WITHCOORD options
> GEOSEARCHSTORE d g FROMLONLAT 0 0 ASC COUNT 1 ANY                     !ERR exactly one of BYRADIUS and BYBOX can be specified for GEOSEARCHSTORE
> GEOSEARCHSTORE d g FROMLONLAT 0 0 BYRADIUS 1 m STORE x                !ERR syntax error
> SET text x                                                            =OK
> GEOSEARCH text FROMLONLAT x 0 BYRADIUS 1 m                            !WRONGTYPE Operation against a key holding the wrong kind of value
> GEOSEARCHSTORE d text FROMLONLAT 1 0 BYRADIUS 1 m                     !WRONGTYPE Operation against a key holding the wrong kind of value
> GEOSEARCHSTORE text g FROMLONLAT 15 37 BYRADIUS 200 km                =2
> TYPE text                                                             =zset
