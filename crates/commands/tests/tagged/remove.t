# by value: the first of each
since: 1000.0 bobbin
> TL.DEFINE t ATTR a 4 ATTR b 1                    =OK
> TL.PUSH t TAIL x ITEM y ITEM x ITEM z ITEM x     =5
> TL.REM t y q                                     =1
> TL.REM t x x                                     =2
> TL.RANGE t 0 9                                   =["z", "x"]
> TL.HIDE t x                                      =1
> TL.REM t x z                                     =2
> EXISTS t                                         =0
> TL.REM t x                                       =0

# by condition
since: 1000.0 bobbin
> TL.PUSH t TAIL a a=1 ITEM b a=2 ITEM c a=3 ITEM d a=4 b=1 ITEM e a=5 b=1   =5
> TL.HIDE t b d                                    =2
> TL.REMWHERE t WHERE a>=6                         =0
> TL.REMWHERE t HIDDEN WHERE a<=2                  =1
> TL.RANGE t 0 9 ALL                               =["a", "c", "d", "e"]
> TL.REMWHERE t VISIBLE WHERE b=1                  =1
> TL.REMWHERE t WHERE a>1 a<4                      =1
> TL.RANGE t 0 9 ALL                               =["a", "d"]
> TL.REMWHERE t ALL WHERE a!=9                     =2
> EXISTS t                                         =0
> TL.REMWHERE t WHERE a=1                          =0
> TL.PUSH t TAIL a                                 =1
> TL.REMWHERE t WHERE VISIBLE                      !ERR a condition is name=n, name!=n, name<n, name<=n, name>n or name>=n
> TL.REMWHERE t WHERE a                            !ERR a condition is
> TL.REMWHERE t WHERE a=x                          !ERR a condition is
> TL.REMWHERE t WHERE =1                           !ERR a condition is
> TL.REMWHERE t WHERE a=-1                         !ERR a condition is
> TL.REMWHERE t ALL VISIBLE                        !ERR syntax error
> TL.REMWHERE t WHERE c=1                          !ERR the schema has no attribute 'c'

# off an end: visible items
since: 1000.0 bobbin
> TL.PUSH t TAIL b a=1 ITEM c a=2 ITEM d a=1 ITEM e a=2   =5
> TL.HIDE t a e                                    =2
> TL.POP t HEAD                                    ="b"
> TL.POP t TAIL                                    ="d"
> TL.PUSH t TAIL f a=1 ITEM g a=2 ITEM h a=1       =6
> TL.POP t TAIL COUNT 2 WHERE a=1                  =["h", "f"]
> TL.POP t HEAD COUNT 1 WITHATTRS                  =[["c", {"hidden": 0, "a": 2, "b": 0}]]
> TL.POP t HEAD WITHATTRS                          =["g", {"hidden": 0, "a": 2, "b": 0}]
> TL.POP t HEAD                                    =nil
> TL.POP t HEAD COUNT 5                            =[]
> TL.COUNT t                                       =[0, 2]
> TL.POP absent HEAD                               =nil
> TL.POP absent HEAD COUNT 2                       =[]
> TL.POP t HEAD COUNT -1                           !ERR value is out of range, must be positive
> TL.POP t LEFT                                    !ERR syntax error
> TL.SHOW t a e                                    =2
> TL.POP t HEAD COUNT 0                            =[]
> TL.POP t HEAD COUNT 9                            =["a", "e"]
> EXISTS t                                         =0
