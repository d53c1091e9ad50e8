# pages: from counts what is asked for
since: 1000.0 bobbin
> TL.DEFINE t ATTR a 2 ATTR big 20                 =OK
> TL.PUSH t TAIL 0 ITEM 1 a=1 ITEM 2 a=2 ITEM 3 a=3 ITEM 4 big=7 ITEM 5 a=1 big=1000000 ITEM 6 a=2 ITEM 7 a=3   =8
> TL.HIDE t 2 5                                    =2
> TL.RANGE t 0 3                                   =["0", "1", "3"]
> TL.RANGE t 3 3                                   =["4", "6", "7"]
> TL.RANGE t 6 3                                   =[]
> TL.RANGE t 0 0                                   =[]
> TL.RANGE t 0 2 REV                               =["7", "6"]
> TL.RANGE t 4 9 REV                               =["1", "0"]
> TL.RANGE t 2 2 ALL                               =["2", "3"]
> TL.RANGE t 1 9 HIDDEN                            =["5"]
> TL.RANGE t 0 9 WHERE a=3                         =["3", "7"]
> TL.RANGE t 1 9 WHERE a=3                         =["7"]
> TL.RANGE t 0 9 ALL WHERE a=1|2 big<1000000       =["1", "2", "6"]
> TL.RANGE t 0 9 ALL WHERE a=1|2 WITHCOUNT         ={"items": ["1", "2", "5", "6"], "count": 4}
> TL.RANGE t 0 1 WHERE a!=0|2 WITHCOUNT            ={"items": ["1"], "count": 3}
> TL.RANGE t 0 9 WHERE a>2                         =["3", "7"]
> TL.RANGE t 0 9 WHERE a<1 big>0                   =["4"]
> TL.RANGE t 0 9 WHERE a<0                         =[]
> TL.RANGE t 0 9 WHERE big>=4294967295             =[]
> TL.RANGE t 0 9 WHERE big>4294967295              =[]
> TL.RANGE t 0 9 WHERE big=4294967296              !ERR a condition is
> TL.RANGE t 0 9 HIDDEN WHERE big>=1000000 WITHATTRS   =[["5", {"hidden": 1, "a": 1, "big": 1000000}]]
> TL.RANGE t -1 9                                  !ERR from must be 0 or more, or a cursor
> TL.RANGE t 0 -1                                  !ERR value is out of range, must be positive
> TL.RANGE t 0 9 SIDEWAYS                          !ERR syntax error
> TL.RANGE absent 0 9                              =[]
> TL.RANGE absent 0 9 WITHCOUNT WITHCURSOR         ={"items": [], "count": 0, "cursor": "0"}

# page after page by a cursor
since: 1000.0 bobbin
> TL.RANGE t 0 3 WITHCURSOR                        ={"items": ["0", "1", "3"], "cursor": "@4"}
> TL.RANGE t @4 3 WITHCURSOR                       ={"items": ["4", "6", "7"], "cursor": "0"}
> TL.RANGE t 0 4 REV WITHCURSOR                    ={"items": ["7", "6", "4", "3"], "cursor": "@3"}
> TL.RANGE t @3 4 REV WITHCURSOR                   ={"items": ["1", "0"], "cursor": "0"}
> TL.RANGE t 0 1 WHERE a=3 WITHCURSOR WITHCOUNT    ={"items": ["3"], "count": 2, "cursor": "@4"}
> TL.RANGE t @4 1 WHERE a=3 WITHCURSOR             ={"items": ["7"], "cursor": "0"}
> TL.RANGE t @100 1                                =[]
> TL.RANGE t @100 1 REV                            =["7"]
> TL.RANGE t @ 1                                   !ERR from must be 0 or more, or a cursor

# counts and places
since: 1000.0 bobbin
> TL.COUNT t                                       =[6, 2]
> TL.COUNT t WHERE a=1|2                           =[2, 2]
> TL.COUNT t WHERE a=1 big=0                       =[1, 0]
> TL.COUNT absent                                  =[0, 0]
> TL.COUNT t VISIBLE                               !ERR syntax error
> TL.POS t 6                                       =6
> TL.POS t 6 VISIBLE                               =4
> TL.POS t 5                                       =5
> TL.POS t 5 VISIBLE                               =nil
> TL.POS t 5 HIDDEN                                =1
> TL.POS t 7 WHERE a=3                             =1
> TL.POS t 7 WHERE a=2                             =nil
> TL.POS t 9                                       =nil
> TL.POS absent 9                                  =nil
> TL.STAT t                                        ={"items": 8, "visible": 6, "hidden": 2, "blocks": 1, "bytes": 1..2000, "lasting": 0, "value": "any", "order": "position", "unique": 0, "attributes": {"a": 2, "big": 20}}
> TL.STAT absent                                   =nil
> MEMORY USAGE t                                   =100..2000
