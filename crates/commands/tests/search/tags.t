# FT.TAGVALS: RediSearch's tests/pytests/test_resp3.py (test_tagvals) and src/module.c; redis.io/commands/ft.tagvals.

> HSET doc1 f1 3 f2 3                                                 =2
> HSET doc2 f1 3 f2 2 f3 4                                            =3
> FT.CREATE idx1 PREFIX 1 doc SCHEMA f1 TAG f2 TAG f5 TAG f6 TEXT     =OK
> FT.TAGVALS idx1 f1                                                  =~["3"]
> FT.TAGVALS idx1 f2                                                  =~["2", "3"]
> FT.TAGVALS idx1 f5                                                  =~[]
> FT.TAGVALS idx1 f6                                                  !Not a tag field
> FT.TAGVALS idx1 f7                                                  !No such field
> FT.TAGVALS nosuch f1                                                !Unknown Index name
> HSET doc3 f5 "Hello,  World "                                       =1
> FT.TAGVALS idx1 f5                                                  =~["hello", "world"]
> DEL doc3                                                            =1
> FT.TAGVALS idx1 f5                                                  =~[]
