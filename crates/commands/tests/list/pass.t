> RPUSH k one two three                   =3
> LMOVE k other RIGHT LEFT                ="three"
> LMOVE k other LEFT RIGHT                ="one"
> LRANGE k 0 -1                           =["two"]
> LRANGE other 0 -1                       =["three", "one"]
> LMOVE k other left left                 ="two"
> EXISTS k                                =0
> LRANGE other 0 -1                       =["two", "three", "one"]
> LMOVE k other LEFT LEFT                 =nil
> LMOVE other other LEFT RIGHT            ="two"
> LRANGE other 0 -1                       =["three", "one", "two"]
> LMOVE other other RIGHT LEFT            ="two"
> LMOVE other other LEFT LEFT             ="two"
> LMOVE other other RIGHT RIGHT           ="one"
> LRANGE other 0 -1                       =["two", "three", "one"]
> LMOVE other k LEFT UP                   !ERR syntax error
> LMOVE other k DOWN LEFT                 !ERR syntax error
> LMOVE missing k UP DOWN                 !ERR syntax error
> LMOVE other k LEFT                      !ERR wrong number of arguments for 'lmove' command
> SET s v                                 =OK
> LMOVE s other LEFT LEFT                 !WRONGTYPE Operation against a key holding the wrong kind of value
> LMOVE other s LEFT LEFT                 !WRONGTYPE Operation against a key holding the wrong kind of value
> LMOVE missing s LEFT LEFT               =nil
> LMOVE s s LEFT LEFT                     !WRONGTYPE Operation against a key holding the wrong kind of value
> LLEN other                              =3
> RPUSH one x                             =1
> EXPIRE one 100                          =1
> LMOVE one one LEFT RIGHT                ="x"
> TTL one                                 =40..100
> LMOVE one two LEFT RIGHT                ="x"
> TTL two                                 =-1
> EXISTS one                              =0

# RPOPLPUSH
> DEL k other                             =1
> RPUSH k one two three                   =3
> RPOPLPUSH k other                       ="three"
> LRANGE k 0 -1                           =["one", "two"]
> LRANGE other 0 -1                       =["three"]
> RPOPLPUSH k k                           ="two"
> LRANGE k 0 -1                           =["two", "one"]
> RPOPLPUSH missing k                     =nil
> RPOPLPUSH missing s                     =nil
> RPOPLPUSH s k                           !WRONGTYPE Operation against a key holding the wrong kind of value
> RPOPLPUSH k s                           !WRONGTYPE Operation against a key holding the wrong kind of value
> RPOPLPUSH k                             !ERR wrong number of arguments for 'rpoplpush' command
> RPOPLPUSH k other x                     !ERR wrong number of arguments for 'rpoplpush' command
