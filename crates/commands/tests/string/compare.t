# DIGEST
since: 8.4 redis.io/commands/digest
> SET k "Hello world"                     =OK
> DIGEST k                                ="b6acb9d84a38ff74"
> SET k v8lf0c11xh8ymlqztfd3eeq16kfn4sspw7fqmnuuq3k3t75em5wdizgcdw7uc26nnf961u2jkfzkjytls2kwlj7626sd  =OK
> DIGEST k                                ="00006c38adf31777"
> SET k ""                                =OK
> DIGEST k                                ="2d06800538d394c2"
> SET k a                                 =OK
> DIGEST k                                ="e6c632b61e964e1f"
> DIGEST none                             =nil
> RPUSH list a                            =1
> DIGEST list                             !WRONGTYPE Operation against a key holding the wrong kind of value
> DIGEST                                  !ERR wrong number of arguments for 'digest' command
> DIGEST k k                              !ERR wrong number of arguments for 'digest' command

# DELEX
since: 8.4 redis.io/commands/delex
> DELEX list                              =1
> DELEX list                              =0
> SET k hello                             =OK
> DELEX k IFEQ world                      =0
> DELEX k IFEQ hell                       =0
> DELEX k IFEQ Hello                      =0
> DELEX k ifeq hello                      =1
> EXISTS k                                =0
> DELEX k IFEQ hello                      =0
> DELEX k IFNE hello                      =0
> DELEX k IFDEQ e6c632b61e964e1f          =0
> DELEX k IFDNE e6c632b61e964e1f          =0
> SET k hello                             =OK
> DELEX k IFNE hello                      =0
> DELEX k IFNE world                      =1
> SET k a                                 =OK
> DELEX k IFDEQ 2d06800538d394c2          =0
> DELEX k IFDNE E6C632B61E964E1F          =0
> DELEX k IFDEQ E6C632B61E964E1F          =1
> SET k a                                 =OK
> DELEX k IFDNE 2d06800538d394c2          =1
> SET k ""                                =OK
> DELEX k IFEQ ""                         =1
> SET k 12345                             =OK
> DELEX k IFEQ 12346                      =0
> DELEX k IFEQ 012345                     =0
> DELEX k IFEQ 12345                      =1
> SET k -999                              =OK
> DELEX k IFNE -999                       =0
> DELEX k                                 =1
> SET k a                                 =OK
> DELEX k IFEQ                            !ERR wrong number of arguments for 'delex' command
> DELEX none IFEQ                         !ERR wrong number of arguments for 'delex' command
> DELEX k IFEQ a extra                    !ERR wrong number of arguments for 'delex' command
> DELEX k IFEQ a IFNE b                   !ERR wrong number of arguments for 'delex' command
> DELEX k IF a                            !ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE
> DELEX k NX a                            !ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE
> DELEX k IFDEQ 6c632b61e964e1f           !ERR must be exactly 16 hexadecimal characters
> DELEX k IFDNE 0e6c632b61e964e1f         !ERR must be exactly 16 hexadecimal characters
> DELEX k IFDEQ ""                        !ERR must be exactly 16 hexadecimal characters
> DELEX none IFDEQ ""                     =0
> HSET h f v                              =1
> DELEX h IFEQ v                          !ERR Key should be of string type if conditions are specified
> DELEX h IFDNE e6c632b61e964e1f          !ERR Key should be of string type if conditions are specified
> GET k                                   ="a"
> DELEX                                   !ERR wrong number of arguments for 'delex' command

# SET
since: 8.4 redis.io/commands/set
> SET k hello                             =OK
> SET k world IFEQ different              =nil
> GET k                                   ="hello"
> SET k world IFEQ hello                  =OK
> GET k                                   ="world"
> SET none v IFEQ x                       =nil
> EXISTS none                             =0
> SET none v IFNE x                       =OK
> GET none                                ="v"
> SET k again IFNE world                  =nil
> SET k again IFNE worlds                 =OK
> SET k a                                 =OK
> SET k b IFDEQ 2d06800538d394c2          =nil
> SET k b IFDEQ e6c632b61e964e1f          =OK
> GET k                                   ="b"
> SET k a                                 =OK
> SET k b IFDNE E6c632b61e964e1F          =nil
> SET k b IFDNE 2d06800538d394c2          =OK
> SET new v IFDEQ e6c632b61e964e1f        =nil
> SET new v IFDEQ 12                      =nil
> EXISTS new                              =0
> SET new v IFDNE 12                      =OK
> SET k c IFEQ b GET                      ="b"
> GET k                                   ="c"
> SET k d IFEQ b GET                      ="c"
> GET k                                   ="c"
> SET k d GET IFNE c                      ="c"
> GET k                                   ="c"
> SET other d IFEQ b GET                  =nil
> EXISTS other                            =0
> SET other d IFNE b GET                  =nil
> GET other                               ="d"
> SET k d IFEQ c EX 100                   =OK
> TTL k                                   =40..100
> SET k e EX 100 IFEQ x                   =nil
> SET k e IFEQ d KEEPTTL                  =OK
> TTL k                                   =40..100
> SET k f IFEQ e                          =OK
> TTL k                                   =-1
> SET k g IFEQ f                          =OK
> SET k h IFEQ g NX                       !ERR syntax error
> SET k h XX IFEQ g                       !ERR syntax error
> SET k h IFEQ g IFNE g                   !ERR syntax error
> SET k h IFNE g IFDEQ e6c632b61e964e1f   !ERR syntax error
> SET k h IFEQ                            !ERR syntax error
> SET k h IFDEQ abc                       !ERR must be exactly 16 hexadecimal characters
> SET k h IFDNE ""                        !ERR must be exactly 16 hexadecimal characters
> SET k h IFEQ x EX 0                     !ERR invalid expire time in 'set' command
> HSET h f v                              =0
> SET h x IFEQ v                          !WRONGTYPE Operation against a key holding the wrong kind of value
> SET h x IFNE v                          !WRONGTYPE Operation against a key holding the wrong kind of value
> SET h x IFDEQ 12                        !WRONGTYPE Operation against a key holding the wrong kind of value
> GET k                                   ="g"
