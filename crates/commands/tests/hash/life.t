since: 8.0 redis.io/commands/hgetdel, hgetex, hsetex
> HSET k a 1 b 2 c 3                      =3
> HGETDEL k FIELDS 3 a none a             =["1", nil, nil]
> HGETALL k                               ={"b": "2", "c": "3"}
> HGETDEL k FIELDS 2 b c                  =["2", "3"]
> EXISTS k                                =0
> HGETDEL k FIELDS 2 b c                  =[nil, nil]
> HSET k a 1 b 2 c 3                      =3
> HGETEX k FIELDS 2 a none                =["1", nil]
> HTTL k FIELDS 1 a                       =[-1]
> HGETEX k EX 100 FIELDS 3 a b none       =["1", "2", nil]
> HTTL k FIELDS 3 a b c                   =[40..100, 40..100, -1]
> HGETEX k PERSIST FIELDS 2 a c           =["1", "3"]
> HTTL k FIELDS 2 a b                     =[-1, 40..100]
> HGETEX k PXAT 33177117420001 FIELDS 1 a  =["1"]
> HPEXPIRETIME k FIELDS 1 a               =[33177117420001]
> HGETEX k EXAT 33177117420 FIELDS 1 a    =["1"]
> HGETEX k PX 100000 FIELDS 1 c           =["3"]
> HPTTL k FIELDS 1 c                      =[40000..100000]
> HGETEX k EXAT 1 FIELDS 3 a a b          =["1", nil, "2"]
> HGETALL k                               ={"c": "3"}
> HGETEX missing EX 100 FIELDS 1 a        =[nil]
> HSETEX k FIELDS 2 a 1 c 4               =1
> HTTL k FIELDS 2 a c                     =[-1, -1]
> HSETEX k EX 100 FIELDS 2 a 1 b 2        =1
> HTTL k FIELDS 2 a b                     =[40..100, 40..100]
> HSETEX k KEEPTTL FIELDS 2 a 5 c 6       =1
> HTTL k FIELDS 3 a b c                   =[40..100, 40..100, -1]
> HSETEX k FNX FIELDS 2 a x new y         =0
> HSETEX k FXX FIELDS 2 a x new y         =0
> HSETEX k FNX FIELDS 1 new y             =1
> HSETEX k FXX PXAT 33177117420001 FIELDS 2 a x new z  =1
> HPEXPIRETIME k FIELDS 2 a new           =[33177117420001, 33177117420001]
> HGETALL k                               ={"c": "6", "a": "x", "b": "2", "new": "z"}
> HSETEX k PX 1000 FIELDS 1 a 1           =1
+1100
> HSETEX k FXX FIELDS 1 a 2               =0
> HSETEX k KEEPTTL FIELDS 2 a 2 b 3       =1
> HTTL k FIELDS 2 a b                     =[-1, 40..100]
> HSETEX k EXAT 1 FIELDS 2 a 1 b 2        =1
> HGETALL k                               ={"c": "6", "new": "z"}
> HSETEX fresh FXX FIELDS 1 a 1           =0
> HSETEX fresh EXAT 1 FIELDS 1 a 1        =1
> EXISTS fresh                            =0
> HSETEX fresh FNX EX 100 FIELDS 1 a 1    =1
> OBJECT ENCODING fresh                   ="listpackex"
> SET s v                                 =OK
> HGETDEL s FIELDS 1 a                    !WRONGTYPE Operation against a key holding the wrong kind of value
> HGETEX s FIELDS 1 a                     !WRONGTYPE Operation against a key holding the wrong kind of value
> HSETEX s FIELDS 1 a 1                   !WRONGTYPE Operation against a key holding the wrong kind of value
> HGETDEL k FIELD 1 a                     !ERR Mandatory argument FIELDS is missing or not at the right position
> HGETDEL k FIELDS 0 a                    !ERR Number of fields must be a positive integer
> HGETDEL k FIELDS 2 a                    !ERR The `numfields` parameter must match the number of arguments
> HGETEX k EX 0 FIELDS 1 none             =[nil]
> HGETEX k EX x FIELDS 1 a                !ERR value is not an integer or out of range
> HGETEX k EX -5 FIELDS 1 a               !ERR invalid expire time, must be >= 0
> HGETEX k EXAT 99999999999 FIELDS 1 a    !ERR invalid expire time in 'hgetex' command
> HGETEX k FOO FIELDS 1 a                 !ERR Mandatory argument FIELDS is missing or not at the right position
> HGETEX k FIELDS x a                     !ERR Number of fields must be a positive integer
> HGETEX k FIELDS 2 a                     !ERR The `numfields` parameter must match the number of arguments
> HSETEX k FNX FXX FIELDS 1 a 1           !ERR Only one of FXX or FNX arguments can be specified
> HSETEX k EX 60 KEEPTTL FIELDS 1 a 1     !ERR Only one of EX, PX, EXAT, PXAT or KEEPTTL arguments can be specified
> HSETEX k BOGUS FIELDS 1 a 1             !ERR unknown argument: BOGUS
> HSETEX k FIELDS x a 1                   !ERR invalid number of fields
> HSETEX k FIELDS 0 a 1                   !ERR invalid number of fields
> HSETEX k FIELDS 2 a 1                   !ERR wrong number of arguments for 'hsetex' command
> HSETEX k FIELDS 1 a 1 b                 !ERR wrong number of arguments for 'hsetex' command
> HSETEX k FIELDS 1 a                     !ERR wrong number of arguments for 'hsetex' command
> HSETEX k FNX 1 2 3                      !ERR unknown argument: 1
