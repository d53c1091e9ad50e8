# What would block does not, and tells by its own kind of null that there is nothing
> MULTI                                   =OK
> BLPOP none 0                            =QUEUED
> BRPOP none other 0                      =QUEUED
> BLMOVE none to LEFT RIGHT 0             =QUEUED
> BRPOPLPUSH none to 0                    =QUEUED
> BLMPOP 0 1 none LEFT                    =QUEUED
> LMOVE none to LEFT RIGHT                =QUEUED
> LPOP none                               =QUEUED
> LPOP none 2                             =QUEUED
> EXEC                                    =[nil-array, nil-array, nil, nil, nil-array, nil, nil, nil-array]
> RPUSH list a b c d                      =4
> SET text v                              =OK
> MULTI                                   =OK
> BLPOP none list 0                       =QUEUED
> BLMOVE list to LEFT RIGHT 0             =QUEUED
> BRPOPLPUSH list to 0                    =QUEUED
> BLMPOP 0 1 list RIGHT COUNT 5           =QUEUED
> EXEC                                    =[["list", "a"], "b", "d", ["list", ["c"]]]

# What is not for a transaction
> MULTI                                   =OK
> SHUTDOWN NOSAVE                         !ERR Command not allowed inside a transaction
> EXEC                                    !EXECABORT Transaction discarded because of previous errors.
> MULTI                                   =OK
> MULTI                                   !ERR MULTI calls can not be nested
> WATCH text                              !ERR WATCH inside MULTI is not allowed
> GET text                                =QUEUED
> EXEC                                    =["v"]
> MULTI                                   =OK
> DISCARD x                               !ERR wrong number of arguments for 'discard' command
> EXEC                                    !EXECABORT Transaction discarded because of previous errors.
> EXEC                                    !ERR EXEC without MULTI
> DISCARD                                 !ERR DISCARD without MULTI
> MULTI                                   =OK
> EXEC x                                  !EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command
> EXEC                                    !ERR EXEC without MULTI
> EXEC x                                  !EXECABORT Transaction discarded because of: wrong number of arguments for 'exec' command
