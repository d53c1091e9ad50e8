# what lists under names that begin alike hold
since: 1000.0 bobbin
> TL.SCHEMA                                        ={}
> TL.SCHEMA board:                                 =nil
> TL.DEFINE board: VALUE 12 ATTR kind 4 ATTR place 3 ATTR digest 1   =OK
> TL.SCHEMA board:                                 ={"value": 12, "order": "position", "unique": 0, "attributes": {"kind": 4, "place": 3, "digest": 1}}
> TL.SCHEMA board                                  =nil
> TL.DEFINE any                                    =OK
> TL.SCHEMA any                                    ={"value": "any", "order": "position", "unique": 0, "attributes": {}}
> tl.define full value any attr n 32 order attr n desc unique   =OK
> TL.SCHEMA full                                   ={"value": "any", "order": "attr n desc", "unique": 1, "attributes": {"n": 32}}
> TL.DEFINE typed ORDER VALUE double               =OK
> TL.SCHEMA typed                                  ={"value": "any", "order": "value double", "unique": 0, "attributes": {}}
> TL.DEFINE typed2 ORDER POSITION                  =OK
> TL.UNDEFINE typed                                =1
> TL.UNDEFINE typed                                =0
> TL.UNDEFINE typed2                               =1
> TL.UNDEFINE any                                  =1
> TL.UNDEFINE board:                               =1
> TL.SCHEMA                                        ={"full": {"value": "any", "order": "attr n desc", "unique": 1, "attributes": {"n": 32}}}
> TL.UNDEFINE full                                 =1

# a schema in use gains attributes, and nothing else
since: 1000.0 bobbin
> TL.DEFINE b: ATTR a 4                            =OK
> TL.INSERT b:1 0 one a=3                          =1
> TL.DEFINE b: ATTR a 4                            =OK
> TL.DEFINE b: ATTR a 5                            !ERR the prefix has another schema: repeat it and add attributes, or TL.UNDEFINE it first
> TL.DEFINE b: ATTR a 4 UNIQUE                     !ERR the prefix has another schema
> TL.DEFINE b:                                     !ERR the prefix has another schema
> TL.SET b:1 one c=1                               !ERR the schema has no attribute 'c', add it with TL.DEFINE
> TL.DEFINE b: ATTR a 4 ATTR c 2                   =OK
> TL.COUNT b:1 WHERE c=0                           =[1, 0]
> TL.COUNT b:1 WHERE c=1                           =[0, 0]
> TL.COUNT b:1 WHERE d=1                           !ERR the schema has no attribute 'd', add it with TL.DEFINE
> TL.GET b:1 one                                   ={"hidden": 0, "a": 3, "c": 0}
> TL.RANGE b:1 0 10 WITHATTRS                      =[["one", {"hidden": 0, "a": 3, "c": 0}]]
> TL.PUSH b:1 HEAD zero ITEM nought a=1            =3
> TL.POP b:1 HEAD WITHATTRS                        =["nought", {"hidden": 0, "a": 1, "c": 0}]
> TL.POP b:1 HEAD COUNT 1 WITHATTRS                =[["zero", {"hidden": 0, "a": 0, "c": 0}]]
> TL.INSERT b:1 -1 two                             =2
> TL.SET b:1 one c=3                               =1
> TL.INSERT b:1 -1 three c=1                       =3
> TL.RANGE b:1 0 10 WHERE c!=0                     =["one", "three"]
> TL.RANGE b:1 0 10 WHERE c=0                      =["two"]

# a list keeps the schema that it was made with
since: 1000.0 bobbin
> TL.UNDEFINE b:                                   =1
> TL.INSERT b:1 -1 four a=15                       =4
> TL.SET b:1 four a=16                             !ERR attribute 'a' has 4 bits and holds 0 to 15
> TL.INSERT b:2 0 x                                !ERR there is no schema for this key, give a prefix of it one with TL.DEFINE
> TL.PUSH b:2 HEAD x                               !ERR there is no schema for this key
> TL.DEFINE b: VALUE 1                             =OK
> TL.INSERT b:2 0 x                                =1
> TL.INSERT b:1 -1 five                            =5
> TL.DEFINE b:2                                    =OK
> TL.INSERT b:22 0 long                            =1

# what makes no sense
since: 1000.0 bobbin
> TL.DEFINE x VALUE 0                              !ERR VALUE is ANY or a length of 1 to 2048 bytes
> TL.DEFINE x VALUE 2049                           !ERR VALUE is ANY or a length of 1 to 2048 bytes
> TL.DEFINE x VALUE                                !ERR syntax error
> TL.DEFINE x ATTR a                               !ERR syntax error
> TL.DEFINE x ATTR a 0                             !ERR an attribute has 1 to 32 bits
> TL.DEFINE x ATTR a 33                            !ERR an attribute has 1 to 32 bits
> TL.DEFINE x ATTR a 1 ATTR a 2                    !ERR attribute 'a': at most 32, each with a name of its own
> TL.DEFINE x ATTR hidden 2                        !ERR attribute 'hidden': at most 32
> TL.DEFINE x ATTR a=b 2                           !ERR attribute 'a=b'
> TL.DEFINE x ORDER VALUE number                   !ERR values are ordered as int, uint, float, double, text or bytes
> TL.DEFINE x ORDER ATTR a                         !ERR the schema has no attribute 'a'
> TL.DEFINE x ORDER SIZE                           !ERR syntax error
> TL.DEFINE x DESC                                 !ERR DESC requires ORDER VALUE or ORDER ATTR
> TL.DEFINE x FAST                                 !ERR syntax error
> TL.SCHEMA x                                      =nil
