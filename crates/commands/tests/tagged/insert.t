# positions count hidden items too
since: 1000.0 bobbin
> TL.DEFINE t ATTR a 4 ATTR b 1                    =OK
> TL.INSERT t 0 b                                  =1
> TL.INSERT t 0 a a=1                              =2
> TL.INSERT t -1 e b=1 a=15                        =3
> TL.INSERT t 2 c                                  =4
> TL.INSERT t -2 d                                 =5
> TL.INSERT t 100 f                                =6
> TL.INSERT t -100 z                               =7
> TL.RANGE t 0 100                                 =["z", "a", "b", "c", "d", "e", "f"]
> TYPE t                                           =tagged
> OBJECT ENCODING t                                ="columns"
> TL.HIDE t z a                                    =2
> TL.INSERT t 1 y                                  =8
> TL.RANGE t 0 100 ALL                             =["z", "y", "a", "b", "c", "d", "e", "f"]
> TL.RANGE t 0 100                                 =["y", "b", "c", "d", "e", "f"]
> TL.RANGE t 0 100 HIDDEN                          =["z", "a"]
> TL.INSERT t x y                                  !ERR value is not an integer or out of range
> TL.INSERT t 0 y a=16                             !ERR attribute 'a' has 4 bits and holds 0 to 15
> TL.INSERT t 0 y b=2                              !ERR attribute 'b' has 1 bits and holds 0 to 1
> TL.INSERT t 0 y c=2                              !ERR the schema has no attribute 'c'
> TL.INSERT t 0 y a                                !ERR an attribute is given as name=n, n an integer of 0 or more
> TL.INSERT t 0 y a=-1                             !ERR an attribute is given as name=n
> TL.COUNT t                                       =[6, 2]

# many at once
since: 1000.0 bobbin
> TL.PUSH t2 TAIL a a=1 b=1 ITEM b ITEM c a=2      =3
> TL.PUSH t2 HEAD x ITEM y ITEM z                  =6
> TL.PUSH t2 tail a=1 item ITEM                    =8
> TL.RANGE t2 0 100                                =["z", "y", "x", "a", "b", "c", "a=1", "ITEM"]
> TL.PUSH t2 TAIL d ITEM                           !ERR syntax error
> TL.PUSH t2 MIDDLE d                              !ERR syntax error
> TL.PUSH t2 TAIL d ITEM e a=99                    !ERR attribute 'a' has 4 bits
> TL.COUNT t2                                      =[8, 0]
> TL.COUNT t2 WHERE a=1|2                          =[2, 0]
> RPUSH list x                                     =1
> TL.PUSH list TAIL x                              !WRONGTYPE
> TL.INSERT list 0 x                               !WRONGTYPE
> LPUSH t2 x                                       !WRONGTYPE
> GET t2                                           !WRONGTYPE

# items that come hidden
since: 1000.0 bobbin
> TL.PUSH t5 TAIL a HIDDEN a=1 ITEM b ITEM c a=2 hidden   =3
> TL.INSERT t5 0 d HIDDEN                          =4
> TL.RANGE t5 0 9 ALL WITHATTRS                    =[["d", {"hidden": 1, "a": 0, "b": 0}], ["a", {"hidden": 1, "a": 1, "b": 0}], ["b", {"hidden": 0, "a": 0, "b": 0}], ["c", {"hidden": 1, "a": 2, "b": 0}]]
> TL.MINSERT 1 t5 ITEM t5 -1 e HIDDEN              =1
> TL.COUNT t5                                      =[1, 4]

# values of one length
since: 1000.0 bobbin
> TL.DEFINE short VALUE 3                          =OK
> TL.PUSH short TAIL abc ITEM def                  =2
> TL.INSERT short 0 ab                             !ERR values of this schema have 3 bytes, not 2
> TL.PUSH short TAIL ghi ITEM jklm                 !ERR values of this schema have 3 bytes, not 4
> TL.RANGE short 0 10                              =["abc", "def"]

# values that are unique
since: 1000.0 bobbin
> TL.DEFINE uniq ATTR a 3 UNIQUE                   =OK
> TL.PUSH uniq TAIL a ITEM b ITEM c                =3
> TL.INSERT uniq 0 b                               !ERR values of this list are unique and this one is in it, change it with TL.SET or TL.MOVE
> TL.PUSH uniq TAIL d ITEM d                       !ERR values of this list are unique
> TL.HIDE uniq b                                   =1
> TL.INSERT uniq 0 b                               !ERR values of this list are unique
> TL.REM uniq b                                    =1
> TL.INSERT uniq 0 b a=7                           =3
> TL.RANGE uniq 0 10 WITHATTRS                     =[["b", {"hidden": 0, "a": 7}], ["a", {"hidden": 0, "a": 0}], ["c", {"hidden": 0, "a": 0}]]

# several lists at once, all or nothing
since: 1000.0 bobbin
> TL.MINSERT 2 t3 t4 ITEM t3 0 a a=1 ITEM t4 0 x ITEM t3 0 b ITEM t3 -1 c   =4
> TL.RANGE t3 0 10                                 =["b", "a", "c"]
> TL.RANGE t4 0 10                                 =["x"]
> TL.MINSERT 2 t3 t4 ITEM t3 0 d ITEM t4 0 y a=16 ITEM t3 0 e   !ERR attribute 'a' has 4 bits
> TL.COUNT t3                                      =[3, 0]
> TL.MINSERT 2 t3 t4 PARTIAL ITEM t3 0 d ITEM t4 0 y a=16 ITEM t3 0 e   =[1, "ERR attribute 'a' has 4 bits and holds 0 to 15"]
> TL.COUNT t3                                      =[4, 0]
> TL.COUNT t4                                      =[1, 0]
> TL.MINSERT 1 t3 PARTIAL ITEM t3 -1 e             =[1, nil]
> TL.MINSERT 1 nothere ITEM nothere 0 a            !ERR there is no schema for this key
> TL.MINSERT 1 nothere PARTIAL ITEM nothere 0 a    =[0, "ERR there is no schema for this key, give a prefix of it one with TL.DEFINE"]
> TL.MINSERT 1 uniq ITEM uniq 0 q ITEM uniq 0 q    !ERR values of this list are unique
> TL.MINSERT 1 uniq PARTIAL ITEM uniq 0 q ITEM uniq 0 q   =[1, "ERR values of this list are unique and this one is in it, change it with TL.SET or TL.MOVE"]
> TL.MINSERT 1 t3 ITEM t4 0 a                      !ERR an item names a key that is not among the listed keys
> TL.MINSERT 1 t3 ITEM t3 0                        !ERR syntax error
> TL.MINSERT 0 t3                                  !ERR numkeys should be greater than 0
> TL.MINSERT 5 t3 ITEM                             !ERR Number of keys can't be greater than number of args
> TL.MINSERT 1 list                                !WRONGTYPE
> TL.MINSERT 2 t3 list ITEM t3 -1 f ITEM list 0 x  !WRONGTYPE
> TL.MINSERT 2 t3 list PARTIAL ITEM t3 -1 f ITEM list 0 x ITEM t3 -1 g   =[1, "WRONGTYPE Operation against a key holding the wrong kind of value"]
> TL.COUNT t3                                      =[6, 0]
> TL.MINSERT 1 t3                                  =0
