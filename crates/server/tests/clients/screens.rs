//! Lines for redis-cli and redis-benchmark.

/// Lines whose output must be the same for Bobbin and redis-server of any version; run in order on an empty server.
pub(crate) const OF_BOTH: &[&str] = &[
    // Replies of each type, in both protocols, and in each way of showing them.
    "redis-cli SET text 'v w'; redis-cli GET text; redis-cli GET none",
    "redis-cli RPUSH list a '' 'b \"c\"' 3; redis-cli LRANGE list 0 -1; redis-cli LRANGE none 0 -1",
    "redis-cli LPUSH text a",
    "redis-cli -e LPUSH text a",
    "redis-cli NONSENSE a b",
    "redis-cli GET",
    "redis-cli INCR text",
    "redis-cli LMPOP 2 none list LEFT COUNT 2; redis-cli -3 LMPOP 1 none LEFT; redis-cli RPUSH list b c",
    "redis-cli -3 HELLO | grep -v -e version -e '\"id\"' -e modules -e name -e '\"ver\"' -e path -e args",
    "redis-cli -3 GET none; redis-cli -3 LPOS list 3; redis-cli -3 BLPOP none 0.01; redis-cli -3 LCS text text IDX",
    "redis-cli -3 CONFIG GET maxmemory-policy; redis-cli -2 CONFIG GET maxmemory-policy",
    "redis-cli -3 INCRBYFLOAT float 3.0e3; redis-cli INCRBYFLOAT float 0.5",
    "redis-cli --csv LRANGE list 0 -1; redis-cli --csv GET none",
    "redis-cli --json LRANGE list 0 -1; redis-cli --json GET none; redis-cli -2 --json SET text v",
    "redis-cli --json CONFIG GET maxmemory-policy; redis-cli --raw LRANGE list 0 -1; redis-cli -d , --raw LRANGE list 0 -1",
    // Bytes.
    r"printf 'a\000b\r\n\377 and more' | redis-cli -x SET bytes; redis-cli GET bytes; redis-cli --quoted-json GET bytes",
    "printf tagged | redis-cli -X here SET tag here; redis-cli GET tag",
    r#"redis-cli --quoted-input SET '"a\x00b"' x; redis-cli --quoted-input GET '"a\x00b"'; redis-cli KEYS 'a*'"#,
    // Databases, repeats, input line by line.
    "redis-cli -n 3 SET elsewhere v; redis-cli -n 3 DBSIZE; redis-cli GET elsewhere",
    "redis-cli -u redis://127.0.0.1:$PORT/3 GET elsewhere; redis-cli -n 99 GET elsewhere",
    "redis-cli -r 3 INCR number; redis-cli -r 3 -i 0.01 INCR number",
    r"printf 'MULTI\nINCR number\nLPUSH text a\nGET number\nEXEC\nSELECT 3\nGET elsewhere\nNONSENSE\n' | redis-cli",
    r"printf 'MULTI\nSET number\nEXEC\nMULTI\nDISCARD\nEXEC\n3 INCR number\n' | redis-cli",
    r#"printf 'HELLO 3\nRESET\nGET text\nQUIT\n' | redis-cli | grep -v -e version -e '"id"' -e modules -e name -e '"ver"' -e path -e args"#,
    "redis-cli CLIENT GETNAME; redis-cli CLIENT SETNAME 'a b'; redis-cli CLIENT NO-EVICT on; redis-cli CLIENT REPLY on",
    "redis-cli AUTH secret; redis-cli -a secret --no-auth-warning PING",
    // Mass insertion: as lines and as the protocol's own.
    r"seq -f 'RPUSH mass %.0f' 100000 | redis-cli --pipe; redis-cli LLEN mass; redis-cli LRANGE mass 49999 50001",
    r"printf '*3\r\n$3\r\nSET\r\n$2\r\np2\r\n$1\r\n2\r\n*2\r\n$5\r\nLPUSH\r\n$2\r\np2\r\n' | redis-cli --pipe; redis-cli GET p2",
    r"printf 'SET p3 1\r\nLPUSH p3 x\r\nINCR p3\r\n' | redis-cli --pipe; redis-cli GET p3",
    // Walks over all keys.
    "redis-cli --scan | sort; redis-cli --scan --pattern '*s*' | sort; redis-cli --scan --quoted-pattern '\"a\\x00*\"'",
    "redis-cli --bigkeys | sed -n '/summary/,$p' | sort",
    "redis-cli --memkeys | sed -n '/summary/,$p' | sed -n 's/ with .*//p' | sort",
    "redis-cli --hotkeys",
    // Modes that watch the server.
    "redis-cli --raw --latency -i 0.05 | wc -w",
    "redis-cli --stat -i 0.005 | head -2",
    // Questions about the server's commands.
    "redis-cli HELP LPOS | grep -v summary",
    "redis-cli --cluster info 127.0.0.1:$PORT | grep -o 'is not configured as a cluster node.'",
    "redis-cli OBJECT FREQ text; redis-cli OBJECT ENCODING number",
    "redis-cli DEBUG SLEEP 0",
    "redis-cli SLOWLOG RESET; redis-cli SLOWLOG GET; redis-cli SLOWLOG LEN",
    "redis-cli FLUSHALL; redis-cli DBSIZE; redis-cli RANDOMKEY",
];

/// Lines whose output only Bobbin has: an absent feature gives a plain error, never an OK or a hang.
pub(crate) const OF_BOBBIN: &[(&str, &str)] = &[
    ("redis-cli NOSUCH events", "(error) ERR unknown command 'NOSUCH', with args beginning with: 'events' \n-> 0"),
    ("redis-cli --rdb - >/dev/null 2>&1", "-> 1"),
    ("redis-cli --replica >/dev/null 2>&1", "-> 1"),
    ("redis-cli -3 CLIENT DURABLE ALWAYS", "OK\n-> 0"),
];

/// redis-benchmark's flags, and the number of results it must print. LRANGE also prints its own LPUSH.
pub(crate) const BENCHMARKS: &[(&str, usize)] = &[
    ("-p $PORT -q -n 2000 -t ping,set,get,incr,lpush,rpush,lpop,rpop,lrange_100,mset", 12),
    ("-p $PORT -q -n 20000 -P 16 -t ping,set,get,incr,lpush,rpush,lpop,rpop,lrange_100,mset", 12),
    ("-p $PORT -n 5000 -r 1000 -d 300 --threads 2 -t set,get,lpush,rpop", 4),
    ("-p $PORT -q -n 500 -k 0 -t set,get", 2),
    ("-p $PORT -q -n 2000 -3 -t set,get,lpush,lrange_100", 5),
    ("-p $PORT -q -n 2000 --dbnum 3 -c 100 -r 100 RPUSH list:__rand_int__ item", 1),
    ("-s $SOCKET -q -n 2000 -t set,lpush,lrange_600", 4),
];
