# A library and its functions
> FUNCTION FLUSH                                          =OK
> FUNCTION LIST                                           =[]
> FUNCTION LOAD "#!lua name=mine\nredis.register_function('put', function(keys, args) return redis.call('set', keys[1], args[1]) end)\nredis.register_function{function_name='look', callback=function(keys) return redis.call('get', keys[1]) end, flags={'no-writes', 'allow-stale'}, description='looks'}"  ="mine"
> FCALL put 1 k v                                         =OK
> FCALL look 1 k                                          ="v"
> FCALL_RO look 1 k                                       ="v"
> FCALL_RO put 1 k w                                      !ERR Can not execute a script with write flag using *_ro command.
> FCALL nosuch 0                                          !ERR Function not found
> FCALL LOOK 1 k                                          ="v"
> FUNCTION LOAD "#!lua name=Mine\nredis.register_function('Look', function() end)"  !ERR Function Look already exists
> FUNCTION DELETE Mine                                    !ERR Library not found
> FCALL put x                                             !ERR Bad number of keys provided
> FCALL put 99999999999999999999                          !ERR Bad number of keys provided
> FCALL put 2 k                                           !ERR Number of keys can't be greater than number of args
> FCALL put -1 k                                          !ERR Number of keys can't be negative
> FCALL nosuch x                                          !ERR Function not found
> FCALL put                                               !ERR wrong number of arguments for 'fcall' command
> FUNCTION LIST                                           =[{"library_name": "mine", "engine": "LUA", "functions": ?[{"name": "put", "description": nil, "flags": ~[]}, {"name": "look", "description": "looks", "flags": ~[no-writes, allow-stale]}]}]
> FUNCTION STATS                                          ={"running_script": nil, "engines": {"LUA": {"libraries_count": 1, "functions_count": 2}}}
> FLUSHALL                                                =OK
> FCALL look 1 k                                          =nil
> FUNCTION DELETE mine                                    =OK
> FUNCTION DELETE mine                                    !ERR Library not found
> FCALL look 1 k                                          !ERR Function not found

# What a function finds
> FUNCTION LOAD "#!lua name=finds\nlocal register = redis.register_function\nregister('of', function(keys, args) return loadstring('return ' .. args[1])() end)\nregister('many', function(...) return select('#', ...) end)\nregister('late', function() return register('more', function() end) end)\nregister('global', function() more = 1 end)"  ="finds"
> FCALL of 0 "1 + 1"                                      =2
> FCALL of 0 "type(_G.redis.call)"                        ="function"
> FCALL of 0 redis.register_function                      =nil
> FCALL of 0 redis.breakpoint                             =nil
> FCALL of 0 redis.REPL_ALL                               =3
> FCALL of 0 KEYS                                         !ERR [string "return KEYS"]:1: Script attempted to access nonexistent global variable 'KEYS' script: of, on return KEYS:1.
> EVAL "return #KEYS" 1 k                                 =1
> FCALL of 0 KEYS                                         !ERR [string "return KEYS"]:1: Script attempted to access nonexistent global variable 'KEYS' script: of, on return KEYS:1.
> FCALL of 0 os                                           !ERR [string "return os"]:1: Script attempted to access nonexistent global variable 'os'
> FCALL of 0 "rawset(_G, 'x', 1)"                         !ERR Attempt to modify a readonly table
> FCALL of 0 "redis.call('function', 'list')"             !ERR This Redis command is not allowed from script
> FCALL of 0 "redis.call('fcall', 'of', 0, '1')"          !ERR This Redis command is not allowed from script
> FCALL of 0 "redis.error_reply('MY word')"               !MY word
> FCALL of 0 "redis.pcall('incr')"                        !ERR Wrong number of args calling Redis command from script
> FCALL many 3 a b c d                                    =2
> FCALL late 0                                            !ERR redis.register_function can only be called on FUNCTION LOAD command script: late, on @user_function:5.
> FCALL global 0                                          !ERR user_function:6: Attempt to modify a readonly table script: global, on @user_function:6.
> EVAL "return redis.register_function" 0                 =nil

# What a library finds while it is loaded
> FUNCTION FLUSH SYNC                                     =OK
> FUNCTION LOAD "#!lua name=a\nredis.call('get', 'x')"    !ERR Error registering functions: ERR user_function:2: Script attempted to access nonexistent global variable 'call'
> FUNCTION LOAD "#!lua name=a\nmath.floor(1)"             !ERR Error registering functions: ERR user_function:2: Script attempted to access nonexistent global variable 'math'
> FUNCTION LOAD "#!lua name=a\n_G.x = 1"                  !ERR Error registering functions: ERR user_function:2: Script attempted to access nonexistent global variable '_G'
> FUNCTION LOAD "#!lua name=a\nx = 1"                     !ERR Error registering functions: ERR user_function:2: Attempt to modify a readonly table
> FUNCTION LOAD "#!lua name=a\nredis.x = 1"               !ERR Error registering functions: ERR user_function:2: Attempt to modify a readonly table
> FUNCTION LOAD "#!lua name=a\nlocal x = ({}).a.b"        !ERR Error registering functions: ERR user_function:2: attempt to index
> FUNCTION LOAD "#!lua name=a\nlocal function f() f() end f()"  !ERR Error registering functions: ERR user_function:2: stack overflow
> FUNCTION LOAD "#!lua name=a\nwhile true do end"         !ERR Error registering functions: ERR FUNCTION LOAD timeout
> FUNCTION LOAD "#!lua name=a\nredis.log(1)"              !ERR Error registering functions: ERR redis.log() requires two arguments or more.
> FUNCTION LOAD "#!lua name=a\nredis.log(redis.LOG_DEBUG, 'loaded')"  !ERR No functions registered
> FUNCTION LOAD "#!lua name=a\nfoo bar"                   !ERR Error compiling function: user_function:2:
> FUNCTION LIST                                           =[]

# How functions are registered
> FUNCTION LOAD "#!lua name=a\nredis.register_function()"  !ERR Error registering functions: ERR wrong number of arguments to redis.register_function
> FUNCTION LOAD "#!lua name=a\nredis.register_function('f', function() end, 1)"  !ERR Error registering functions: ERR wrong number of arguments to redis.register_function
> FUNCTION LOAD "#!lua name=a\nredis.register_function('f')"  !ERR Error registering functions: ERR calling redis.register_function with a single argument is only applicable to Lua table (representing named arguments).
> FUNCTION LOAD "#!lua name=a\nredis.register_function({}, function() end)"  !ERR Error registering functions: ERR first argument to redis.register_function must be a string
> FUNCTION LOAD "#!lua name=a\nredis.register_function('f', 1)"  !ERR Error registering functions: ERR second argument to redis.register_function must be a function
> FUNCTION LOAD "#!lua name=a\nredis.register_function('f-g', function() end)"  !ERR Error registering functions: ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one character long
> FUNCTION LOAD "#!lua name=a\nredis.register_function('f', function() end) redis.register_function('f', function() end)"  !ERR Error registering functions: ERR Function already exists in the library
> FUNCTION LOAD "#!lua name=a\nredis.register_function{}"  !ERR Error registering functions: ERR redis.register_function must get a function name argument
> FUNCTION LOAD "#!lua name=a\nredis.register_function{function_name='f'}"  !ERR Error registering functions: ERR redis.register_function must get a callback argument
> FUNCTION LOAD "#!lua name=a\nredis.register_function{1}"  !ERR Error registering functions: ERR unknown argument given to redis.register_function
> FUNCTION LOAD "#!lua name=a\nredis.register_function{[true]=1}"  !ERR Error registering functions: ERR named argument key given to redis.register_function is not a string
> FUNCTION LOAD "#!lua name=a\nredis.register_function{function_name={}}"  !ERR Error registering functions: ERR function_name argument given to redis.register_function must be a string
> FUNCTION LOAD "#!lua name=a\nredis.register_function{callback=1}"  !ERR Error registering functions: ERR callback argument given to redis.register_function must be a function
> FUNCTION LOAD "#!lua name=a\nredis.register_function{description={}}"  !ERR Error registering functions: ERR description argument given to redis.register_function must be a string
> FUNCTION LOAD "#!lua name=a\nredis.register_function{flags=1}"  !ERR Error registering functions: ERR flags argument to redis.register_function must be a table representing function flags
> FUNCTION LOAD "#!lua name=a\nredis.register_function{flags={'nosuch'}}"  !ERR Error registering functions: ERR unknown flag given
> FUNCTION LOAD "#!LUA NAME='a' \nredis.register_function(1, function() end) redis.register_function{Function_Name='all', Callback=function() end, FLAGS={'NO-WRITES', 'allow-oom', 'allow-stale', 'no-cluster', 'allow-cross-slot-keys', 'no-writes'}, description=2.5}"  ="a"
> FUNCTION LIST                                           =[{"library_name": "a", "engine": "LUA", "functions": ?[{"name": "1", "description": nil, "flags": ~[]}, {"name": "all", "description": "2.5", "flags": ~[no-writes, allow-oom, allow-stale, no-cluster, allow-cross-slot-keys]}]}]

# The first line
> FUNCTION LOAD "return 1"                                !ERR Missing library metadata
> FUNCTION LOAD ""                                        !ERR Missing library metadata
> FUNCTION LOAD "#!lua name=a"                            !ERR Invalid library metadata
> FUNCTION LOAD "#!lua name='a\n"                         !ERR Invalid library metadata
> FUNCTION LOAD "#!lua\n"                                 !ERR Library name was not given
> FUNCTION LOAD "#!lua name=\n"                           !ERR Library names can only contain letters, numbers, or underscores(_) and must be at least one character long
> FUNCTION LOAD "#!lua name=a name=b\n"                   !ERR Invalid metadata value, name argument was given multiple times
> FUNCTION LOAD "#!lua name=b flags=no-writes\n"          !ERR Invalid metadata value given: flags=no-writes
> FUNCTION LOAD "#!js name=b\n"                           !ERR Engine 'js' not found
> FUNCTION LOAD "#! lua\n"                                !ERR Invalid metadata value given: lua

# One in place of another
> FUNCTION FLUSH ASYNC                                    =OK
> FUNCTION LOAD "#!lua name=a\nredis.register_function('f', function() return 1 end)"  ="a"
> FUNCTION LOAD "#!lua name=a\nredis.register_function('f', function() return 2 end)"  !ERR Library 'a' already exists
> FUNCTION LOAD REPLACE "#!lua name=b\nredis.register_function('f', function() return 2 end)"  !ERR Function f already exists
> FUNCTION LOAD replace "#!lua name=a\nerror('late')"     !ERR Error registering functions: ERR user_function:2: Script attempted to access nonexistent global variable 'error'
> FCALL f 0                                               =1
> FUNCTION LOAD REPLACE "#!lua name=a\nredis.register_function('g', function() return 3 end)"  ="a"
> FCALL f 0                                               !ERR Function not found
> FCALL g 0                                               =3
> FUNCTION LOAD                                           !ERR wrong number of arguments for 'function|load' command
> FUNCTION LOAD a b                                       !ERR Unknown option given: a
> FUNCTION LOAD REPLACE x code                            !ERR Unknown option given: x

# Which are listed
> FUNCTION LIST LIBRARYNAME A WITHCODE                    =[{"library_name": "a", "engine": "LUA", "functions": [{"name": "g", "description": nil, "flags": ~[]}], "library_code": "#!lua name=a\nredis.register_function('g', function() return 3 end)"}]
> FUNCTION LIST LIBRARYNAME "[b-z]*"                      =[]
> FUNCTION LIST WITHCODE WITHCODE                         !ERR Unknown argument WITHCODE
> FUNCTION LIST LIBRARYNAME                               !ERR library name argument was not given
> FUNCTION LIST LIBRARYNAME a libraryname b               !ERR Unknown argument libraryname
> FUNCTION LIST all                                       !ERR Unknown argument all
> FUNCTION FLUSH NOW                                      !ERR FUNCTION FLUSH only supports SYNC|ASYNC option
> FUNCTION FLUSH SYNC ASYNC                               !ERR unknown subcommand or wrong number of arguments for 'FLUSH'. Try FUNCTION HELP.
> FUNCTION KILL                                           !NOTBUSY No scripts in execution right now.
> FUNCTION NOSUCH                                         !ERR unknown subcommand 'NOSUCH'. Try FUNCTION HELP.
> FUNCTION                                                !ERR wrong number of arguments for 'function' command

# Payloads
> FUNCTION FLUSH                                          =OK
> FUNCTION DUMP                                           ="\x0a\x00]\x9b\\@\x0f\x7f\xa2\xda"
> FUNCTION RESTORE "\x0a\x00]\x9b\\@\x0f\x7f\xa2\xda"    =OK
> FUNCTION RESTORE "\xf5@B#!lua name=a\nredis.register_function(\"f\", function() return 7 end)\x0a\x00\xed\xa61\x0cJh\x83@"  =OK
> FCALL f 0                                               =7
> FUNCTION RESTORE "\xf5@B#!lua name=a\nredis.register_function(\"f\", function() return 7 end)\x0a\x00\xed\xa61\x0cJh\x83@" APPEND  !ERR Library a already exists
> FUNCTION RESTORE "\xf5@B#!lua name=a\nredis.register_function(\"h\", function() return 7 end)\x0a\x00_PI\xaa\xc8v\xcc\xa1" replace  =OK
> FCALL f 0                                               !ERR Function not found
> FUNCTION RESTORE "\xf5@B#!lua name=b\nredis.register_function(\"f\", function() return 7 end)\x0a\x00(!E\x07w'\x9f\xd0" REPLACE  =OK
> FUNCTION RESTORE "\xf5@B#!lua name=c\nredis.register_function(\"f\", function() return 7 end)\x0a\x00k\\i\xfec\xe2\x94\xa0"  !ERR Function f already exists
> FUNCTION RESTORE "\xf5@B#!lua name=c\nredis.register_function(\"f\", function() return 7 end)\x0a\x00k\\i\xfec\xe2\x94\xa0" FLUSH  =OK
> FUNCTION LIST                                           =[{"library_name": "c", "engine": "LUA", "functions": [{"name": "f", "description": nil, "flags": ~[]}]}]
> FUNCTION RESTORE "\xf5\x03foo\x0a\x00\xd8\x88\x9b<\x98:ZE" FLUSH  !ERR Missing library metadata
> FUNCTION RESTORE "\xf5\x14#!lua name=q\nfoo bar\x0a\x00\x8f\x1cC\xd4\xbd\x04B>" FLUSH  !ERR Error compiling function: user_function:2:
> FUNCTION RESTORE "\xf5\x0a\x00?\x97u!\x84\xd9\\\xa4"    !ERR Failed loading library payload
> FUNCTION RESTORE "\x00@B#!lua name=a\nredis.register_function(\"f\", function() return 7 end)\x0a\x00\x1d\xf8\x97O=\xc1\x85\xfb"  !ERR given type is not a function
> FUNCTION RESTORE foo                                    !ERR DUMP payload version or checksum are wrong
> FUNCTION RESTORE foo ALWAYS                             !ERR Wrong restore policy given, value should be either FLUSH, APPEND or REPLACE.
> FUNCTION RESTORE foo FLUSH APPEND                       !ERR unknown subcommand or wrong number of arguments for 'RESTORE'. Try FUNCTION HELP.
> FCALL f 0                                               =7

# In a transaction
> MULTI                                                   =OK
> FUNCTION LOAD "#!lua name=d\nredis.register_function('d', function(keys) return redis.call('incr', keys[1]) end)"  =QUEUED
> FCALL d 1 counted                                       =QUEUED
> FUNCTION STATS                                          =QUEUED
> FUNCTION DELETE d                                       =QUEUED
> GET counted                                             =QUEUED
> EXEC                                                    =["d", 1, {"running_script": nil, "engines": {"LUA": {"libraries_count": 2, "functions_count": 2}}}, OK, "1"]
> FCALL d 1 counted                                       !ERR Function not found

# What clients are told of them
> COMMAND GETKEYS FCALL f 2 a b c                         =["a", "b"]
> COMMAND GETKEYS FCALL_RO f 1 a                          =["a"]
> COMMAND GETKEYS FUNCTION LOAD x                         !ERR The command has no key arguments
> FUNCTION FLUSH                                          =OK
