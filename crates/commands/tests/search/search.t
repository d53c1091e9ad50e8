# FT.SEARCH: RediSearch's tests/pytests/test_resp3.py (test_search) and test.py; redis.io/commands/ft.search.

> HSET doc1 f1 3 f2 3                                                 =2
> HSET doc2 f1 3 f2 2 f3 4                                            =3
> FT.CREATE idx1 PREFIX 1 doc SCHEMA f1 TEXT f2 TEXT                  =OK
> FT.SEARCH idx1 * SORTBY f2
=found(2, ["doc2", {"f1": "3", "f2": "2", "f3": "4"}], ["doc1", {"f1": "3", "f2": "3"}])
> FT.SEARCH idx1 * RETURN 2 f1 f2 SORTBY f2 DESC FORMAT STRING
=found(2, ["doc1", {"f1": "3", "f2": "3"}], ["doc2", {"f1": "3", "f2": "2"}])
> FT.SEARCH idx1 * WITHSORTKEYS RETURN 2 f1 f2 SORTBY f2 DESC
=found(2, ["doc1", "$3", {"f1": "3", "f2": "3"}], ["doc2", "$2", {"f1": "3", "f2": "2"}])
> FT.SEARCH idx1 "@f2:2" WITHSORTKEYS RETURN 1 f1                     =found(1, ["doc2", nil, {"f1": "3"}])
> FT.SEARCH idx1 * WITHSORTKEYS RETURN 2 f1 f2 SORTBY f2 DESC LIMIT 0 0   =found(2)
> FT.SEARCH idx1 * NOCONTENT SORTBY f2                                =found(2, ["doc2"], ["doc1"])
> FT.SEARCH idx1 * NOCONTENT SORTBY f2 LIMIT 1 5                      =found(2, ["doc1"])
> FT.SEARCH idx1 * RETURN 0 SORTBY f2                                 =found(2, ["doc2"], ["doc1"])

# A field outside the schema, one with another name, one that a hash does not have, and the key.
> FT.SEARCH idx1 * RETURN 4 f3 AS three f2 SORTBY f2
=found(2, ["doc2", {"three": "4", "f2": "2"}], ["doc1", {"f2": "3"}])
> FT.SEARCH idx1 "@f2:2" RETURN 1 __key                               =found(1, ["doc2", {"__key": "doc2"}])
> FT.SEARCH idx1 "@f2:2" RETURN 2 f1 nosuch                           =found(1, ["doc2", {"f1": "3"}])

> FT.SEARCH idx1 * INKEYS 2 doc2 doc9 NOCONTENT                       =found(1, ["doc2"])
> FT.SEARCH idx1 * INKEYS 1 doc9 NOCONTENT                            =found(0)
> FT.SEARCH idx1 3 INFIELDS 1 f2 NOCONTENT                            =found(1, ["doc1"])
> FT.SEARCH idx1 "@f2:2" INFIELDS 1 f1 NOCONTENT                      =found(0)
> FT.SEARCH idx1 "@f2:2" INFIELDS 2 f1 f2 NOCONTENT                   =found(1, ["doc2"])
> FT.CREATE empties PREFIX 1 empty SCHEMA t TEXT u TEXT INDEXEMPTY    =OK
> FT.SEARCH empties "@u:\"\"" INFIELDS 1 t                              =found(0)
> FT.SEARCH empties "@t:\"\"" INFIELDS 1 t
!Use `INDEXEMPTY` in field creation in order to index and query for empty strings
> FT.SEARCH idx1 "@f2:$x" PARAMS 2 x 2 DIALECT 2 NOCONTENT            =found(1, ["doc2"])

> FT.SEARCH nosuch *                                                  !nosuch: no such index
> FT.SEARCH idx1 * SORTBY nosuch                                      !Property `nosuch` not loaded nor in schema
> FT.SEARCH idx1 * LIMIT 0                                            !LIMIT requires two arguments
> FT.SEARCH idx1 * LIMIT 0 1000001                                    !LIMIT exceeds maximum of 1000000
> FT.SEARCH idx1 * WITHSCORES                                         !WITHSCORES is not supported yet
> FT.SEARCH idx1 * FORMAT XPAND                                       !FORMAT XPAND is not supported
> FT.SEARCH idx1 * FORMAT EXPAND                                      !EXPAND format is only supported with JSON
> FT.SEARCH idx1 * TIMEOUT nonsense                                   !TIMEOUT requires a non negative integer

# Numbers, tags and places; SORTABLE folds the texts that it sorts by.
> HSET n1 n 10 t Red,blue g "2.34,48.85" s Beta                       =4
> HSET n2 n 2.5 t green g "-0.12,51.5" s alpha                        =4
> HSET n3 n 7 t RED                                                   =2
> FT.CREATE idx2 PREFIX 1 n SCHEMA n NUMERIC SORTABLE t TAG g GEO s TEXT SORTABLE  =OK
> FT.SEARCH idx2 "@n:[2.5 (10]" NOCONTENT SORTBY n                    =found(2, ["n2"], ["n3"])
> FT.SEARCH idx2 "@t:{red}" NOCONTENT SORTBY n DESC                   =found(2, ["n1"], ["n3"])
> FT.SEARCH idx2 "@g:[2 48 200 km]" NOCONTENT                         =found(1, ["n1"])
> FT.SEARCH idx2 * FILTER n 3 8 NOCONTENT                             =found(1, ["n3"])
> FT.SEARCH idx2 * GEOFILTER g 0 51 100 km NOCONTENT                  =found(1, ["n2"])
> FT.SEARCH idx2 * SORTBY s WITHSORTKEYS NOCONTENT                    =found(3, ["n2", "$alpha"], ["n1", "$beta"], ["n3", nil])
> FT.SEARCH idx2 * SORTBY n WITHSORTKEYS NOCONTENT                    =found(3, ["n2", "#2.5"], ["n3", "#7"], ["n1", "#10"])
> FT.SEARCH idx2 * SORTBY n DESC RETURN 2 s t LIMIT 0 1               =found(3, ["n1", {"s": "Beta", "t": "Red,blue"}])

# A change is seen at once; what expired is not.
> HSET n2 n 100                                                       =0
> FT.SEARCH idx2 "@n:[100 100]" RETURN 1 n                            =found(1, ["n2", {"n": "100"}])
> FT.SEARCH idx2 * SORTBY n NOCONTENT                                 =found(3, ["n3"], ["n1"], ["n2"])
> HPEXPIRE n1 1000 FIELDS 1 s                                         =[1]
> PEXPIRE n3 1000                                                     =1
+1100
> FT.SEARCH idx2 * SORTBY n RETURN 1 s                                =found(2, ["n1", {}], ["n2", {"s": "alpha"}])
> FT.SEARCH idx2 "@n:[10 10]"                                         =found(1, ["n1", {"n": "10", "t": "Red,blue", "g": "2.34,48.85"}])
> DEL n1                                                              =1
> SET n1 text                                                         =OK
> FT.SEARCH idx2 * NOCONTENT                                          =found(1, ["n2"])

# The fields that name language and score are not returned with all others.
> FT.CREATE idx3 PREFIX 1 l LANGUAGE_FIELD lang SCORE_FIELD rank SCHEMA t TEXT  =OK
> HSET l1 t hello lang english rank 0.5                               =3
> FT.SEARCH idx3 hello                                                =found(1, ["l1", {"t": "hello"}])
