# lists in the order of their values
since: 1000.0 bobbin
> TL.DEFINE n ORDER VALUE int ATTR a 2             =OK
> TL.PUSH n TAIL 5 ITEM -3 a=1 ITEM 100 ITEM 20 a=1   =4
> TL.INSERT n 0 7                                  =5
> TL.INSERT n 0 5 a=3                              =6
> TL.RANGE n 0 9                                   =["-3", "5", "5", "7", "20", "100"]
> TL.GET n 5                                       ={"hidden": 0, "a": 0}
> TL.INSERT n 0 x                                  !ERR lists of this schema are ordered by values of type int, and this value is not one
> TL.INSERT n 0 1.5                                !ERR lists of this schema are ordered by values of type int, and this value is not one
> TL.MOVE n 5 0                                    !ERR the list is ordered by its schema, so items cannot be moved
> TL.RANGEBY n 5 20                                =["5", "5", "7", "20"]
> TL.RANGEBY n (5 20                               =["7", "20"]
> TL.RANGEBY n 5 (20                               =["5", "5", "7"]
> TL.RANGEBY n -inf 5                              =["-3", "5", "5"]
> TL.RANGEBY n (7 +inf                             =["20", "100"]
> TL.RANGEBY n -inf +inf LIMIT 1 2                 =["5", "5"]
> TL.RANGEBY n -inf +inf LIMIT 1 2 REV             =["20", "7"]
> TL.RANGEBY n 20 5                                =[]
> TL.RANGEBY n 5 100 WHERE a=1|3 WITHATTRS         =[["5", {"hidden": 0, "a": 3}], ["20", {"hidden": 0, "a": 1}]]
> TL.RANGEBY n 5 100 LIMIT 0 1 WITHCOUNT           ={"items": ["5"], "count": 5}
> TL.RANGEBY n x 5                                 !ERR min or max is no value of the list's order, write it as for ZRANGEBYSCORE
> TL.RANGEBY n 5 6 WITHCURSOR                      !ERR syntax error
> TL.COUNTBY n 5 20                                =[4, 0]
> TL.HIDE n 7                                      =1
> TL.COUNTBY n 5 20                                =[3, 1]
> TL.COUNTBY n 5 20 WHERE a=0                      =[1, 1]
> TL.RANGEBY n 5 20 HIDDEN                         =["7"]
> TL.REMBY n 5 20 WHERE a=0                        =2
> TL.REMBY n 5 (20 VISIBLE                         =1
> TL.RANGE n 0 9 ALL                               =["-3", "20", "100"]
> TL.REMBY n -inf inf                              =3
> EXISTS n                                         =0
> TL.REMBY n 1 2                                   =0
> TL.COUNTBY n 1 2                                 =[0, 0]
> TL.RANGEBY n 1 2                                 =[]

# ends are any numbers, as ZRANGEBYSCORE has them
since: 1000.0 bobbin
> TL.PUSH n TAIL 5 ITEM -3 ITEM 1                  =3
> TL.RANGEBY n +inf -inf                           =[]
> TL.RANGEBY n -inf -inf                           =[]
> TL.RANGEBY n inf inf                             =[]
> TL.RANGEBY n (-inf (+inf                         =["-3", "1", "5"]
> TL.RANGEBY n -Infinity Infinity                  =["-3", "1", "5"]
> TL.RANGEBY n -5 5.5                              =["-3", "1", "5"]
> TL.RANGEBY n 1.5 7                               =["5"]
> TL.RANGEBY n -2.5 (5.0                           =["1"]
> TL.RANGEBY n -1e3 1e0                            =["-3", "1"]
> TL.RANGEBY n 99999999999999999999 inf            =[]
> TL.RANGEBY n -99999999999999999999 99999999999999999999   =["-3", "1", "5"]
> TL.RANGEBY n nan 5                               !ERR min or max is no value of the list's order
> TL.RANGEBY n ( 5                                 !ERR min or max is no value of the list's order
> TL.REMBY n -inf inf                              =3

# of an attribute, the greatest first
since: 1000.0 bobbin
> TL.DEFINE top ATTR score 16 ORDER ATTR score DESC UNIQUE   =OK
> TL.PUSH top TAIL a score=5 ITEM b score=9 ITEM c ITEM d score=5   =4
> TL.RANGE top 0 9                                 =["b", "a", "d", "c"]
> TL.SET top a score=1                             =1
> TL.RANGE top 0 9                                 =["b", "d", "a", "c"]
> TL.INCR top c score 100                          =100
> TL.RANGE top 0 9                                 =["c", "b", "d", "a"]
> TL.INCR top d score 0                            =5
> TL.RANGEBY top 1 9                               =["b", "d", "a"]
> TL.RANGEBY top (1 9                              =["b", "d"]
> TL.RANGEBY top 1 (9                              =["d", "a"]
> TL.RANGEBY top 1 9 REV                           =["a", "d", "b"]
> TL.RANGEBY top -inf 5                            =["d", "a"]
> TL.POS top a                                     =3
> TL.RANGEBY top -1 9                              =["b", "d", "a"]
> TL.RANGEBY top 1.5 4294967296                    =["c", "b", "d"]
> TL.RANGEBY top +inf -inf                         =[]
> TL.RANGEBY top - +                               =["c", "b", "d", "a"]
> TL.COUNTBY top -inf -1                           =[0, 0]
> TL.RANGEBY top x 9                               !ERR min or max is no value of the list's order

# of texts, bytes and other numbers
since: 1000.0 bobbin
> TL.DEFINE w ORDER VALUE bytes                    =OK
> TL.PUSH w TAIL pear ITEM apple ITEM fig          =3
> TL.RANGEBY w [b (pear                            =["fig"]
> TL.RANGEBY w - +                                 =["apple", "fig", "pear"]
> TL.RANGEBY w apple fig                           =["apple", "fig"]
> TL.PUSH w TAIL inf ITEM ,                        =5
> TL.RANGEBY w + -                                 =[]
> TL.RANGEBY w +inf -inf                           =[]
> TL.RANGEBY w -inf inf                            =[",", "apple", "fig", "inf"]
> TL.RANGEBY w inf inf                             =["inf"]
> TL.RANGEBY w [, [,                               =[","]
> TL.DEFINE s ORDER VALUE text                     =OK
> TL.PUSH s TAIL "b\x00a" ITEM a ITEM "b\x00"      =3
> TL.RANGEBY s b b                                 =["b\x00a", "b\x00"]
> TL.DEFINE f ORDER VALUE double DESC              =OK
> TL.PUSH f TAIL 1.5 ITEM -2e3 ITEM inf ITEM 0     =4
> TL.RANGE f 0 9                                   =["inf", "1.5", "0", "-2e3"]
> TL.RANGEBY f -2000 1.5                           =["1.5", "0", "-2e3"]
> TL.RANGEBY f -inf (inf                           =["1.5", "0", "-2e3"]
> TL.RANGEBY f inf inf                             =["inf"]
> TL.RANGEBY f inf -inf                            =[]
> TL.INSERT f 0 nan                                !ERR lists of this schema are ordered by values of type double, and this value is not one
> TL.DEFINE u ORDER VALUE uint                     =OK
> TL.PUSH u TAIL 10 ITEM 18446744073709551615 ITEM 9   =3
> TL.INSERT u 0 -1                                 !ERR lists of this schema are ordered by values of type uint, and this value is not one
> TL.RANGE u 0 9                                   =["9", "10", "18446744073709551615"]
> TL.DEFINE g ORDER VALUE float                    =OK
> TL.PUSH g TAIL 2 ITEM 1.5                        =2
> TL.RANGEBY g 1.5 1.75                            =["1.5"]
> TL.DEFINE p                                      =OK
> TL.PUSH p TAIL a                                 =1
> TL.RANGEBY p a b                                 !ERR the list is not ordered, define its schema with ORDER VALUE or ORDER ATTR
> TL.COUNTBY p a b                                 !ERR the list is not ordered
> TL.REMBY p a b                                   !ERR the list is not ordered
> SET text x                                       =OK
> TL.RANGEBY text a b                              !WRONGTYPE
