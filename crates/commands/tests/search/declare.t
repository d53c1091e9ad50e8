# FT.CREATE FT.ALTER FT.DROPINDEX FT._LIST. Errors and replies: RediSearch 2.10, src/module.c and tests/pytests/test.py;
# redis.io/commands/ft._list for the types.

> FT._LIST                                                            =~[]
> FT.CREATE idx1 PREFIX 1 doc SCHEMA f1 TEXT f2 TEXT                  =OK
> FT.CREATE idx2 ON HASH PREFIX 1 doc SCHEMA f1 TEXT f2 TAG f3 NUMERIC SORTABLE f4 GEO  =OK
> FT._LIST                                                            =~["idx1", "idx2"]
> FT.CREATE idx1 SCHEMA f1 TEXT                                       !Index already exists
> FT.CREATE idx1 nonsense here too                                    !Index already exists
> FT.CREATE idx3 SCHEMA f1                                            !ERR wrong number of arguments for 'ft.create' command
> FT.CREATE idx3 NOOFFSETS NOHL NOFREQS                               !No schema found
> FT.CREATE idx3 SCHEMA f1 TEXT f1 TAG                                !Duplicate field in schema - f1
> FT.CREATE idx3 ON JSON SCHEMA f1 TEXT                               !ON JSON is not supported yet
> FT.CREATE idx3 SCHEMA v VECTOR FLAT                                 !VECTOR is not supported yet
> FT._LIST                                                            =~["idx1", "idx2"]

> SELECT 1                                                            =OK
> FT.CREATE idx3 SCHEMA f1 TEXT                                       !Cannot create index on db != 0
> FT._LIST                                                            =~["idx1", "idx2"]
> SELECT 0                                                            =OK

> HSET doc1 f1 hello f3 5                                             =2
> FT.SEARCH idx1 "@f3:[5 5]" NOCONTENT                                !Unknown field at offset 
> FT.ALTER idx1 SCHEMA ADD f3 NUMERIC                                 =OK
> FT.SEARCH idx1 "@f3:[5 5]" NOCONTENT                                =found(1, ["doc1"])
> FT.ALTER idx1 SCHEMA ADD f3 NUMERIC                                 !Duplicate field in schema - f3
> FT.ALTER idx1 SCHEMA REMOVE f3                                      !Unknown action passed to ALTER SCHEMA
> FT.ALTER idx1 NOTSCHEMA ADD f5                                      !ALTER must be followed by SCHEMA
> FT.ALTER nosuch SCHEMA ADD f3 NUMERIC                               !Unknown index name

> FT.DROPINDEX nosuch                                                 !Unknown Index name
> FT.DROPINDEX idx1                                                   =OK
> EXISTS doc1                                                         =1
> FT.SEARCH idx1 *                                                    !idx1: no such index
> FT.DROPINDEX idx2 nonsense                                          !Unknown argument
> FT.DROPINDEX idx2 DD                                                =OK
> EXISTS doc1                                                         =0
> FT._LIST                                                            =~[]
> FT.DROPINDEX idx2                                                   !Unknown Index name

> FT.CREATE idx SCHEMA t TEXT                                         =OK
> FLUSHALL                                                            =OK
> FT._LIST                                                            =~[]
