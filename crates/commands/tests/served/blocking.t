# What would block answers in a script as when its time is over
> EVAL "return redis.call('blmpop', 0, 1, 'none', 'LEFT')" 0                        =nil
> EVAL "return type(redis.call('blmpop', 0, 1, 'none', 'LEFT'))" 0                  ="boolean"
> EVAL "redis.setresp(3) return type(redis.call('blmpop', 0, 1, 'none', 'LEFT'))" 0  ="nil"
> EVAL "return redis.call('bzmpop', 0, 1, 'none', 'MIN')" 0                         =nil
> EVAL "return redis.pcall('blmpop', 'x', 1, 'none', 'LEFT').err" 0                 ="ERR timeout is not a float or out of range"

# So do those that 7.0 refused
since: 7.2 github.com/redis/redis/pull/11568
> EVAL "return redis.call('blpop', 'none', 0)" 0                                    =nil
> EVAL "return redis.call('brpop', 'none', 'other', 0)" 0                           =nil
> EVAL "return redis.call('blmove', 'none', 'to', 'LEFT', 'RIGHT', 0)" 0            =nil
> EVAL "return redis.call('brpoplpush', 'none', 'to', 0)" 0                         =nil
> EVAL "return redis.call('bzpopmin', 'none', 0)" 0                                 =nil
> EVAL "return redis.call('bzpopmax', 'none', 'other', 0)" 0                        =nil
> EVAL "return type(redis.call('blpop', 'none', 0))" 0                              ="boolean"
> EVAL "return type(redis.call('blmove', 'none', 'to', 'LEFT', 'RIGHT', 0))" 0      ="boolean"
> EVAL "redis.setresp(3) return type(redis.call('blpop', 'none', 0))" 0             ="nil"
> EVAL "redis.setresp(3) return type(redis.call('brpoplpush', 'none', 'to', 0))" 0  ="nil"
> EVAL "redis.setresp(3) return type(redis.call('bzpopmin', 'none', 0))" 0          ="nil"
> EVAL "return redis.pcall('blpop', 'none', 'x').err" 0                             ="ERR timeout is not a float or out of range"
> EVAL "return redis.pcall('blpop', 'none', -1).err" 0                              ="ERR timeout is negative"
> EVAL "return redis.pcall('blpop', 'none').err" 0                                  ="ERR Wrong number of args calling Redis command from script"
> EVAL "return redis.call('wait', 1, 0)" 0                                          =0
> EVAL_RO "return redis.call('blpop', 'none', 0)" 0                                 !ERR Write commands are not allowed from read-only scripts

# And what is there they take
since: 7.2 github.com/redis/redis/pull/11568
> RPUSH list a b c d e                                                              =5
> EVAL "return redis.call('blpop', 'none', KEYS[1], 0)" 1 list                      =["list", "a"]
> EVAL "return redis.call('brpop', KEYS[1], 0)" 1 list                              =["list", "e"]
> EVAL "return redis.call('blmove', KEYS[1], KEYS[2], 'LEFT', 'RIGHT', 0)" 2 list to  ="b"
> EVAL "return redis.call('brpoplpush', KEYS[1], KEYS[2], 0)" 2 list to             ="d"
> LRANGE to 0 -1                                                                    =["d", "b"]
> ZADD sorted 1 one 2 two                                                           =2
> EVAL "return redis.call('bzpopmin', KEYS[1], 0)" 1 sorted                         =["sorted", "one", "1"]
> EVAL "redis.setresp(3) return redis.call('bzpopmax', KEYS[1], 0)[3].double" 1 sorted  =2
> SET text v                                                                        =OK
> EVAL "return redis.pcall('blpop', KEYS[1], 0).err" 1 text                         ="WRONGTYPE Operation against a key holding the wrong kind of value"

# Streams that are read with BLOCK
since: 7.4 github.com/redis/redis/pull/12596
> XADD stream 1-1 field value                                                       ="1-1"
> EVAL "return redis.call('xread', 'BLOCK', 0, 'STREAMS', KEYS[1], '$')" 1 stream   =nil
> EVAL "return type(redis.call('xread', 'BLOCK', 0, 'STREAMS', KEYS[1], '$'))" 1 stream  ="boolean"
> EVAL "redis.setresp(3) return type(redis.call('xread', 'BLOCK', 0, 'STREAMS', KEYS[1], '$'))" 1 stream  ="nil"
> EVAL "return redis.call('xread', 'BLOCK', 0, 'STREAMS', KEYS[1], '0')" 1 stream   =[["stream", [["1-1", ["field", "value"]]]]]
> XGROUP CREATE stream group $                                                      =OK
> EVAL "return redis.call('xreadgroup', 'GROUP', 'group', 'me', 'BLOCK', 0, 'STREAMS', KEYS[1], '>')" 1 stream  =nil
> EVAL "redis.setresp(3) return type(redis.call('xreadgroup', 'GROUP', 'group', 'me', 'BLOCK', 0, 'STREAMS', KEYS[1], '>'))" 1 stream  ="nil"

# And the disk that is waited for
since: 7.4 github.com/redis/redis/pull/12977
> EVAL "return #redis.call('waitaof', 0, 0, 0)" 0                                   =2
> EVAL "return redis.call('waitaof', 0, 1, 0)[2]" 0                                 =0

# Messages of queues
since: 1000.0 bobbin
> EVAL "return redis.call('q.reserve', 'none', 'BLOCK', 0)" 0                       =nil
> EVAL "return type(redis.call('q.reserve', 'none', 'BLOCK', 0))" 0                 ="boolean"
> EVAL "redis.setresp(3) return type(redis.call('q.reserve', 'none', 'BLOCK', 0))" 0  ="nil"
> EVAL "return redis.call('mq.get', 'none', 'BLOCK', 0)" 0                          =nil
> EVAL "return redis.call('mq.open', 'none', 'BLOCK', 0)" 0                         =nil
> EVAL "redis.setresp(3) return type(redis.call('mq.peek', 'none', 'BLOCK', 0))" 0  ="nil"
> Q.PUSH queue message                                                              =*
> EVAL "return redis.call('q.reserve', KEYS[1], 'BLOCK', 0)[2][1][3]" 1 queue       ="message"
> EVAL "return redis.call('q.reserve', KEYS[1], 'BLOCK', 0)" 1 queue                =nil

# There is no debugger
> SCRIPT DEBUG NO                                                                   =OK
> SCRIPT DEBUG MAYBE                                                                !ERR Use SCRIPT DEBUG YES/SYNC/NO
> MULTI                                                                             =OK
> SCRIPT DEBUG NO                                                                   =QUEUED
> DISCARD                                                                           =OK
