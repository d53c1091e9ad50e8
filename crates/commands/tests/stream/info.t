> XADD s 1-1 a 1                          ="1-1"
> XADD s 1-2 b 2                          ="1-2"
> XADD s 2-0 c 3                          ="2-0"
> XINFO STREAM s
={"length": 3, "radix-tree-keys": 1, "radix-tree-nodes": *, "last-generated-id": "2-0", "max-deleted-entry-id": "0-0", "entries-added": 3, "recorded-first-entry-id": "1-1", "groups": 0, "first-entry": ["1-1", ["a", "1"]], "last-entry": ["2-0", ["c", "3"]]}
> XGROUP CREATE s g 0                     =OK
> XGROUP CREATE s h $                     =OK
> XGROUP CREATE s a 1-1                   =OK
> XINFO STREAM s
={"length": 3, "radix-tree-keys": 1, "radix-tree-nodes": *, "last-generated-id": "2-0", "max-deleted-entry-id": "0-0", "entries-added": 3, "recorded-first-entry-id": "1-1", "groups": 3, "first-entry": ["1-1", ["a", "1"]], "last-entry": ["2-0", ["c", "3"]]}
> XINFO GROUPS s
=[{"name": "a", "consumers": 0, "pending": 0, "last-delivered-id": "1-1", "entries-read": nil, "lag": 2}, {"name": "g", "consumers": 0, "pending": 0, "last-delivered-id": "0-0", "entries-read": nil, "lag": 3}, {"name": "h", "consumers": 0, "pending": 0, "last-delivered-id": "2-0", "entries-read": nil, "lag": 0}]
> XINFO CONSUMERS s g                     =[]
> XREADGROUP GROUP g c COUNT 2 STREAMS s >  =%{"s": [["1-1", ["a", "1"]], ["1-2", ["b", "2"]]]}
> XINFO GROUPS s
=[{"name": "a", "consumers": 0, "pending": 0, "last-delivered-id": "1-1", "entries-read": nil, "lag": 2}, {"name": "g", "consumers": 1, "pending": 2, "last-delivered-id": "1-2", "entries-read": 2, "lag": 1}, {"name": "h", "consumers": 0, "pending": 0, "last-delivered-id": "2-0", "entries-read": nil, "lag": 0}]
> XDEL s 1-2                              =1
> XINFO GROUPS s
=[{"name": "a", "consumers": 0, "pending": 0, "last-delivered-id": "1-1", "entries-read": nil, "lag": nil}, {"name": "g", "consumers": 1, "pending": 2, "last-delivered-id": "1-2", "entries-read": 2, "lag": nil}, {"name": "h", "consumers": 0, "pending": 0, "last-delivered-id": "2-0", "entries-read": nil, "lag": 0}]
> XREADGROUP GROUP g c STREAMS s >        =%{"s": [["2-0", ["c", "3"]]]}
> XINFO GROUPS s
=[{"name": "a", "consumers": 0, "pending": 0, "last-delivered-id": "1-1", "entries-read": nil, "lag": nil}, {"name": "g", "consumers": 1, "pending": 3, "last-delivered-id": "2-0", "entries-read": 3, "lag": 0}, {"name": "h", "consumers": 0, "pending": 0, "last-delivered-id": "2-0", "entries-read": nil, "lag": 0}]
> XTRIM s MAXLEN 1                        =1
> XINFO GROUPS s
=[{"name": "a", "consumers": 0, "pending": 0, "last-delivered-id": "1-1", "entries-read": nil, "lag": 1}, {"name": "g", "consumers": 1, "pending": 3, "last-delivered-id": "2-0", "entries-read": 3, "lag": 0}, {"name": "h", "consumers": 0, "pending": 0, "last-delivered-id": "2-0", "entries-read": nil, "lag": 0}]
> XINFO STREAM s FULL FOO                 !ERR unknown subcommand or wrong number of arguments for 'STREAM'. Try XINFO HELP.
> XINFO STREAM s FOO                      !ERR unknown subcommand or wrong number of arguments for 'STREAM'. Try XINFO HELP.
> XINFO STREAM s FULL COUNT               !ERR unknown subcommand or wrong number of arguments for 'STREAM'. Try XINFO HELP.
> XINFO STREAM s FULL COUNT x             !ERR value is not an integer or out of range
> XINFO STREAM s FULL FOO 1               !ERR unknown subcommand or wrong number of arguments for 'STREAM'. Try XINFO HELP.
> XINFO STREAM none                       !ERR no such key
> XINFO STREAM none FULL                  !ERR no such key
> XINFO GROUPS none                       !ERR no such key
> XINFO CONSUMERS none g                  !ERR no such key
> XINFO CONSUMERS s none                  !NOGROUP No such consumer group 'none' for key name 's'
> XINFO CONSUMERS s                       !ERR wrong number of arguments for 'xinfo|consumers' command
> XINFO GROUPS s g                        !ERR wrong number of arguments for 'xinfo|groups' command
> SET text v                              =OK
> XINFO STREAM text                       !WRONGTYPE Operation against a key holding the wrong kind of value
> XINFO GROUPS text                       !WRONGTYPE Operation against a key holding the wrong kind of value
> XINFO CONSUMERS text g                  !WRONGTYPE Operation against a key holding the wrong kind of value
> XGROUP CREATE empty g $ MKSTREAM        =OK
> XINFO STREAM empty
={"length": 0, "radix-tree-keys": 0, "radix-tree-nodes": *, "last-generated-id": "0-0", "max-deleted-entry-id": "0-0", "entries-added": 0, "recorded-first-entry-id": "0-0", "groups": 1, "first-entry": nil, "last-entry": nil}
> XINFO GROUPS empty
=[{"name": "g", "consumers": 0, "pending": 0, "last-delivered-id": "0-0", "entries-read": nil, "lag": 0}]
> XINFO STREAM empty FULL
={"length": 0, "radix-tree-keys": 0, "radix-tree-nodes": *, "last-generated-id": "0-0", "max-deleted-entry-id": "0-0", "entries-added": 0, "recorded-first-entry-id": "0-0", "entries": [], "groups": [{"name": "g", "last-delivered-id": "0-0", "entries-read": nil, "lag": 0, "pel-count": 0, "pending": [], "consumers": []}]}

since: 7.2 redis.io/commands/xinfo-consumers, xinfo-stream: times of seeing and of being active
> XGROUP CREATECONSUMER empty g c         =1
> XINFO CONSUMERS empty g                 =[{"name": "c", "pending": 0, "idle": 0..60000, "inactive": -1}]
> XADD empty 1-1 a 1                      ="1-1"
> XREADGROUP GROUP g c STREAMS empty >    =%{"empty": [["1-1", ["a", "1"]]]}
> XINFO CONSUMERS empty g                 =[{"name": "c", "pending": 1, "idle": 0..60000, "inactive": 0..60000}]
> XINFO STREAM empty FULL COUNT 1         ={"length": 1, "radix-tree-keys": 1, "radix-tree-nodes": 2, "last-generated-id": "1-1", "max-deleted-entry-id": "0-0", "entries-added": 1, "recorded-first-entry-id": "1-1", "entries": [["1-1", ["a", "1"]]], "groups": [{"name": "g", "last-delivered-id": "1-1", "entries-read": 1, "lag": 0, "pel-count": 1, "pending": [["1-1", "c", 1600000000000..100000000000000, 1]], "consumers": [{"name": "c", "seen-time": 1600000000000..100000000000000, "active-time": 1600000000000..100000000000000, "pel-count": 1, "pending": [["1-1", 1600000000000..100000000000000, 1]]}]}]}
