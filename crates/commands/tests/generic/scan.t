> KEYS *                                  =[]
> SCAN 0                                  =["0", []]
> MSET firstname Jack lastname Stuntman age 35  =OK
> KEYS *name*                             =?["firstname", "lastname"]
> KEYS a??                                =["age"]
> KEYS *                                  =?["firstname", "lastname", "age"]
> KEYS nothing                            =[]
> KEYS AGE                                =[]
> SCAN 0 COUNT 1000                       =["0", ?["firstname", "lastname", "age"]]
> SCAN 0 MATCH *name COUNT 1000           =["0", ?["firstname", "lastname"]]
> SCAN 0 MATCH * COUNT 1000               =["0", ?["firstname", "lastname", "age"]]
> scan 0 match a* count 1000              =["0", ["age"]]
> RPUSH l x                               =1
> SCAN 0 TYPE list COUNT 1000             =["0", ["l"]]
> SCAN 0 TYPE LIST COUNT 1000             =["0", ["l"]]
> SCAN 0 TYPE string COUNT 1000 MATCH a*  =["0", ["age"]]
> SCAN 0 TYPE zset COUNT 1000             =["0", []]
> SCAN 0 TYPE nonsense COUNT 1000         =["0", []]
> SCAN 0 COUNT 1 COUNT 1000 MATCH x MATCH *  =["0", ?["firstname", "lastname", "age", "l"]]
> SCAN 0 COUNT 0                          !ERR syntax error
> SCAN 0 COUNT -1                         !ERR syntax error
> SCAN 0 COUNT abc                        !ERR value is not an integer or out of range
> SCAN 0 COUNT                            !ERR syntax error
> SCAN 0 MATCH                            !ERR syntax error
> SCAN 0 FOO 1                            !ERR syntax error
> SCAN 0 FOO                              !ERR syntax error
> SCAN abc                                !ERR invalid cursor
> SCAN -x                                 !ERR invalid cursor
> SCAN -                                  !ERR invalid cursor
> SCAN 1.5                                !ERR invalid cursor
> SCAN -0                                 =["0", *]
> SCAN +0                                 =["0", *]
> SCAN -1                                 =["0", *]
> SCAN -18446744073709551615 COUNT 1000   =[*, *]
> SCAN -18446744073709551616              !ERR invalid cursor
> SCAN +-1                                !ERR invalid cursor
> SCAN "+ 1"                              !ERR invalid cursor
> SCAN 0x1                                !ERR invalid cursor
> SCAN 00                                 =["0", *]
> SCAN "0\x00x"                           =["0", *]
> SCAN "\x000"                            =["0", *]
> SCAN "0 "                               !ERR invalid cursor
> SCAN "\n0"                              !ERR invalid cursor
> SCAN ""                                 =["0", *]
> SCAN " 1"                               !ERR invalid cursor
> SCAN 99999999999999999999               !ERR invalid cursor
> SCAN abc FOO                            !ERR invalid cursor
> SCAN                                    !ERR wrong number of arguments for 'scan' command
> KEYS                                    !ERR wrong number of arguments for 'keys' command
> KEYS a b                                !ERR wrong number of arguments for 'keys' command
> PEXPIRE l 1000                          =1
+1100
> KEYS l                                  =[]
> SCAN 0 TYPE list COUNT 1000             =["0", []]

# patterns
> FLUSHALL                                =OK
> MSET hello 1 hallo 1 hxllo 1 hllo 1 heeeello 1 "h*llo" 1 "h[llo" 1 "h\\llo" 1  =OK
> KEYS h?llo                              =?["hello", "hallo", "hxllo", "h*llo", "h[llo", "h\\llo"]
> KEYS h*llo                              =?["hello", "hallo", "hxllo", "hllo", "heeeello", "h*llo", "h[llo", "h\\llo"]
> KEYS h[ae]llo                           =?["hello", "hallo"]
> KEYS h[^e]llo                           =?["hallo", "hxllo", "h*llo", "h[llo", "h\\llo"]
> KEYS h[a-b]llo                          =["hallo"]
> KEYS h[b-a]llo                          =["hallo"]
> KEYS h[^a-z]llo                         =?["h*llo", "h[llo", "h\\llo"]
> KEYS "h\\*llo"                          =["h*llo"]
> KEYS "h\\[llo"                          =["h[llo"]
> KEYS "h\\\\llo"                         =["h\\llo"]
> KEYS "h[\\\\]llo"                       =["h\\llo"]
> KEYS "h[\\[]llo"                        =["h[llo"]
> KEYS "h[[]llo"                          =["h[llo"]
> KEYS "h[a"                              =[]
> KEYS "*[^"                              =?["h[llo", "hello", "hallo", "heeeello", "hxllo", "hllo", "h\\llo", "h*llo"]
> KEYS **l**o*                            =?["hello", "hallo", "hxllo", "hllo", "heeeello", "h*llo", "h[llo", "h\\llo"]
> KEYS "hello\\"                          =[]
> KEYS ""                                 =[]
> KEYS h[]llo                             =[]
> KEYS "h[e-]llo"                         =[]
> KEYS H*                                 =[]
