# What is written is what Redis writes
> SET int 12  =OK
> SET wide -70000  =OK
> SET widest 1234567890123  =OK
> SET text "a text"  =OK
> SET dull aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa  =OK
> DUMP int  ="\x00\xc0\x0c\x0a\x00<*\xf8Q\x5c\x04\xbc\xd5"
> DUMP wide  ="\x00\xc2\x90\xee\xfe\xff\x0a\x00(u\xde{\x13\xeb(\x00"
> DUMP widest  ="\x00\x0d1234567890123\x0a\x00^\x0c\x12\xae\x04)\xbc\x1e"
> DUMP text  ="\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<"
> RPUSH list a b 12 -5000 70000  =5
> DUMP list  ="\x12\x01\x02\x18\x18\x00\x00\x00\x05\x00\x81a\x02\x81b\x02\x0c\x01\xf1x\xec\x03\xf2p\x11\x01\x04\xff\x0a\x00gp/\x8c\xa0G\xd3U"
> SADD integers 1 2 300  =3
> DUMP integers  ="\x0b\x0e\x02\x00\x00\x00\x03\x00\x00\x00\x01\x00\x02\x00,\x01\x0a\x00\xe5\x10\xb2\x8e{\x95)\xaa"
> HSET hash field value number -1  =2
> DUMP hash  ="\x10  \x00\x00\x00\x04\x00\x85field\x06\x85value\x06\x86number\x07\xdf\xff\x02\xff\x0a\x00\x03\x93\xf2\x16\xc18\xa7\x92"
> ZADD sorted 1 a 2.5 b  =2
> DUMP none  =nil
> DUMP  !ERR wrong number of arguments for 'dump' command
> DUMP a b  !ERR wrong number of arguments for 'dump' command

# What is restored
> RESTORE "again int" 0 "\x00\xc0\x0c\x0a\x00<*\xf8Q\x5c\x04\xbc\xd5"  =OK
> RESTORE "again text" 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<"  =OK
> RESTORE "again dull" 0 "\x00\xc3\x09(\x01aa\xe0\x1b\x00\x01aa\x0a\x00\xcf\x09/\xaa\xae%\x83\x1d"  =OK
> RESTORE "again list" 0 "\x12\x01\x02\x18\x18\x00\x00\x00\x05\x00\x81a\x02\x81b\x02\x0c\x01\xf1x\xec\x03\xf2p\x11\x01\x04\xff\x0a\x00gp/\x8c\xa0G\xd3U"  =OK
> RESTORE "again integers" 0 "\x0b\x0e\x02\x00\x00\x00\x03\x00\x00\x00\x01\x00\x02\x00,\x01\x0a\x00\xe5\x10\xb2\x8e{\x95)\xaa"  =OK
> RESTORE "again hash" 0 "\x10  \x00\x00\x00\x04\x00\x85field\x06\x85value\x06\x86number\x07\xdf\xff\x02\xff\x0a\x00\x03\x93\xf2\x16\xc18\xa7\x92"  =OK
> RESTORE "again sorted" 0 "\x11\x14\x14\x00\x00\x00\x04\x00\x81a\x02\x01\x01\x81b\x02\x832.5\x04\xff\x0a\x00\xd4Ln\xa4\xf6D\xd9\xd7"  =OK
> GET "again int"  ="12"
> GET "again text"  ="a text"
> GET "again dull"  ="aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
> LRANGE "again list" 0 -1  =["a", "b", "12", "-5000", "70000"]
> SMEMBERS "again integers"  =~["1", "2", "300"]
> HGETALL "again hash"  ={"field": "value", "number": "-1"}
> ZRANGE "again sorted" 0 -1  =["a", "b"]
> ZSCORE "again sorted" b  =~2.5
> OBJECT ENCODING "again integers"  ="intset"
> OBJECT ENCODING "again hash"  ="listpack"
> OBJECT ENCODING "again sorted"  ="listpack"
> OBJECT ENCODING "again int"  ="int"

# Time, replacement, use
> RESTORE text 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<"  !BUSYKEY Target key name already exists.
> RESTORE text 50000 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" REPLACE  =OK
> PTTL text  =4000..50000
> RESTORE text 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" replace absttl  =OK
> TTL text  =-1
> RESTORE text 4102444800000 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" REPLACE ABSTTL  =OK
> PEXPIRETIME text  =4102444800000
> RESTORE text 1000 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" REPLACE ABSTTL  =OK
> EXISTS text  =0
> RESTORE text 9223372036854775807 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<"  =OK
> EXISTS text  =0
> RESTORE text 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" IDLETIME 1000  =OK
> RESTORE text 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" REPLACE FREQ 12  =OK
> RESTORE text 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" REPLACE IDLETIME 1 IDLETIME 2  =OK
> RESTORE text -1 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" REPLACE  !ERR Invalid TTL value, must be >= 0
> RESTORE text x "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" REPLACE  !ERR value is not an integer or out of range
> RESTORE text x "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<"  !BUSYKEY Target key name already exists.
> RESTORE text 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" FOO  !ERR syntax error
> RESTORE text 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" IDLETIME  !ERR syntax error
> RESTORE text 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" IDLETIME -1  !ERR Invalid IDLETIME value, must be >= 0
> RESTORE text 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" IDLETIME x  !ERR value is not an integer or out of range
> RESTORE text 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" FREQ 256  !ERR Invalid FREQ value, must be >= 0 and <= 255
> RESTORE text 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" FREQ -1  !ERR Invalid FREQ value, must be >= 0 and <= 255
> RESTORE text 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" FREQ  !ERR syntax error
> RESTORE text 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" FREQ 1 IDLETIME 3  !ERR syntax error
> RESTORE text 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<" IDLETIME 3 FREQ 1  !ERR syntax error
> RESTORE text 0  !ERR wrong number of arguments for 'restore' command
> RESTORE text -1 x REPLACE  !ERR Invalid TTL value, must be >= 0
> RESTORE text 0 "" REPLACE  !ERR DUMP payload version or checksum are wrong
> RESTORE text 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xaez" REPLACE  !ERR DUMP payload version or checksum are wrong
> RESTORE text 0 "\x00\x01ac\x00.\xb6\xfbv5\xf9:\xeb" REPLACE  !ERR DUMP payload version or checksum are wrong
> RESTORE text 0 "\x00?a\x0a\x00\x14\x8f\x85\xee\x22fl\xc2" REPLACE  !ERR Bad data format
> RESTORE text 0 "c\x00\x0a\x00k\x89v\xbc*\xe5$\x98" REPLACE  !ERR Bad data format
> RESTORE text 0 "\x01\x00\x0a\x00[\xf8%\xccl\x17CV" REPLACE  !ERR Bad data format
> RESTORE text 0 "\x04\x01\x01f\x0a\x00\xa0Vp\x7f\xac\x0c+\xe8" REPLACE  !ERR Bad data format
> RESTORE text 0 "\x06\x00\x0a\x00\xf4d\xf3\x80\xb3d\x0e\x8d" REPLACE  !ERR Bad data format
> GET text  ="a text"
> RESTORE-ASKING asked 0 "\x00\x06a text\x0a\x00D\x19.l\xb8.\xae<"  =OK
> GET asked  ="a text"

# Forms that older servers wrote
> RESTORE "list 1" 0 "\x01\x03\x01a\xc0\x05\x02bc\x09\x00\xd5\xc7\xcb\x02\xfdb\x164" REPLACE  =OK
> LRANGE "list 1" 0 -1  =["a", "5", "bc"]
> RESTORE "list ziplist" 0 "\x0aAdd\x01\x00\x00Z\x01\x00\x00\x09\x00\x00\x01a\x03\xf6\x02\xfe\x9c\x03\xc0H\xf4\x04\xf0p\x11\x01\x05\xd0\x00\x00\x00@\x06\xe0\x00\x00\x00\x00\x00\xff\xff\xff\x0aA,zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz\xfe/\x01\x00\x00\x03end\xff\x09\x004\xf9D.P\xd0\xf4\x96" REPLACE  =OK
> LRANGE "list ziplist" 0 -1  =["a", "5", "-100", "-3000", "70000", "1073741824", "-1099511627776", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", "end"]
> RESTORE "list quicklist" 0 "\x0e\x02\x10\x10\x00\x00\x00\x0d\x00\x00\x00\x02\x00\x00\x01a\x03\xf6\xff\x0e\x0e\x00\x00\x00\x0a\x00\x00\x00\x01\x00\x00\x01c\xff\x09\x00\xd6\xe7\xe7(\xd5`\xf8e" REPLACE  =OK
> LRANGE "list quicklist" 0 -1  =["a", "5", "c"]
> RESTORE "list plain" 0 "\x12\x02\x01\x05plain\x01\x04more\x09\x00\x9e\x99\xdeqjtzB" REPLACE  =OK
> LRANGE "list plain" 0 -1  =["plain", "more"]
> RESTORE set 0 "\x02\x02\x01a\xc0\x05\x09\x00[\x9d\x97\x1e\x9aI\xffn" REPLACE  =OK
> SMEMBERS set  =~["5", "a"]
> RESTORE hash 0 "\x04\x02\x01f\x01v\x01g\xc1\x00\x03\x09\x004;bT\xfc(J\xfe" REPLACE  =OK
> HGETALL hash  ={"f": "v", "g": "768"}
> RESTORE "hash zipmap" 0 "\x09\x0d\x02\x01f\x01\x00v\x01g\x02\x0012\xff\x09\x00\x22\xe9\x13\x5c`\x03\xd1\xdc" REPLACE  =OK
> HGETALL "hash zipmap"  ={"f": "v", "g": "12"}
> RESTORE "hash ziplist" 0 "\x0d\x16\x16\x00\x00\x00\x13\x00\x00\x00\x04\x00\x00\x01f\x03\x01v\x03\x01g\x03\xfd\xff\x09\x00\x87\xde\xd0\xf8\xceD^\x07" REPLACE  =OK
> HGETALL "hash ziplist"  ={"f": "v", "g": "12"}
> RESTORE "sorted 1" 0 "\x03\x03\x01a\x031.5\x01b\xfe\x01c\xff\x09\x00\xd6$\xe4\x1dOVk\xfe" REPLACE  =OK
> ZRANGE "sorted 1" 0 -1  =["c", "a", "b"]
> RESTORE "sorted 2" 0 "\x05\x02\x01a\x00\x00\x00\x00\x00\x00\xf8?\x01b\x00\x00\x00\x00\x00\x00\xf0\xff\x09\x00\x98e/\xff1\x18\x05\xba" REPLACE  =OK
> ZRANGE "sorted 2" 0 -1  =["b", "a"]
> RESTORE "sorted ziplist" 0 "\x0c\x18\x18\x00\x00\x00\x12\x00\x00\x00\x04\x00\x00\x01a\x03\xf2\x02\x01b\x03\x032.5\xff\x09\x00\x8c\xa5LQ\xc0\xe9\xcd\x06" REPLACE  =OK
> ZRANGE "sorted ziplist" 0 -1  =["a", "b"]
> ZSCORE "sorted 1" c  =~-inf

since: 7.4 what 7.2 and 7.4 write: sets as listpacks, deadlines of fields; small lists are listpacks
> RESTORE "set listpack" 0 "\x14\x0c\x0c\x00\x00\x00\x02\x00\x81a\x02\x05\x01\xff\x0b\x00\x984{]y\x8d\xab\x9c"  =OK
> SMEMBERS "set listpack"  =~["a", "5"]
> OBJECT ENCODING "set listpack"  ="listpack"
> RESTORE "hash timed" 0 "\x18\x00\xd8\xc3,\xbb\x03\x00\x00\x02\x01\x01f\x01v\x00\x01g\x01w\x0c\x00o\xca\x9f\x11+\xd7\xba\x07"  =OK
> HPEXPIRETIME "hash timed" FIELDS 2 f g  =[4102444800000, -1]
> RESTORE "hash timed listpack" 0 "\x19\x00\xd8\xc3,\xbb\x03\x00\x00\x1f\x1f\x00\x00\x00\x06\x00\x81f\x02\x81v\x02\xf4\x07\xd8\xc3,\xbb\x03\x00\x00\x09\x81g\x02\x81w\x02\x00\x01\xff\x0c\x00\x1dD\xf8\x85\xbe=\xfd\x93"  =OK
> HPEXPIRETIME "hash timed listpack" FIELDS 2 f g  =[4102444800007, -1]
> HGETALL "hash timed listpack"  ={"f": "v", "g": "w"}
