# FT.AGGREGATE FT.CURSOR: RediSearch's tests/pytests/test_resp3.py (test_aggregate, testExpandErrorsResp3),
# test_aggregate.py; redis.io/commands/ft.aggregate. What a cursor returns is in tests/served/cursor.t.

> HSET doc1 f1 3 f2 3                                                 =2
> HSET doc2 f1 3 f2 2 f3 4                                            =3
> HSET doc3 f5 4                                                      =1
> FT.CREATE idx1 PREFIX 1 doc SCHEMA f1 TEXT f2 TEXT                  =OK
> FT.AGGREGATE idx1 "@f2:2" LOAD 2 f1 f2                              =found(1, [{"f1": "3", "f2": "2"}])
> FT.AGGREGATE idx1 * LOAD 3 f1 f2 f3 SORTBY 2 @f2 DESC
=found(3, [{"f1": "3", "f2": "3"}], [{"f1": "3", "f2": "2", "f3": "4"}], [{}])
> FT.AGGREGATE idx1 "@f2:2" LOAD *                                    =found(1, [{"f1": "3", "f2": "2", "f3": "4"}])
> FT.AGGREGATE idx1 "@f2:2" LOAD 1 @__key                             =found(1, [{"__key": "doc2"}])
> FT.AGGREGATE idx1 * GROUPBY 1 @f1 REDUCE COUNT 0 AS count SORTBY 2 @count DESC
=found(2, [{"f1": "3", "count": "2"}], [{"f1": nil, "count": "1"}])
> FT.AGGREGATE idx1 "@f1:3" GROUPBY 0 REDUCE SUM 1 @f2 AS sum         =found(1, [{"sum": "5"}])
> FT.AGGREGATE idx1 "@f2:2" LOAD 1 @f3 APPLY "@f3 * 2" AS twice       =found(1, [{"f3": "4", "twice": "8"}])
> FT.AGGREGATE idx1 * LOAD 1 @f3 FILTER "exists(@f3) && @f3 == 4"     =found(1, [{"f3": "4"}])
> FT.AGGREGATE idx1 * LOAD 1 @f3 FILTER "@f3 == 4"
!Could not find the value for a parameter name, consider using EXISTS if applicable for f3
> FT.AGGREGATE idx1 * LOAD 2 @f1 AS one SORTBY 1 @f2 LIMIT 0 1        !Bad arguments for LOAD
> FT.AGGREGATE idx1 * LOAD 3 @f1 AS one SORTBY 1 @f2 LIMIT 0 1        =found(3, [{"one": "3", "f2": "2"}])
> FT.AGGREGATE idx1 nothing                                           =found(0)

> FT.AGGREGATE nosuch *                                               !nosuch: no such index
> FT.AGGREGATE idx1 * APPLY "@nosuch + 1" AS x                        !Property `nosuch` not loaded nor in pipeline
> FT.AGGREGATE idx1 * GROUPBY 1 @nosuch                               !No such property `nosuch`
> FT.AGGREGATE idx1 * SORTBY 1 @nosuch                                !Property `nosuch` not loaded nor in schema
> FT.AGGREGATE idx1 * GROUPBY 1 @f1 REDUCE NOSUCH 0                   !No such reducer: NOSUCH

# A number is one in the pipeline, and SORTABLE folds a text unless LOAD asks for it.
> HSET n1 n 1.50 s FOO t FOO                                          =3
> FT.CREATE idx2 PREFIX 1 n SCHEMA n NUMERIC s TEXT SORTABLE t TEXT SORTABLE UNF  =OK
> FT.AGGREGATE idx2 * GROUPBY 3 @n @s @t                              =found(1, [{"n": "1.5", "s": "foo", "t": "FOO"}])
> FT.AGGREGATE idx2 * LOAD 1 @s                                       =found(1, [{"s": "FOO"}])
> FT.AGGREGATE idx2 * LOAD * GROUPBY 1 @s                             =found(1, [{"s": "FOO"}])
> FT.AGGREGATE idx2 * GROUPBY 0 REDUCE TOLIST 1 @n AS all             =found(1, [{"all": ["1.5"]}])
# CASESENSITIVE tells cases apart in the order, too.
> HSET c1 t "Anna B"                                                  =1
> FT.CREATE idx3 PREFIX 1 c SCHEMA t TAG CASESENSITIVE SORTABLE       =OK
> FT.AGGREGATE idx3 * GROUPBY 1 @t                                    =found(1, [{"t": "Anna B"}])

> FT.CURSOR READ idx1 1                                               !Cursor not found
> FT.CURSOR DEL idx1 1                                                !Cursor does not exist
> FT.CURSOR READ idx1 x                                               !Bad cursor ID
> FT.CURSOR NONSENSE idx1 1                                           !Unknown subcommand
