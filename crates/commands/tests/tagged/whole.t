# a tagged list is a value like any other
since: 1000.0 bobbin
> TL.DEFINE t ATTR a 4 UNIQUE                      =OK
> TL.PUSH t TAIL x a=1 ITEM y a=2                  =2
> COPY t copied                                    =1
> RENAME t t:moved                                 =OK
> EXISTS t                                         =0
> TL.SET t:moved x a=9                             =1
> TL.GET copied x                                  ={"hidden": 0, "a": 1}
> TL.GET t:moved x                                 ={"hidden": 0, "a": 9}
> TL.INSERT copied 0 x                             !ERR values of this list are unique
> EXPIRE copied 100                                =1
> TL.PUSH copied TAIL z                            =3
> TTL copied                                       =40..100
> PERSIST copied                                   =1
> MOVE copied 1                                    =1
> SCAN 0 TYPE tagged                               =["0", ["t:moved"]]
> SORT t:moved                                     !WRONGTYPE
> DEL t:moved                                      =1
> PEXPIRE copied 30                                =0
> TL.PUSH t TAIL a                                 =1
> PEXPIRE t 30                                     =1
+40
> TL.RANGE t 0 9                                   =[]
> TL.PUSH t TAIL b                                 =1
> TTL t                                            =-1
> TL.RANGE t 0 9                                   =["b"]
