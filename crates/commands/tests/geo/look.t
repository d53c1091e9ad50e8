> GEOADD g 13.361389 38.115556 Palermo 15.087269 37.502669 Catania  =2
> GEODIST g Palermo Catania                                         ="166274.1516"
> GEODIST g Palermo Catania km                                      ="166.2742"
> GEODIST g Palermo Catania M                                       ="166274.1516"
> GEODIST g Palermo Catania mi                                      ="103.3182"
> GEODIST g Palermo Catania FT                                      ="545518.8700"
> GEODIST g Palermo Palermo                                         ="0.0000"
> GEODIST g Foo Bar                                                 =nil
> GEODIST g Palermo Bar km                                          =nil
> GEODIST none Palermo Catania                                      =nil
> GEODIST g Palermo Catania parsec                                  !ERR unsupported unit provided. please use M, KM, FT, MI
> GEODIST none Palermo Catania parsec                               !ERR unsupported unit provided. please use M, KM, FT, MI
> GEODIST g Palermo Catania km m                                    !ERR syntax error
> GEOHASH g Palermo Catania none                                    =["sqc8b49rny0", "sqdtr74hyu0", nil]
> GEOHASH none a b                                                  =[nil, nil]
> GEOHASH g                                                         =[]
> GEOPOS g                                                          =[]
> GEOPOS none a                                                     =[nil-array]
> ZADD odd -1 below 1e30 above -inf least inf most 0.5 half          =5
> GEOHASH odd below above least most half                           =["bp05b5048p0", "00bh0hbj200", "00bh0hbj200", "00bh0hbj200", "00bh0hbj200"]
> SET text x                                                        =OK
> GEOPOS text a                                                     !WRONGTYPE Operation against a key holding the wrong kind of value
> GEOHASH text a                                                    !WRONGTYPE Operation against a key holding the wrong kind of value
> GEODIST text a b                                                  !WRONGTYPE Operation against a key holding the wrong kind of value
> GEOPOS g Palermo nobody Catania                                   =[[~13.36138933897018433, ~38.11555639549629859], nil-array, [~15.08726745843887329, ~37.50266842333162032]]
