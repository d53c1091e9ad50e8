> SADD s a                                =1
> SADD s a b c a                          =2
> SMEMBERS s                              =~["a", "b", "c"]
> TYPE s                                  =set
> SADD s ""                               =1
> SADD s "\x00\r\n"                       =1
> SADD s "\xf8" "\xf9\x00\x00\x01" "\xff"  =3
> SISMEMBER s "\xf9\x00\x00\x01"          =1
> SISMEMBER s 1                           =0
> SREM s "\xf8" "\xff" "\xf9\x00\x00\x01"  =3
> SREM s "" nothing "\x00\r\n"            =2
> SREM s a a a                            =1
> SREM s b c c b                          =2
> EXISTS s                                =0
> SREM s a                                =0
> TYPE s                                  =none

# integers, in numeric order while there is nothing else
> SADD i 3 1 2                            =3
> SADD i -5 9223372036854775807 -9223372036854775808 1  =3
> SMEMBERS i                              =~["-9223372036854775808", "-5", "1", "2", "3", "9223372036854775807"]
> OBJECT ENCODING i                       ="intset"
> SISMEMBER i 1                           =1
> SISMEMBER i 01                          =0
> SISMEMBER i +1                          =0
> SISMEMBER i x                           =0
> SREM i 1 01 x                           =1
> SADD i 9223372036854775808              =1
> SISMEMBER i 9223372036854775808         =1
> SCARD i                                 =6
> SREM i 9223372036854775808 3            =2
> SMEMBERS i                              =~["-9223372036854775808", "-5", "2", "9223372036854775807"]

since: 7.2 redis.io/commands/object-encoding: a small set of texts is a listpack, in the order in which they came
> SADD l 3 1 x 2                          =4
> OBJECT ENCODING l                       ="listpack"
> SMEMBERS l                              =~["1", "3", "x", "2"]
> SREM l x                                =1
> OBJECT ENCODING l                       ="listpack"
> SADD l 0                                =1
> SMEMBERS l                              =~["1", "3", "2", "0"]
> SADD w 0123456789012345678901234567890123456789012345678901234567890123  =1
> OBJECT ENCODING w                       ="listpack"
> SADD w 01234567890123456789012345678901234567890123456789012345678901234  =1
> OBJECT ENCODING w                       ="hashtable"
> SREM w 01234567890123456789012345678901234567890123456789012345678901234  =1
> OBJECT ENCODING w                       ="hashtable"

> OBJECT ENCODING missing                 =nil

# between sets
> SADD a x y 1                            =3
> SADD b 2                                =1
> SMOVE a b x                             =1
> SMEMBERS b                              =~["2", "x"]
> SMOVE a b x                             =0
> SMOVE a b 1                             =1
> SMOVE a fresh y                         =1
> EXISTS a                                =0
> SMEMBERS fresh                          =~["y"]
> SMOVE b b x                             =1
> SMOVE b b nothing                       =0
> SMOVE missing b x                       =0
> SADD fresh x                            =1
> SMOVE b fresh x                         =1
> SMEMBERS fresh                          =~["x", "y"]
> SMEMBERS b                              =~["1", "2"]
> SET t v                                 =OK
> SMOVE missing t x                       =0
> SMOVE b t nothing                       !WRONGTYPE Operation against a key holding the wrong kind of value
> SMOVE b t 1                             !WRONGTYPE Operation against a key holding the wrong kind of value
> SMOVE t b 1                             !WRONGTYPE Operation against a key holding the wrong kind of value
> SADD t a                                !WRONGTYPE Operation against a key holding the wrong kind of value
> SREM t a                                !WRONGTYPE Operation against a key holding the wrong kind of value
> LPUSH b a                               !WRONGTYPE Operation against a key holding the wrong kind of value
> GET b                                   !WRONGTYPE Operation against a key holding the wrong kind of value
> SADD b                                  !ERR wrong number of arguments for 'sadd' command
> SREM b                                  !ERR wrong number of arguments for 'srem' command
> SMOVE a b                               !ERR wrong number of arguments for 'smove' command
> SMOVE a b c d                           !ERR wrong number of arguments for 'smove' command

# deadlines
> EXPIRE b 100                            =1
> SADD b 7                                =1
> TTL b                                   =40..100
> SREM b 7                                =1
> TTL b                                   =40..100
> PEXPIRE b 1000                          =1
+1100
> SADD b 9                                =1
> SMEMBERS b                              =~["9"]
> TTL b                                   =-1

# as a whole
> SADD whole 1 2 three                    =3
> COPY whole copy                         =1
> SADD copy four                          =1
> SMEMBERS whole                          =~["1", "2", "three"]
> RENAME copy renamed                     =OK
> SMEMBERS renamed                        =~["1", "2", "three", "four"]
> SCAN 0 TYPE set COUNT 1000 MATCH ?e*ed  =["0", ["renamed"]]
