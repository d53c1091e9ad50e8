# names in the order of their bytes, as LedisDB and SSDB have them
since: 1000.0 bobbin
> KEYRANGE - +                            =[]
> DELRANGE - +                            =0
> MSET b 1 a 2 d 3 c 4 aa 5               =OK
> KEYRANGE - +                            =["a", "aa", "b", "c", "d"]
> KEYRANGE - + REV                        =[]
> keyrange + - rev                        =["d", "c", "b", "aa", "a"]
> KEYRANGE + -                            =[]
> KEYRANGE + - REV                        =["d", "c", "b", "aa", "a"]
> KEYRANGE [a [c                          =["a", "aa", "b", "c"]
> KEYRANGE (a (c                          =["aa", "b"]
> KEYRANGE [b +                           =["b", "c", "d"]
> KEYRANGE - (b                           =["a", "aa"]
> KEYRANGE [bb [cc                        =["c"]
> KEYRANGE [c [a                          =[]
> KEYRANGE [c [a REV                      =["c", "b", "aa", "a"]
> KEYRANGE (c (a REV                      =["b", "aa"]
> KEYRANGE [a [a                          =["a"]
> KEYRANGE (a [a                          =[]
> KEYRANGE [ (b                           =["a", "aa"]
> KEYRANGE ( [a                           =["a"]
> KEYRANGE + +                            =[]
> KEYRANGE - -                            =[]

# the first so many
since: 1000.0 bobbin
> KEYRANGE - + LIMIT 2                    =["a", "aa"]
> KEYRANGE + - REV LIMIT 2                =["d", "c"]
> KEYRANGE (aa + LIMIT 2                  =["b", "c"]
> KEYRANGE - + LIMIT 0                    =[]
> KEYRANGE - + LIMIT 9223372036854775807  =["a", "aa", "b", "c", "d"]
> KEYRANGE - + LIMIT 3 LIMIT 1            =["a"]

# of one kind
since: 1000.0 bobbin
> RPUSH b:list x                          =1
> SADD a:set x                            =1
> ZADD e:sorted 1 x                       =1
> HSET e:hash f v                         =1
> KEYRANGE - + TYPE list                  =["b:list"]
> KEYRANGE - + TYPE LIST                  =["b:list"]
> KEYRANGE - + TYPE string LIMIT 3        =["a", "aa", "b"]
> KEYRANGE + - REV LIMIT 3 TYPE string    =["d", "c", "b"]
> KEYRANGE - + TYPE nonsense              =[]
> KEYRANGE [e + TYPE zset                 =["e:sorted"]
> KEYRANGE [e + TYPE hash REV             =[]
> KEYRANGE + [e TYPE hash REV             =["e:hash"]

# what comes, goes, moves and expires
since: 1000.0 bobbin
> RENAME a z                              =OK
> KEYRANGE - +                            =["a:set", "aa", "b", "b:list", "c", "d", "e:hash", "e:sorted", "z"]
> DEL aa d                                =2
> LPOP b:list                             ="x"
> PEXPIRE z 4000                          =1
> MOVE c 1                                =1
> COPY b bb                               =1
> KEYRANGE - +                            =["a:set", "b", "bb", "e:hash", "e:sorted", "z"]
+4100
> KEYRANGE - +                            =["a:set", "b", "bb", "e:hash", "e:sorted"]
> SELECT 1                                =OK
> KEYRANGE - +                            =["c"]
> SELECT 0                                =OK
> SWAPDB 0 1                              =OK
> KEYRANGE - +                            =["c"]
> FLUSHDB                                 =OK
> KEYRANGE - +                            =[]
> SWAPDB 0 1                              =OK
> KEYRANGE + - REV                        =["e:sorted", "e:hash", "bb", "b", "a:set"]

# any bytes
since: 1000.0 bobbin
> FLUSHALL                                =OK
> MSET "" 1 "\x00" 2 "\xff" 3 "\xff\xff" 4 "a b" 5 "[" 6 "(" 7 "-" 8 "+" 9  =OK
> KEYRANGE - +                            =["", "\x00", "(", "+", "-", "[", "a b", "\xff", "\xff\xff"]
> KEYRANGE [[ [[                          =["["]
> KEYRANGE "(\xff" +                      =["\xff\xff"]
> KEYRANGE - "[\x00"                      =["", "\x00"]

# removing
since: 1000.0 bobbin
> FLUSHALL                                =OK
> MSET a 1 b 2 c 3 d 4 e 5                =OK
> RPUSH cc x                              =1
> RPUSH dd x                              =1
> DELRANGE [b (c                          =1
> DELRANGE (c + LIMIT 2 TYPE string       =2
> KEYRANGE - +                            =["a", "c", "cc", "dd"]
> DELRANGE - + TYPE list LIMIT 1          =1
> DELRANGE - + LIMIT 0                    =0
> DELRANGE + -                            =0
> DELRANGE - + TYPE nonsense              =0
> KEYRANGE - +                            =["a", "c", "dd"]
> PEXPIRE a 1000                          =1
+1100
> DELRANGE - +                            =2
> EXISTS a c dd                           =0

# what makes no sense
since: 1000.0 bobbin
> KEYRANGE a +                            !ERR min or max not valid string range item
> KEYRANGE - b                            !ERR min or max not valid string range item
> KEYRANGE "" +                           !ERR min or max not valid string range item
> KEYRANGE - "" REV                       !ERR min or max not valid string range item
> DELRANGE a +                            !ERR min or max not valid string range item
> DELRANGE + b                            !ERR min or max not valid string range item
> KEYRANGE - + LIMIT                      !ERR syntax error
> KEYRANGE - + LIMIT -1                   !ERR LIMIT can't be negative
> KEYRANGE - + LIMIT x                    !ERR LIMIT can't be negative
> KEYRANGE - + TYPE                       !ERR syntax error
> KEYRANGE - + FOO                        !ERR syntax error
> KEYRANGE a + FOO                        !ERR syntax error
> DELRANGE - + REV                        !ERR syntax error
> DELRANGE - + LIMIT -1                   !ERR LIMIT can't be negative
> KEYRANGE -                              !ERR wrong number of arguments for 'keyrange' command
> DELRANGE                                !ERR wrong number of arguments for 'delrange' command
