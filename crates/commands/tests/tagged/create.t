# a list made on purpose needs no items
since: 1000.0 bobbin
> TL.CREATE c1                                     !ERR there is no schema for this key
> TL.DEFINE c ATTR a 4                             =OK
> TL.CREATE c1                                     =1
> TL.CREATE c1                                     =0
> EXISTS c1                                        =1
> TYPE c1                                          =tagged
> TL.COUNT c1                                      =[0, 0]
> TL.COUNT c1 WHERE a=1                            =[0, 0]
> TL.RANGE c1 0 10                                 =[]
> TL.RANGE c1 0 10 ALL WHERE a=1 WITHCOUNT         ={"items": [], "count": 0}
> TL.GET c1 x                                      =nil
> TL.POS c1 x                                      =nil
> TL.POP c1 HEAD                                   =nil
> TL.REM c1 x                                      =0
> TL.REMWHERE c1 WHERE a=1                         =0
> TL.HIDE c1 x                                     =0
> TL.MOVE c1 x 0                                   =0
> TL.SET c1 x a=1                                  =0
> RPUSH plain x                                    =1
> TL.CREATE plain                                  !WRONGTYPE

# it stays when its last item goes, and is there after it was copied, renamed and restored
since: 1000.0 bobbin
> TL.PUSH c1 TAIL x a=1 ITEM y                     =2
> TL.COUNT c1 WHERE a=1                            =[1, 0]
> TL.REM c1 x                                      =1
> TL.POP c1 TAIL                                   ="y"
> EXISTS c1                                        =1
> TL.COUNT c1                                      =[0, 0]
> COPY c1 c2                                       =1
> RENAME c1 c3                                     =OK
> EXISTS c1 c2 c3                                  =2
> TL.INSERT c2 0 z a=3                             =1
> TL.GET c2 z                                      ={"hidden": 0, "a": 3}
> TL.REMWHERE c2 WHERE a=3                         =1
> EXISTS c2                                        =1
> DEL c2 c3                                        =2
> EXISTS c2                                        =0

# one that is there stays from then on, and takes over later schemas
since: 1000.0 bobbin
> TL.PUSH c4 TAIL x                                =1
> TL.CREATE c4                                     =0
> TL.POP c4 HEAD                                   ="x"
> EXISTS c4                                        =1
> TL.DEFINE c ATTR a 4 ATTR b 8                    =OK
> TL.PUSH c4 TAIL x b=200                          =1
> TL.GET c4 x                                      ={"hidden": 0, "a": 0, "b": 200}
> TL.REM c4 x                                      =1
> EXISTS c4                                        =1
