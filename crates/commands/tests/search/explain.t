# FT.EXPLAIN FT.EXPLAINCLI: RediSearch's tests/pytests/test.py, testExplain.

> FT.CREATE idx SCHEMA foo TEXT bar NUMERIC SORTABLE                  =OK
> FT.EXPLAIN idx "@bar:[10 100]"                                      ="NUMERIC {10.000000 <= @bar <= 100.000000}\n"
> FT.EXPLAINCLI idx "@bar:[10 100]"                                   =["NUMERIC {10.000000 <= @bar <= 100.000000}", ""]
> FT.EXPLAIN idx "@bar:[$a $b]" PARAMS 4 a 10 b 100 DIALECT 2         ="NUMERIC {10.000000 <= @bar <= 100.000000}\n"
> FT.EXPLAIN nosuch *                                                 !nosuch: no such index
> FT.EXPLAIN idx "(foo"                                               !Syntax error at offset
> FT.EXPLAINCLI idx * NONSENSE                                        !Unknown argument `NONSENSE` at position 1 for <main>

# Bobbin's own: whether the page is found by its place in the order, as docs/tables.md says.
> FT.EXPLAIN idx * SORTBY bar                                         ="<WILDCARD>\nSORTBY {@bar by index}\n"
> FT.EXPLAIN idx "@bar:[10 100]" SORTBY bar DESC                      ="NUMERIC {10.000000 <= @bar <= 100.000000}\nSORTBY {@bar of all matching rows}\n"
