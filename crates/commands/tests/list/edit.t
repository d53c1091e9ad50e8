# LSET
> RPUSH k one two three                   =3
> LSET k 0 four                           =OK
> LSET k -2 five                          =OK
> LRANGE k 0 -1                           =["four", "five", "three"]
> LSET k 3 x                              !ERR index out of range
> LSET k -4 x                             !ERR index out of range
> LSET k abc x                            !ERR value is not an integer or out of range
> LSET missing 0 x                        !ERR no such key
> LSET missing abc x                      !ERR no such key
> LSET k 0                                !ERR wrong number of arguments for 'lset' command
> SET s v                                 =OK
> LSET s 0 x                              !WRONGTYPE Operation against a key holding the wrong kind of value
> LSET s abc x                            !WRONGTYPE Operation against a key holding the wrong kind of value
> LSET k 1 ""                             =OK
> LSET k 2 "a much longer element than the one that was there before it"  =OK
> LRANGE k 0 -1                           =["four", "", "a much longer element than the one that was there before it"]

# LINSERT
> DEL k                                   =1
> RPUSH k Hello World                     =2
> LINSERT k BEFORE World There            =3
> LRANGE k 0 -1                           =["Hello", "There", "World"]
> LINSERT k AFTER World "!"               =4
> linsert k before Hello Oh               =5
> LINSERT k AFTER Hello my                =6
> LRANGE k 0 -1                           =["Oh", "Hello", "my", "There", "World", "!"]
> LINSERT k AFTER nothing x               =-1
> LINSERT missing BEFORE a b              =0
> EXISTS missing                          =0
> LINSERT k AROUND a b                    !ERR syntax error
> LINSERT missing AROUND a b              !ERR syntax error
> LINSERT s BEFORE a b                    !WRONGTYPE Operation against a key holding the wrong kind of value
> LINSERT s AROUND a b                    !ERR syntax error
> LINSERT k BEFORE a                      !ERR wrong number of arguments for 'linsert' command
> RPUSH twice a b a                       =3
> LINSERT twice BEFORE a x                =4
> LINSERT twice AFTER a y                 =5
> LRANGE twice 0 -1                       =["x", "a", "y", "b", "a"]

# LREM
> DEL k                                   =1
> RPUSH k hello hello foo hello           =4
> LREM k -2 hello                         =2
> LRANGE k 0 -1                           =["hello", "foo"]
> RPUSH k a b a c a a                     =8
> LREM k 2 a                              =2
> LRANGE k 0 -1                           =["hello", "foo", "b", "c", "a", "a"]
> LREM k 0 a                              =2
> LRANGE k 0 -1                           =["hello", "foo", "b", "c"]
> LREM k 0 nothing                        =0
> LREM k -100 hello                       =1
> LREM missing 0 a                        =0
> LREM missing abc a                      !ERR value is not an integer or out of range
> LREM k abc a                            !ERR value is not an integer or out of range
> LREM k 0                                !ERR wrong number of arguments for 'lrem' command
> LREM s 0 a                              !WRONGTYPE Operation against a key holding the wrong kind of value
> LREM s abc a                            !ERR value is not an integer or out of range
> RPUSH all x x x                         =3
> LREM all 0 x                            =3
> EXISTS all                              =0
> RPUSH all x x y x x                     =5
> LREM all -3 x                           =3
> LRANGE all 0 -1                         =["x", "y"]
> LREM all 1 x                            =1
> LRANGE all 0 -1                         =["y"]
> LREM all -9223372036854775808 y         =1
> EXISTS all                              =0

# LTRIM
> DEL k                                   =1
> RPUSH k one two three four five         =5
> LTRIM k 1 -1                            =OK
> LRANGE k 0 -1                           =["two", "three", "four", "five"]
> LTRIM k -3 -2                           =OK
> LRANGE k 0 -1                           =["three", "four"]
> LTRIM k 0 100                           =OK
> LRANGE k 0 -1                           =["three", "four"]
> LTRIM k 0 -100                          =OK
> EXISTS k                                =0
> RPUSH k a b c                           =3
> LTRIM k 5 10                            =OK
> EXISTS k                                =0
> RPUSH k a b c                           =3
> LTRIM k 2 1                             =OK
> EXISTS k                                =0
> RPUSH k a b c                           =3
> EXPIRE k 100                            =1
> LTRIM k 1 1                             =OK
> TTL k                                   =40..100
> LTRIM k a 1                             !ERR value is not an integer or out of range
> LTRIM k 0 b                             !ERR value is not an integer or out of range
> LTRIM missing 0 1                       =OK
> LTRIM missing a b                       !ERR value is not an integer or out of range
> LTRIM s 0 1                             !WRONGTYPE Operation against a key holding the wrong kind of value
> LTRIM s a b                             !ERR value is not an integer or out of range
> LTRIM k 0                               !ERR wrong number of arguments for 'ltrim' command

# LTRIMFRONT LTRIMBACK, as LedisDB and SSDB have them
since: 1000.0 bobbin
> DEL k                                   =1
> RPUSH k a b c d e                       =5
> LTRIMFRONT k 2                          =2
> LRANGE k 0 -1                           =["c", "d", "e"]
> LTRIMBACK k 1                           =1
> LRANGE k 0 -1                           =["c", "d"]
> LTRIMFRONT k 0                          =0
> LTRIMBACK k 0                           =0
> LLEN k                                  =2
> EXPIRE k 100                            =1
> LTRIMFRONT k 1                          =1
> TTL k                                   =40..100
> LTRIMBACK k 9223372036854775807         =1
> EXISTS k                                =0
> RPUSH k a b                             =2
> LTRIMFRONT k 2                          =2
> EXISTS k                                =0
> LTRIMFRONT missing 3                    =0
> LTRIMBACK missing 3                     =0
> LTRIMFRONT k -1                         !ERR value is out of range, must be positive
> LTRIMBACK k x                           !ERR value is out of range, must be positive
> LTRIMBACK s 1                           !WRONGTYPE Operation against a key holding the wrong kind of value
> LTRIMFRONT k                            !ERR wrong number of arguments for 'ltrimfront' command
> LTRIMBACK k 1 2                         !ERR wrong number of arguments for 'ltrimback' command
