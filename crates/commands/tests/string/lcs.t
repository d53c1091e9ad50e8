> MSET key1 ohmytext key2 mynewtext       =OK
> LCS key1 key2                           ="mytext"
> LCS key1 key2 LEN                       =6
> LCS key1 key2 IDX                       ={"matches": [[[4, 7], [5, 8]], [[2, 3], [0, 1]]], "len": 6}
> LCS key1 key2 IDX MINMATCHLEN 4         ={"matches": [[[4, 7], [5, 8]]], "len": 6}
> LCS key1 key2 IDX MINMATCHLEN 4 WITHMATCHLEN  ={"matches": [[[4, 7], [5, 8], 4]], "len": 6}
> LCS key1 key2 IDX WITHMATCHLEN          ={"matches": [[[4, 7], [5, 8], 4], [[2, 3], [0, 1], 2]], "len": 6}
> LCS key1 key2 IDX MINMATCHLEN -5        ={"matches": [[[4, 7], [5, 8]], [[2, 3], [0, 1]]], "len": 6}
> LCS key1 key2 IDX MINMATCHLEN 9         ={"matches": [], "len": 6}
> LCS key1 key2 WITHMATCHLEN              ="mytext"
> LCS key1 key2 MINMATCHLEN 4             ="mytext"
> LCS key1 missing                        =""
> LCS key1 missing LEN                    =0
> LCS key1 missing IDX                    ={"matches": [], "len": 0}
> LCS missing missing2                    =""
> LCS key1 key1                           ="ohmytext"
> LCS key1 key1 IDX                       ={"matches": [[[0, 7], [0, 7]]], "len": 8}
> MSET a abcabba b cbabac                 =OK
> LCS a b                                 ="cbba"
> LCS a b IDX WITHMATCHLEN                =*
> LCS b a                                 ="baba"
> MSET n1 12345 n2 2345                   =OK
> LCS n1 n2                               ="2345"
> lcs key1 key2 len                       =6
> LCS key1 key2 LEN IDX                   !ERR If you want both the length and indexes, please just use IDX.
> LCS key1 key2 FOO                       !ERR syntax error
> LCS key1 key2 MINMATCHLEN               !ERR syntax error
> LCS key1 key2 MINMATCHLEN abc           !ERR value is not an integer or out of range
> RPUSH l a                               =1
> LCS key1 l                              !ERR The specified keys must contain string values
> LCS l key1                              !ERR The specified keys must contain string values
> LCS missing l                           !ERR The specified keys must contain string values
> LCS l l FOO                             !ERR The specified keys must contain string values
> LCS key1                                !ERR wrong number of arguments for 'lcs' command
> LCS                                     !ERR wrong number of arguments for 'lcs' command
