# PFADD
> PFADD k a b c d e f g                   =1
> PFCOUNT k                               =7
> PFADD k a b c                           =0
> PFADD k h                               =1
> PFCOUNT k                               =8
> GET k                                   ="HYLL\x01\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00Fm\x80V\x0c\x80D<\x848\x80M\xc2\x80B\xed\x84I\x8c\x80Bm\x80BZ"
> PFADD empty                             =1
> PFADD empty                             =0
> PFCOUNT empty                           =0
> GET empty                               ="HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x7f\xff"
> TYPE k                                  =string
> PFADD k ""                              =1
> PFADD k ""                              =0
> PFCOUNT k                               =9
> SET e v                                 =OK
> GETRANGE k 15 15                        ="\x00"
> PFADD k another                         =1
> GETRANGE k 15 15                        ="\x80"
> PFCOUNT k                               =10
> GETRANGE k 8 15                         ="\n\x00\x00\x00\x00\x00\x00\x00"
> SET e2 x EX 100                         =OK
> DEL e2                                  =1
> PFADD ex a                              =1
> EXPIRE ex 100                           =1
> PFADD ex b                              =1
> TTL ex  =40..100
> PFADD e a                               !WRONGTYPE Key is not a valid HyperLogLog string value.
> PFCOUNT e                               !WRONGTYPE Key is not a valid HyperLogLog string value.
> PFCOUNT k e                             !WRONGTYPE Key is not a valid HyperLogLog string value.
> PFCOUNT e k                             !WRONGTYPE Key is not a valid HyperLogLog string value.
> SET n 12                                =OK
> PFADD n a                               !WRONGTYPE Key is not a valid HyperLogLog string value.
> RPUSH l a                               =1
> PFADD l a                               !WRONGTYPE Operation against a key holding the wrong kind of value
> PFCOUNT l                               !WRONGTYPE Operation against a key holding the wrong kind of value
> PFCOUNT k l                             !WRONGTYPE Operation against a key holding the wrong kind of value
> PFADD                                   !ERR wrong number of arguments for 'pfadd' command

# A dense one, from bytes that another server told.
> PFADD d a b c                           =1
> PFDEBUG TODENSE d                       =1
> PFDEBUG TODENSE d                       =0
> STRLEN d                                =12304
> GETRANGE d 0 7                          ="HYLL\x00\x00\x00\x00"
> PFADD d a                               =0
> PFADD d x y z                           =1
> PFADD d x y z                           =0
> PFCOUNT d                               =6
> PFADD d 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20  =1
> PFADD d 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20  =0
> PFCOUNT d                               =26
> GETRANGE d 8 15                         ="\x1a\x00\x00\x00\x00\x00\x00\x00"
> SET moved "HYLL\x01\x00\x00\x00\x07\x00\x00\x00\x00\x00\x00\x00`\xf9\x80B\x06\x84G?\x80ZY\x80Cy\x80D\x14\x80"  =OK
> PFCOUNT moved                           =7
> SET sparse "HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f\xff"  =OK
> PFCOUNT sparse                          =0
> PFADD sparse a                          =1
> PFCOUNT sparse                          =1

# What is none, and what is a corrupt one.
> SET b "HYLL\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f\xff"  =OK
> PFCOUNT b                               !WRONGTYPE Key is not a valid HyperLogLog string value.
> SET b "HYLX\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f\xff"  =OK
> PFADD b a                               !WRONGTYPE Key is not a valid HyperLogLog string value.
> SET b "HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"  =OK
> PFADD b a                               !WRONGTYPE Key is not a valid HyperLogLog string value.
> SET b "HYLL\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f\xff"  =OK
> PFADD b a                               !WRONGTYPE Key is not a valid HyperLogLog string value.
> PFMERGE k b                             !WRONGTYPE Key is not a valid HyperLogLog string value.
> SET b "HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80"  =OK
> PFADD b                                 =0
> PFADD b a                               !INVALIDOBJ Corrupted HLL object detected
> PFCOUNT b                               !INVALIDOBJ Corrupted HLL object detected
> PFCOUNT b k                             !INVALIDOBJ Corrupted HLL object detected
> PFMERGE b k                             !INVALIDOBJ Corrupted HLL object detected
> PFMERGE k b                             !INVALIDOBJ Corrupted HLL object detected
> PFDEBUG GETREG b                        !INVALIDOBJ Corrupted HLL object detected
> PFDEBUG TODENSE b                       !INVALIDOBJ Corrupted HLL object detected
> PFDEBUG DECODE b                        =""
> SET b "HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f\xff\x00"  =OK
> PFCOUNT b                               !INVALIDOBJ Corrupted HLL object detected
> PFCOUNT b k                             !INVALIDOBJ Corrupted HLL object detected
> SET b "HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x7f\xfe"  =OK
> PFCOUNT b                               !INVALIDOBJ Corrupted HLL object detected
> PFMERGE b                               !INVALIDOBJ Corrupted HLL object detected
> SET b "HYLL\x01\x00\x00\x00\x09\x00\x00\x00\x00\x00\x00\x00\x7f\xfe"  =OK
> PFCOUNT b                               =9

# PFMERGE
> PFADD x a b c                           =1
> PFADD y c d e                           =1
> PFMERGE z x y                           =OK
> PFCOUNT z                               =5
> GET z                                   ="HYLL\x01\x00\x00\x00\x05\x00\x00\x00\x00\x00\x00\x00\\{\x80Dv\x80P\xb1\x84I\x8c\x80Bm\x80BZ"
> PFMERGE x y                             =OK
> PFCOUNT x                               =5
> PFMERGE fresh                           =OK
> PFCOUNT fresh                           =0
> GET fresh                               ="HYLL\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x7f\xff"
> PFMERGE z missing missing2              =OK
> PFCOUNT z                               =5
> PFMERGE z d                             =OK
> PFDEBUG ENCODING z                      =dense
> PFCOUNT z                               =28
> PFCOUNT x y d missing                   =28
> PFMERGE l x                             !WRONGTYPE Operation against a key holding the wrong kind of value
> PFMERGE x l                             !WRONGTYPE Operation against a key holding the wrong kind of value
> PFMERGE n x                             !WRONGTYPE Key is not a valid HyperLogLog string value.
> PFMERGE x n                             !WRONGTYPE Key is not a valid HyperLogLog string value.
> PFMERGE                                 !ERR wrong number of arguments for 'pfmerge' command
> PFCOUNT                                 !ERR wrong number of arguments for 'pfcount' command
> PFCOUNT missing                         =0
> EXISTS missing                          =0

# PFMERGE keeps what stood between the encoding and the registers, and marks the count as stale.
> PFADD head x y z                        =1
> SETRANGE head 5 abc                     =26
> PFCOUNT head                            =3
> PFMERGE head head                       =OK
> GETRANGE head 0 15                      ="HYLL\x01abc\x03\x00\x00\x00\x00\x00\x00\x80"
