# FT.ALIASADD FT.ALIASUPDATE FT.ALIASDEL: redis.io/commands/ft.aliasadd and RediSearch's src/module.c, src/alias.c.

> FT.CREATE idx1 SCHEMA t TEXT                                        =OK
> FT.CREATE idx2 SCHEMA n NUMERIC                                     =OK
> HSET doc1 t hello n 1                                               =2
> FT.ALIASADD myAlias idx1                                            =OK
> FT.ALIASADD myAlias idx2                                            !Alias already exists
> FT.ALIASADD other nosuch                                            !Unknown index name (or name is an alias itself)
> FT.ALIASADD other myAlias                                           !Unknown index name (or name is an alias itself)
> FT.ALIASADD idx2 idx1                                               !Alias conflicts with an existing index name
> FT.CREATE myAlias SCHEMA t TEXT                                     !Index already exists
> FT._LIST                                                            =~["idx1", "idx2"]

# Commands take an alias for the name.
> FT.SEARCH myAlias hello NOCONTENT                                   =found(1, ["doc1"])
> FT.AGGREGATE myAlias * LOAD 1 @t                                    =found(1, [{"t": "hello"}])
> FT.EXPLAIN myAlias "@n:[10 100]"                                    !Unknown field at offset
> FT.INFO myAlias                                                     =*
> FT.ALTER myAlias SCHEMA ADD n NUMERIC                               =OK
> FT.SEARCH idx1 "@n:[1 1]" NOCONTENT                                 =found(1, ["doc1"])

> FT.ALIASUPDATE myAlias idx2                                         =OK
> FT.SEARCH myAlias "@n:[1 1]" NOCONTENT                              =found(1, ["doc1"])
> FT.SEARCH myAlias "@t:hello" NOCONTENT                              !Unknown field at offset
> FT.ALIASUPDATE second idx2                                          =OK
> FT.ALIASUPDATE second nosuch                                        !Unknown index name (or name is an alias itself)
> FT.ALIASDEL myAlias                                                 =OK
> FT.ALIASDEL myAlias                                                 !Alias does not exist
> FT.ALIASDEL idx1                                                    !Alias does not belong to provided spec
> FT.SEARCH myAlias *                                                 !myAlias: no such index

# An index takes its aliases with it, and may be dropped by one.
> FT.DROPINDEX second                                                 =OK
> FT._LIST                                                            =~["idx1"]
> FT.ALIASDEL second                                                  !Alias does not exist
> FT.ALIASADD second idx1                                             =OK
