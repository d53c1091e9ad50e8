since: 7.4 redis.io/commands/httl
> HSET k a 1 b 2                          =2
> HTTL k FIELDS 2 a none                  =[-1, -2]
> HPTTL k FIELDS 2 a none                 =[-1, -2]
> HEXPIRETIME k FIELDS 2 a none           =[-1, -2]
> HPEXPIRETIME k FIELDS 2 a none          =[-1, -2]
> HPERSIST k FIELDS 2 a none              =[-1, -2]
> HPEXPIREAT k 33177117420001 FIELDS 1 a  =[1]
> HEXPIRETIME k FIELDS 1 a                =[33177117421]
> HPEXPIRETIME k FIELDS 1 a               =[33177117420001]
> HEXPIRE k 100 FIELDS 1 a                =[1]
> HTTL k FIELDS 1 a                       =[40..100]
> HPTTL k FIELDS 1 a                      =[40000..100000]
> HPERSIST k FIELDS 4 a a b none          =[1, -1, -1, -2]
> HTTL k FIELDS 1 a                       =[-1]
> OBJECT ENCODING k                       ="listpackex"
> HTTL missing FIELDS 2 a b               =[-2, -2]
> HPERSIST missing FIELDS 1 a             =[-2]
> SET s v                                 =OK
> HTTL s FIELDS 1 a                       !WRONGTYPE Operation against a key holding the wrong kind of value
> HPTTL s FIELDS 1 a                      !WRONGTYPE Operation against a key holding the wrong kind of value
> HEXPIRETIME s FIELDS 1 a                !WRONGTYPE Operation against a key holding the wrong kind of value
> HPEXPIRETIME s FIELDS 1 a               !WRONGTYPE Operation against a key holding the wrong kind of value
> HPERSIST s FIELDS 1 a                   !WRONGTYPE Operation against a key holding the wrong kind of value
> HTTL k FIELD 1 a                        !ERR Mandatory argument FIELDS is missing or not at the right position
> HTTL k FIELDS 0 a                       !ERR Number of fields must be a positive integer
> HTTL k FIELDS x a                       !ERR Number of fields must be a positive integer
> HTTL k FIELDS 2 a                       !ERR The `numfields` parameter must match the number of arguments
> HPERSIST k FIELDS 2 a                   !ERR The `numfields` parameter must match the number of arguments
> HTTL k FIELDS 1                         !ERR wrong number of arguments for 'httl' command
