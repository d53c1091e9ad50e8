> XADD s 1-1 a 1                          ="1-1"
> XADD s 1-2 b 2                          ="1-2"
> XADD s 2-0 a 3                          ="2-0"
> XADD s 3-5 c 4                          ="3-5"
> XDEL s 1-2                              =1
> XDEL s 1-2 9-9                          =0
> XRANGE s - +                            =[["1-1", ["a", "1"]], ["2-0", ["a", "3"]], ["3-5", ["c", "4"]]]
> XDEL s 1-1 1-1 2                        =2
> XRANGE s - +                            =[["3-5", ["c", "4"]]]
> XINFO STREAM s
={"length": 1, "radix-tree-keys": 1, "radix-tree-nodes": *, "last-generated-id": "3-5", "max-deleted-entry-id": "2-0", "entries-added": 4, "recorded-first-entry-id": "3-5", "groups": 0, "first-entry": ["3-5", ["c", "4"]], "last-entry": ["3-5", ["c", "4"]]}
> XDEL s 3-5                              =1
> XLEN s                                  =0
> EXISTS s                                =1
> XINFO STREAM s
={"length": 0, "radix-tree-keys": 0, "radix-tree-nodes": *, "last-generated-id": "3-5", "max-deleted-entry-id": "3-5", "entries-added": 4, "recorded-first-entry-id": "0-0", "groups": 0, "first-entry": nil, "last-entry": nil}
> XADD s 3-5 a 1                          !ERR The ID specified in XADD is equal or smaller than the target stream top item
> XADD s 3-6 a 1                          ="3-6"
> XDEL s x                                !ERR Invalid stream ID specified as stream command argument
> XDEL s 3-6 x                            !ERR Invalid stream ID specified as stream command argument
> XLEN s                                  =1
> XDEL s -                                !ERR Invalid stream ID specified as stream command argument
> XDEL none 1-1                           =0
> XDEL none x                             =0
> XDEL s                                  !ERR wrong number of arguments for 'xdel' command
> SET text v                              =OK
> XDEL text 1-1                           !WRONGTYPE Operation against a key holding the wrong kind of value
> XDEL text x                             !WRONGTYPE Operation against a key holding the wrong kind of value

# XSETID
> XSETID s 200-0                          =OK
> XADD s 100-0 a 1                        !ERR The ID specified in XADD is equal or smaller than the target stream top item
> XADD s 200-1 a 1                        ="200-1"
> XSETID s 200-0                          !ERR The ID specified in XSETID is smaller than the target stream top item
> XSETID s 300 ENTRIESADDED 1             !ERR The entries_added specified in XSETID is smaller than the target stream length
> XSETID s 300 ENTRIESADDED 7 MAXDELETEDID 250-0  =OK
> XINFO STREAM s
={"length": 2, "radix-tree-keys": 1, "radix-tree-nodes": *, "last-generated-id": "300-0", "max-deleted-entry-id": "250-0", "entries-added": 7, "recorded-first-entry-id": "3-6", "groups": 0, "first-entry": ["3-6", ["a", "1"]], "last-entry": ["200-1", ["a", "1"]]}
> XSETID s 300 MAXDELETEDID 301           !ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id
> XSETID s 300 ENTRIESADDED -1            !ERR entries_added must be positive
> XSETID s 300 ENTRIESADDED x             !ERR value is not an integer or out of range
> XSETID s 300 MAXDELETEDID x             !ERR Invalid stream ID specified as stream command argument
> XSETID s 300 ENTRIESADDED               !ERR syntax error
> XSETID s 300 FOO 1                      !ERR syntax error
> XSETID s x                              !ERR Invalid stream ID specified as stream command argument
> XSETID s -                              !ERR Invalid stream ID specified as stream command argument
> XSETID none 1-1                         !ERR no such key
> XSETID text 1-1                         !WRONGTYPE Operation against a key holding the wrong kind of value
> XSETID s                                !ERR wrong number of arguments for 'xsetid' command

since: 7.2 redis.io/commands/xsetid: not below what was deleted
> XSETID s 240
!ERR The ID specified in XSETID is smaller than current max_deleted_entry_id
> XSETID s 3-0
!ERR The ID specified in XSETID is smaller than current max_deleted_entry_id
