# FT.INFO: RediSearch's src/module.c. The names and values of its reply are tested where it is made, in crates/search.

> FT.CREATE idx SCHEMA t TEXT                                         =OK
> FT.INFO idx                                                         =*
> FT.INFO nosuch                                                      !Unknown index name
