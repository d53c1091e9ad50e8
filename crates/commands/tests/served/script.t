# What a script returns
> EVAL "return 1.9" 0                                     =1
> EVAL "return {1,2,{3,'x',nil,5}}" 0                     =[1, 2, [3, "x"]]
> EVAL "return 'text'" 0                                  ="text"
> EVAL "return string.format('%05d %s', 42, 1.5)" 0       ="00042 1.5"
> EVAL "return true" 0                                    =1
> EVAL "return false" 0                                   =nil
> EVAL "return nil" 0                                     =nil
> EVAL "return {ok='FINE'}" 0                             =FINE
> EVAL "return {err='MY error'}" 0                        !MY error
> EVAL "return redis.status_reply('OK')" 0                =OK
> EVAL "return redis.error_reply('wrong')" 0              !ERR wrong
> EVAL "return redis.error_reply('MY wrong')" 0           !MY wrong
> EVAL "return {KEYS,ARGV}" 2 a b c d                     =[["a", "b"], ["c", "d"]]
> EVAL "return {'a', function() end, 'b'}" 0              =["a", nil, "b"]

# What it calls
> EVAL "return redis.call('SET', KEYS[1], ARGV[1])" 1 k v  =OK
> EVAL "return redis.call('GET', KEYS[1])" 1 k            ="v"
> EVAL "return redis.call('get', KEYS[1])" 1 missing      =nil
> EVAL "return type(redis.call('get', 'missing'))" 0      ="boolean"
> EVAL "return redis.call('set', 'number', 1.5)" 0        =OK
> EVAL "return redis.call('incrbyfloat', 'number', 1)" 0  ="2.5"
> EVAL "redis.call('rpush', 'list', 1, 2, 3) return redis.call('lrange', 'list', 0, -1)" 1 list  =["1", "2", "3"]
> EVAL "return redis.call('ping').ok" 0                   ="PONG"
> EVAL "return #redis.call('lrange', 'list', 0, -1)" 1 list  =3
> EVAL "redis.call('select', 3) redis.call('set', 'there', 1)" 0  =nil
> EXISTS there                                            =0
> EVAL "redis.call('select', 3) return redis.call('get', 'there')" 0  ="1"

# Errors
> EVAL "return redis.call('get', 'list')" 0               !WRONGTYPE Operation against a key holding the wrong kind of value script: 95f89e5d05af14f112f4bacfca644c6e9372d8d5, on @user_script:1.
> EVAL "return redis.pcall('get', 'list').err" 0          ="WRONGTYPE Operation against a key holding the wrong kind of value"
> EVAL "return {pcall(redis.call, 'get', 'list')}" 0      =[nil, "WRONGTYPE Operation against a key holding the wrong kind of value"]
> EVAL "redis.call('set', 'kept', 1) error('late')" 0     !ERR user_script:1: late script:
> GET kept                                                ="1"
> EVAL "return redis.call('nosuch')" 0                    !ERR Unknown Redis command called from script script:
> EVAL "return redis.call('get')" 0                       !ERR Wrong number of args calling Redis command from script script:
> EVAL "return redis.call()" 0                            !ERR Please specify at least one argument for this redis lib call script:
> EVAL "return redis.call({})" 0                          !ERR Lua redis lib command arguments must be strings or integers script:
> EVAL "return redis.call('subscribe', 'x')" 0            !ERR This Redis command is not allowed from script script:
> EVAL "retur 1" 0                                        !ERR Error compiling script (new function): user_script:1:
> EVAL "error({err='MY word'})" 0                         !MY word script:
> EVAL "local x; x.y = 1" 0                               !ERR user_script:1: attempt to index
> EVAL "return 1" x                                       !ERR value is not an integer or out of range
> EVAL "return 1" 2 a                                     !ERR Number of keys can't be greater than number of args
> EVAL "return 1" -1                                      !ERR Number of keys can't be negative
> EVAL "return 1"                                         !ERR wrong number of arguments for 'eval' command

# What all scripts share is kept from them
> EVAL "return nosuch" 0                                  !ERR user_script:1: Script attempted to access nonexistent global variable 'nosuch' script:
> EVAL "x = 1" 0                                          !ERR user_script:1: Attempt to modify a readonly table script:
> EVAL "redis.call = 1" 0                                 !ERR user_script:1: Attempt to modify a readonly table script:
> EVAL "rawset(_G, 'x', 1)" 0                             !ERR Attempt to modify a readonly table script:
> EVAL "setmetatable(_G, {})" 0                           !ERR Attempt to modify a readonly table script:
> EVAL "table.insert(_G, 1)" 0                            !ERR Attempt to modify a readonly table script:
> EVAL "table.insert(redis, 1, 2)" 0                      !ERR Attempt to modify a readonly table script:
> EVAL "return {rawget(_G, 1) == nil, redis[1]}" 0       =[1]
> EVAL "local t = {1} table.insert(t, 2) table.insert(t, 1, 0) return t" 0  =[0, 1, 2]
> EVAL "table.insert({}, 1, 2, 3)" 0                      !ERR user_script:1: wrong number of arguments to 'insert' script:
> EVAL "table.insert({}, 'x', 2)" 0                       !ERR user_script:1: bad argument #2 to 'insert' (number expected, got string) script:
> EVAL "table.insert(5, 1)" 0                             !ERR user_script:1: bad argument #1 to 'insert' (table expected, got number) script:
> EVAL "getmetatable('').__index = 1" 0                   !ERR user_script:1: Attempt to modify a readonly table script:
> EVAL "return {loadstring(string.char(27) .. 'Lua')}" 0  =[]
> EVAL "print('x')" 0                                     !ERR user_script:1: Script attempted to access nonexistent global variable 'print' script:

# Only reading
> EVAL_RO "return redis.call('get', KEYS[1])" 1 k         ="v"
> EVAL_RO "return redis.call('set', KEYS[1], 1)" 1 k      !ERR Write commands are not allowed from read-only scripts. script:
> EVAL "#!lua flags=no-writes\nreturn redis.call('del', 'k')" 0  !ERR Write commands are not allowed from read-only scripts. script:
> EVAL_RO "#!lua\nreturn 1" 0                             !ERR Can not execute a script with write flag using *_ro command.
> EVAL "#!lua flags=nosuch\nreturn 1" 0                   !ERR Unexpected flag in script shebang: nosuch
> EVAL "#!nosuch\nreturn 1" 0                             !ERR Unexpected engine in script shebang: #!nosuch
> EVAL "#!lua x=1\nreturn 1" 0                            !ERR Unknown lua shebang option: x=1
> EVAL "#!lua" 0                                          !ERR Invalid script shebang

# Those that are known
> SCRIPT LOAD "return 1"                                  ="e0e1f9fabfc9d4800c877a703b823ac0578ff8db"
> EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0      =1
> EVALSHA E0E1F9FABFC9D4800C877A703B823AC0578FF8DB 0      =1
> EVALSHA_RO e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0   =1
> SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db nosuch  =[1, 0]
> SCRIPT LOAD "retur 1"                                   !ERR Error compiling script (new function): user_script:1:
> SCRIPT FLUSH                                            =OK
> SCRIPT EXISTS e0e1f9fabfc9d4800c877a703b823ac0578ff8db  =[0]
> EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0      !NOSCRIPT No matching script. Please use EVAL.
> SCRIPT FLUSH NOW                                        !ERR SCRIPT FLUSH only support SYNC|ASYNC option
> SCRIPT KILL                                             !NOTBUSY No scripts in execution right now.
> SCRIPT NOSUCH                                           !ERR unknown subcommand 'NOSUCH'. Try SCRIPT HELP.

# In a transaction
> SET count 1                                             =OK
> MULTI                                                   =OK
> INCR count                                              =QUEUED
> EVAL "return redis.call('incrby', KEYS[1], 10)" 1 count  =QUEUED
> SCRIPT LOAD "return 2"                                  =QUEUED
> INCR count                                              =QUEUED
> EXEC                                                    =[2, 12, "7f923f79fe76194c868d7e1d0820de36700eb649", 13]

# Its libraries
> EVAL "return cjson.encode({1, 'two', {three=3.5}, cjson.null})" 0  ="[1,\"two\",{\"three\":3.5},null]"
> EVAL "return cjson.encode({[4294967296]=1})" 0          ="{\"4294967296\":1}"
> EVAL "return cjson.decode(ARGV[1]).a[2]" 0 "{\"a\":[1,+2]}"  =2
> EVAL "return cjson.decode('nul')" 0                     !ERR user_script:1: Expected value but found invalid token at character 1 script:
> EVAL "return {cmsgpack.unpack(cmsgpack.pack(1, 'x', {2, 3}))}" 0  =[1, "x", [2, 3]]
> EVAL "return tostring(cmsgpack.unpack(string.char(207, 255, 255, 255, 255, 255, 255, 255, 254)))" 0  ="-2"
> EVAL "return {struct.unpack('>hBs', struct.pack('>hBs', -2, 7, 'ab'))}" 0  =[-2, 7, "ab", 7]
> EVAL "return struct.size('!3i')" 0                      !ERR user_script:1: alignment 3 is not a power of 2 script:
> EVAL "return struct.unpack('i', 'abcd', -1)" 0          !ERR user_script:1: bad argument #2 to 'unpack' (data string too short) script:
> EVAL "return struct.pack('q', 1)" 0                     !ERR user_script:1: bad argument #1 to 'pack' (invalid format option 'q') script:
> EVAL "return bit.tohex(1e16)" 0                         ="37e08000"
