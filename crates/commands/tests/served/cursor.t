# FT.AGGREGATE WITHCURSOR, FT.CURSOR: RediSearch's tests/pytests/test_resp3.py (test_cursor). Cursors do not survive a
# restart.

> HSET doc1 f1 3 f2 3                                                 =2
> HSET doc2 f1 3 f2 2 f3 4                                            =3
> HSET doc3 f5 4                                                      =1
> FT.CREATE idx1 PREFIX 1 doc SCHEMA f1 TEXT f2 TEXT                  =OK
> FT.AGGREGATE idx1 * LOAD 3 f1 f2 f3 SORTBY 2 @f2 DESC WITHCURSOR
=[found(3, [{"f1": "3", "f2": "3"}], [{"f1": "3", "f2": "2", "f3": "4"}], [{}]), 0]
> FT.AGGREGATE idx1 * LOAD 1 f1 SORTBY 2 @f2 DESC WITHCURSOR COUNT 1
=[found(3, [{"f1": "3", "f2": "3"}]), 1..9223372036854775807]
> FT.CREATE idx2 PREFIX 1 folder SCHEMA f1 TEXT f2 TEXT               =OK
> FT.AGGREGATE idx2 * LOAD 3 f1 f2 f3 SORTBY 2 @f2 DESC WITHCURSOR COUNT 1   =[found(0), 0]
> FT.CURSOR READ idx1 0                                               !Cursor not found
