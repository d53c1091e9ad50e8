# FT.DEL: RediSearch's src/module.c. FT.DELETEBY is Bobbin's own: docs/tables.md.

> HSET doc1 n 1 t a                                                   =2
> HSET doc2 n 2 t a                                                   =2
> HSET doc3 n 3 t b                                                   =2
> HSET doc4 n 4 t b                                                   =2
> HSET doc5 n 5 t b                                                   =2
> SET text value                                                      =OK
> FT.CREATE idx SCHEMA n NUMERIC t TAG                                =OK
> FT.DEL idx doc1                                                     =1
> FT.DEL idx doc1                                                     =0
> FT.DEL idx doc2 DD                                                  =1
> FT.DEL idx text                                                     =0
> FT.DEL nosuch doc3                                                  !Unknown Index name
> FT.DEL idx doc3 nonsense                                            !Unknown argument
> FT.SEARCH idx * NOCONTENT LIMIT 0 0                                 =found(3)

> FT.DELETEBY idx "@n:[4 5]"                                          =2
> EXISTS doc3 doc4 doc5 text                                          =2
> FT.DELETEBY idx "@n:[4 5]"                                          =0
> FT.DELETEBY nosuch *                                                !Unknown Index name
> FT.DELETEBY idx "@t:{$tag}" PARAMS 2 tag b DIALECT 2                =1
> FT.DELETEBY idx "(b"                                                !Syntax error at offset
> FT.DELETEBY idx * LIMIT 0 1                                         !Unknown argument `LIMIT` at position 1 for <main>
> EXISTS doc3 text                                                    =1
> SELECT 1                                                            =OK
> HSET doc1 n 1                                                       =1
> FT.DEL idx doc1                                                     !Cannot delete from index on db != 0
> EXISTS doc1                                                         =1
