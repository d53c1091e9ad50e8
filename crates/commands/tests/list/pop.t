> RPUSH k a b c d e f                     =6
> LPOP k                                  ="a"
> RPOP k                                  ="f"
> LRANGE k 0 -1                           =["b", "c", "d", "e"]
> LPOP k 2                                =["b", "c"]
> RPOP k 1                                =["e"]
> LRANGE k 0 -1                           =["d"]
> LPOP k 100                              =["d"]
> EXISTS k                                =0
> LPOP k                                  =nil
> RPOP k                                  =nil
> LPOP k 2                                =nil-array
> RPOP k 2                                =nil-array
> LPOP k 0                                =nil-array
> RPUSH k a b c                           =3
> LPOP k 0                                =[]
> RPOP k 0                                =[]
> RPOP k 2                                =["c", "b"]
> LRANGE k 0 -1                           =["a"]
> RPOP k 5                                =["a"]
> RPUSH k a b c                           =3
> LPOP k -1                               !ERR value is out of range, must be positive
> LPOP k abc                              !ERR value is out of range, must be positive
> RPOP k 1.5                              !ERR value is out of range, must be positive
> RPOP k 9223372036854775808              !ERR value is out of range, must be positive
> LPOP missing -1                         !ERR value is out of range, must be positive
> LPOP k 1 2                              !ERR wrong number of arguments for 'lpop' command
> RPOP k 1 2                              !ERR wrong number of arguments for 'rpop' command
> LPOP                                    !ERR wrong number of arguments for 'lpop' command
> EXPIRE k 100                            =1
> LPOP k                                  ="a"
> TTL k                                   =40..100
> SET s v                                 =OK
> LPOP s                                  !WRONGTYPE Operation against a key holding the wrong kind of value
> RPOP s                                  !WRONGTYPE Operation against a key holding the wrong kind of value
> LPOP s 1                                !WRONGTYPE Operation against a key holding the wrong kind of value
> RPOP s 0                                !WRONGTYPE Operation against a key holding the wrong kind of value
> LPOP s -1                               !ERR value is out of range, must be positive

# LMPOP
> DEL k                                   =1
> RPUSH k one two three                   =3
> RPUSH k2 a b c                          =3
> LMPOP 2 none k LEFT                     =["k", ["one"]]
> LMPOP 2 none k RIGHT                    =["k", ["three"]]
> LMPOP 2 none k RIGHT COUNT 10           =["k", ["two"]]
> LMPOP 2 none k RIGHT                    =nil-array
> LMPOP 3 none k k2 left count 2          =["k2", ["a", "b"]]
> EXISTS k                                =0
> LMPOP 1 k2 LEFT COUNT 1                 =["k2", ["c"]]
> EXISTS k2                               =0
> RPUSH k x                               =1
> LMPOP 0 k LEFT                          !ERR numkeys should be greater than 0
> LMPOP -1 k LEFT                         !ERR numkeys should be greater than 0
> LMPOP abc k LEFT                        !ERR numkeys should be greater than 0
> LMPOP 2 k LEFT                          !ERR syntax error
> LMPOP 3 k LEFT                          !ERR syntax error
> LMPOP 1 k MIDDLE                        !ERR syntax error
> LMPOP 1 k LEFT COUNT                    !ERR syntax error
> LMPOP 1 k LEFT COUNT 0                  !ERR count should be greater than 0
> LMPOP 1 k LEFT COUNT 0 2                !ERR count should be greater than 0
> LMPOP 1 k LEFT COUNT x                  !ERR count should be greater than 0
> LMPOP 1 k LEFT COUNT 1 2                !ERR syntax error
> LMPOP 1 k LEFT COUNT -1                 !ERR count should be greater than 0
> LMPOP 1 k LEFT COUNT abc                !ERR count should be greater than 0
> LMPOP 1 k LEFT FOO 1                    !ERR syntax error
> LMPOP 1 k LEFT COUNT 1 COUNT 1          !ERR syntax error
> LMPOP 1 k LEFT COUNT 1 2                !ERR syntax error
> LMPOP 9223372036854775807 k LEFT        !ERR syntax error
> LMPOP 1 s LEFT                          !WRONGTYPE Operation against a key holding the wrong kind of value
> LMPOP 2 s k LEFT                        !WRONGTYPE Operation against a key holding the wrong kind of value
> LMPOP 2 k s LEFT                        =["k", ["x"]]
> LMPOP 1 k                               !ERR wrong number of arguments for 'lmpop' command
