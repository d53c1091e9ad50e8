# attributes: those that are named change, others stay
since: 1000.0 bobbin
> TL.DEFINE t ATTR a 4 ATTR b 8                    =OK
> TL.PUSH t TAIL one a=1 b=2 ITEM two ITEM one a=9   =3
> TL.SET t one a=3                                 =1
> TL.GET t one                                     ={"hidden": 0, "a": 3, "b": 2}
> TL.SET t one b=255 a=0                           =1
> TL.RANGE t 0 9 WITHATTRS                         =[["one", {"hidden": 0, "a": 0, "b": 255}], ["two", {"hidden": 0, "a": 0, "b": 0}], ["one", {"hidden": 0, "a": 9, "b": 0}]]
> TL.SET t one b=256                               !ERR attribute 'b' has 8 bits and holds 0 to 255
> TL.SET t one c=1                                 !ERR the schema has no attribute 'c'
> TL.SET t one b                                   !ERR an attribute is given as name=n
> TL.SET t three a=1                               =0
> TL.SET absent three a=1                          =0
> TL.INCR t one b -5                               =250
> TL.INCR t one b 5                                =255
> TL.INCR t one b 1                                !ERR attribute 'b' has 8 bits and holds 0 to 255
> TL.INCR t one b -256                             !ERR attribute 'b' has 8 bits
> TL.INCR t one b x                                !ERR value is not an integer or out of range
> TL.INCR t one c 1                                !ERR the schema has no attribute 'c'
> TL.INCR t three b -1                             =nil
> TL.INCR absent one b 1                           =nil
> TL.GET t three                                   =nil
> TL.GET absent three                              =nil

# items are hidden, and shown again where they are
since: 1000.0 bobbin
> TL.HIDE t two three                              =1
> TL.HIDE t two two                                =0
> TL.GET t two                                     ={"hidden": 1, "a": 0, "b": 0}
> TL.RANGE t 0 9                                   =["one", "one"]
> TL.COUNT t                                       =[2, 1]
> TL.HIDE t one                                    =1
> TL.RANGE t 0 9 HIDDEN                            =["one", "two"]
> TL.SHOW t one two                                =2
> TL.SHOW t one                                    =0
> TL.RANGE t 0 9                                   =["one", "two", "one"]
> TL.HIDE absent one                               =0
> SET text x                                       =OK
> TL.HIDE text one                                 !WRONGTYPE
> TL.SET text one a=1                              !WRONGTYPE

# to the top
since: 1000.0 bobbin
> DEL t                                            =1
> TL.PUSH t TAIL a a=1 ITEM b a=2 ITEM c a=3 ITEM d a=4   =4
> TL.MOVE t c 0                                    =1
> TL.RANGE t 0 9                                   =["c", "a", "b", "d"]
> TL.MOVE t c -1                                   =1
> TL.RANGE t 0 9                                   =["a", "b", "d", "c"]
> TL.MOVE t a 1                                    =1
> TL.RANGE t 0 9                                   =["b", "a", "d", "c"]
> TL.MOVE t b 100                                  =1
> TL.MOVE t b -2                                   =1
> TL.RANGE t 0 9 WITHATTRS                         =[["a", {"hidden": 0, "a": 1, "b": 0}], ["d", {"hidden": 0, "a": 4, "b": 0}], ["b", {"hidden": 0, "a": 2, "b": 0}], ["c", {"hidden": 0, "a": 3, "b": 0}]]
> TL.MOVE t x 0                                    =0
> TL.MOVE absent x 0                               =0
> TL.MOVE t a x                                    !ERR value is not an integer or out of range
