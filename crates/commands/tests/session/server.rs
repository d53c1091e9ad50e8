//! INFO TIME ROLE LOLWUT WAIT REPLICAOF CLUSTER CONFIG SLOWLOG LATENCY MEMORY BGSAVE LASTSAVE SHUTDOWN
//! DEBUG SET-ACTIVE-EXPIRE MC.STATS MC.WATCH MQ.STATS.

use crate::session::fake::Fake;
use commands::{MemoryFigures, SlowEntry, SlowEvents, shutdown_arguments, sleep_ms};
use wire::OwnedRequest;

#[test]
fn info_passes_its_sections_to_the_session() {
    let mut fake = Fake::new();
    assert_eq!(fake.call("INFO"), "\"\"");
    assert_eq!(fake.call("INFO Server CLIENTS"), "\"server+clients\"");
    assert_eq!(fake.call3("INFO everything"), "txt:\"everything\"");
}

#[test]
fn time_and_role_have_their_redis_forms() {
    let mut fake = Fake { now_us: 1_795_235_264_000_654, ..Fake::new() };
    assert_eq!(fake.call("TIME"), "[\"1795235264\", \"654\"]");
    assert_eq!(fake.call("ROLE"), "[\"master\", 0, []]");
}

#[test]
fn config_subcommands_reach_the_session() {
    let mut fake = Fake::new();
    assert_eq!(fake.call("CONFIG GET a b"), "[\"a\", \"1\", \"b\", \"1\"]");
    assert_eq!(fake.call3("CONFIG GET a"), "{\"a\": \"1\"}");
    assert_eq!(fake.call("CONFIG SET a 1 b 2"), "OK");
    assert_eq!(fake.call("CONFIG SET a 1 b"), "!ERR syntax error");
    assert_eq!(fake.call("CONFIG REWRITE"), "OK");
    assert_eq!(fake.call("CONFIG RESETSTAT"), "OK");
    assert_eq!(fake.asked, ["set a 1", "set b 2", "resetstat"]);
    fake.refusal = Some("ERR The server is running without a config file");
    assert_eq!(fake.call("CONFIG REWRITE"), "!ERR The server is running without a config file");
    assert_eq!(fake.call("CONFIG SET a 1"), "!ERR The server is running without a config file");
}

#[test]
fn slowlog_returns_and_resets_entries() {
    let entry = |id| SlowEntry {
        id,
        at_s: 100,
        took_us: 12_000,
        arguments: vec![b"GET".to_vec(), b"k".to_vec()],
        address: "127.0.0.1:5".to_owned(),
        name: "me".to_owned(),
    };
    let mut fake = Fake { slow: (0..12).rev().map(entry).collect(), ..Fake::new() };
    assert_eq!(fake.call("SLOWLOG GET 1"), "[[11, 100, 12000, [\"GET\", \"k\"], \"127.0.0.1:5\", \"me\"]]");
    assert_eq!(fake.call("SLOWLOG GET").matches("GET").count(), 10);
    assert_eq!(fake.call("SLOWLOG GET -1").matches("GET").count(), 12);
    assert_eq!(fake.call("SLOWLOG GET 0"), "[]");
    assert_eq!(fake.call("SLOWLOG LEN"), "12");
    assert_eq!(fake.call("SLOWLOG RESET"), "OK");
    assert_eq!(fake.call("SLOWLOG LEN"), "0");
    for request in ["SLOWLOG GET -2", "SLOWLOG GET x"] {
        assert_eq!(fake.call(request), "!ERR count should be greater than or equal to -1", "{request}");
    }
    assert_eq!(
        fake.call("SLOWLOG GET 1 2"),
        "!ERR unknown subcommand or wrong number of arguments for 'GET'. Try SLOWLOG HELP."
    );
}

#[test]
fn memory_stats_derive_ratios_from_figures() {
    let figures = MemoryFigures {
        peak_bytes: 400,
        total_bytes: 300,
        startup_bytes: 100,
        clients_bytes: 10,
        dataset_bytes: 150,
        resident_bytes: 600,
        databases: vec![(0, 4, 1)],
        keys_count: 4,
    };
    let mut fake = Fake { figures, ..Fake::new() };
    let stats = fake.call3("MEMORY STATS");
    for part in [
        "\"peak.allocated\": 400",
        "\"total.allocated\": 300",
        "\"startup.allocated\": 100",
        "\"clients.normal\": 10",
        "\"overhead.total\": 150",
        "\"keys.count\": 4",
        "\"keys.bytes-per-key\": 50",
        "\"dataset.bytes\": 150",
        "\"dataset.percentage\": ,75",
        "\"peak.percentage\": ,75",
        "\"fragmentation\": ,2",
        "\"fragmentation.bytes\": 300",
        "\"db.0\": {\"keys.count\": 4, \"expires.count\": 1}",
    ] {
        assert!(stats.contains(part), "{part} in {stats}");
    }
    fake.figures = MemoryFigures::default();
    assert!(fake.call("MEMORY STATS").contains("\"keys.bytes-per-key\", 0"));
}

#[test]
fn memory_doctor_describes_usage_in_words() {
    let mut fake = Fake::new();
    assert!(fake.call("MEMORY DOCTOR").contains("too little"));
    fake.figures = MemoryFigures { peak_bytes: 90 << 20, total_bytes: 10 << 20, ..MemoryFigures::default() };
    assert!(fake.call3("MEMORY DOCTOR").contains("more was in use before"));
    fake.figures.peak_bytes = 10 << 20;
    assert!(fake.call("MEMORY DOCTOR").contains("No memory problems found"));
    assert!(fake.call("MEMORY MALLOC-STATS").contains("allocated:10485760"));
    assert_eq!(fake.call("MEMORY PURGE"), "OK");
}

#[test]
fn latency_subcommands_report_and_reset_events() {
    let latency_monitor =
        |event: &str| SlowEvents { event: event.to_owned(), samples: vec![(90, 7), (95, 200)], max_ms: 300 };
    let mut fake = Fake { now_us: 100_000_000, ..Fake::new() };
    assert_eq!(fake.call("LATENCY LATEST"), "[]");
    assert_eq!(fake.call("LATENCY HISTORY command"), "[]");
    assert_eq!(fake.call("LATENCY GRAPH command"), "!ERR No samples available for event 'command'");
    assert_eq!(fake.call("LATENCY RESET"), "0");
    assert!(fake.call("LATENCY DOCTOR").contains("Nothing took long"));
    fake.latency_monitor = vec![latency_monitor("command"), latency_monitor("fast-command")];
    assert_eq!(fake.call("LATENCY LATEST"), "[[\"command\", 95, 200, 300], [\"fast-command\", 95, 200, 300]]");
    assert_eq!(fake.call("LATENCY HISTORY command"), "[[90, 7], [95, 200]]");
    assert!(fake.call("LATENCY GRAPH command").contains("5 s ago     200 ms ##########"));
    assert!(
        fake.call("LATENCY DOCTOR").contains("fast-command: 2 seconds with spikes, 103 ms on average, 300 ms at most.")
    );
    assert_eq!(fake.call("LATENCY RESET none command"), "1");
    assert_eq!(fake.call("LATENCY RESET"), "1");
    let get = "{\"get\": {\"calls\": 4, \"histogram_usec\": {1: 3, 8: 4}}}";
    assert_eq!(fake.call3("LATENCY HISTOGRAM GET blabla"), get);
    assert_eq!(fake.call("LATENCY HISTOGRAM client"), "[\"client|id\", [\"calls\", 1, \"histogram_usec\", [2, 1]]]");
    assert!(fake.call("LATENCY HISTOGRAM").contains("get") && fake.call("LATENCY HISTOGRAM").contains("client|id"));
}

#[test]
fn replication_and_cluster_commands_reply_as_a_lone_master() {
    let mut fake = Fake::new();
    for (request, answer) in [
        ("WAIT 0 0", "0"),
        ("WAIT 1 10", "0"),
        ("WAIT x 1", "!ERR value is not an integer or out of range"),
        ("WAIT 0 x", "!ERR timeout is not an integer or out of range"),
        ("WAIT 0 -1", "!ERR timeout is negative"),
        ("REPLICAOF no one", "OK"),
        ("SLAVEOF NO ONE", "OK"),
        ("REPLICAOF a b", "!ERR Invalid master port"),
        ("REPLICAOF a 1", "!ERR replication is not supported: this server is always a master"),
        ("SYNC", "!ERR replication is not supported: this server is always a master"),
        ("PSYNC ? -1", "!ERR replication is not supported: this server is always a master"),
        ("REPLCONF capa eof", "!ERR replication is not supported: this server is always a master"),
        ("FAILOVER", "!ERR FAILOVER requires connected replicas."),
        ("FAILOVER ABORT", "!ERR No failover in progress."),
        ("CLUSTER INFO", "!ERR This instance has cluster support disabled"),
        ("CLUSTER SLOT-STATS SLOTSRANGE 0 1", "!ERR This instance has cluster support disabled"),
        ("CLUSTER SLOTS", "!ERR This instance has cluster support disabled"),
        ("CLUSTER HELP", "!ERR This instance has cluster support disabled"),
        ("FAILOVER TO", "!ERR syntax error"),
        ("READONLY", "!ERR This instance has cluster support disabled"),
        ("READWRITE", "!ERR This instance has cluster support disabled"),
        ("ASKING", "!ERR This instance has cluster support disabled"),
    ] {
        assert_eq!(fake.call(request), answer, "{request}");
    }
    assert!(fake.call("LOLWUT").contains("Redis ver. "));
    assert_eq!(fake.call("LOLWUT VERSION x"), "!ERR value is not an integer or out of range");
}

#[test]
fn acl_commands_know_only_the_default_user() {
    let mut fake = Fake::new();
    for (request, answer) in [
        ("ACL WHOAMI", "\"default\""),
        ("ACL USERS", "[\"default\"]"),
        ("ACL LIST", "[\"user default on nopass ~* &* +@all\"]"),
        ("ACL GETUSER nobody", "null"),
        ("ACL GENPASS 5", "\"a5\""),
        ("ACL GENPASS 4", "\"a\""),
        ("ACL LOG", "[]"),
        ("ACL LOG 5", "[]"),
        ("ACL LOG RESET", "OK"),
        ("ACL LOG x", "!ERR value is not an integer or out of range"),
        ("ACL DELUSER default", "!ERR The 'default' user cannot be removed"),
        ("ACL DELUSER x y", "0"),
        ("ACL DRYRUN default GET a", "OK"),
        ("ACL DRYRUN default GET", "!ERR wrong number of arguments for 'get' command"),
        ("ACL DRYRUN default NOSUCH a", "!ERR Command 'NOSUCH' not found"),
        ("ACL DRYRUN x GET a", "!ERR User 'x' not found"),
        ("ACL SETUSER default on nopass ~* &* +@all", "OK"),
        ("ACL SETUSER default", "OK"),
        ("ACL CAT nosuch", "!ERR Unknown category 'nosuch'"),
        ("MODULE LIST", "[[\"name\", \"search\", \"ver\", 21005, \"path\", \"\", \"args\", []]]"),
        ("MODULE UNLOAD x", "!ERR Error unloading module: no such module with that name"),
    ] {
        assert_eq!(fake.call(request), answer, "{request}");
    }
    for bits in ["0", "-1", "4097"] {
        assert!(fake.call(&format!("ACL GENPASS {bits}")).starts_with("!ERR ACL GENPASS argument must be"), "{bits}");
    }
    assert_eq!(fake.call("ACL GENPASS").len(), 64 + 2);
    for refused in ["ACL SETUSER other on", "ACL SETUSER default off", "ACL SETUSER default >secret"] {
        assert!(fake.call(refused).starts_with("!ERR there is one user"), "{refused}");
    }
    for no_file in ["ACL LOAD", "ACL SAVE"] {
        assert!(fake.call(no_file).contains("not configured to use an ACL file"), "{no_file}");
    }
    assert!(fake.call("ACL CAT").contains("\"scripting\""));
    assert!(fake.call("ACL CAT connection").contains("\"client|id\""));
    let without = "{\"flags\": ~[\"on\", \"nopass\"], \"passwords\": [], \"commands\": \"+@all\", \"keys\": \"~*\", \
                   \"channels\": \"&*\", \"selectors\": []}";
    assert_eq!(fake.call3("ACL GETUSER default"), without);
    fake.password = Some("opener");
    assert_eq!(fake.call("ACL LIST"), "[\"user default on #digest of opener ~* &* +@all\"]");
    assert!(fake.call3("ACL GETUSER default").contains("~[\"on\"], \"passwords\": [\"digest of opener\"]"));
    assert!(fake.call("ACL SETUSER default nopass").starts_with("!ERR there is one user"));
}

#[test]
fn bgsave_and_bgrewriteaof_begin_a_checkpoint() {
    for (request, answer) in [
        ("BGSAVE", "Background saving started"),
        ("BGSAVE SCHEDULE", "Background saving scheduled"),
        ("BGREWRITEAOF", "Background append only file rewriting started"),
    ] {
        let mut fake = Fake::new();
        assert_eq!(fake.call(request), answer);
        assert_eq!(fake.asked, ["checkpoint"], "{request}");
        assert_eq!(fake.call(request), "!ERR Background save already in progress", "{request}");
    }
    let mut fake = Fake::new();
    assert_eq!(fake.call("BGSAVE NOW"), "!ERR syntax error");
    assert_eq!(fake.call("LASTSAVE"), "1700000000");
}

#[test]
fn debug_set_active_expire_reaches_the_session() {
    let mut fake = Fake::new();
    assert_eq!(fake.call("DEBUG SET-ACTIVE-EXPIRE 0"), "OK");
    assert_eq!(fake.call("DEBUG SET-ACTIVE-EXPIRE 1"), "OK");
    assert_eq!(fake.asked, ["active expire false", "active expire true"]);
    assert_eq!(fake.call("DEBUG SET-ACTIVE-EXPIRE x"), "!ERR value is not an integer or out of range");
}

fn owned(request: &str) -> OwnedRequest {
    OwnedRequest::of(&request.split(' ').collect::<Vec<_>>())
}

#[test]
fn shutdown_arguments_are_checked() {
    let shutdown = |request| shutdown_arguments(&owned(request).args()).map_err(|failure| failure.to_string());
    for request in ["SHUTDOWN", "SHUTDOWN nosave", "SHUTDOWN SAVE NOW FORCE"] {
        assert_eq!(shutdown(request), Ok(()), "{request}");
    }
    for request in ["SHUTDOWN FOO", "SHUTDOWN SAVE NOSAVE", "SHUTDOWN ABORT NOW"] {
        assert_eq!(shutdown(request), Err("ERR syntax error".to_owned()), "{request}");
    }
    assert_eq!(shutdown("SHUTDOWN ABORT"), Err("ERR No shutdown in progress.".to_owned()));
}

#[test]
fn sleep_arguments_are_checked() {
    let sleep = |request| sleep_ms(&owned(request).args()).map_err(|failure| failure.to_string());
    assert_eq!(sleep("DEBUG SLEEP 0"), Ok(0));
    assert_eq!(sleep("DEBUG SLEEP 1.5"), Ok(1_500));
    // Redis parses the longest numeric prefix.
    for seconds in ["0\r\n", "0 ", " 0"] {
        let request = OwnedRequest::of(&["DEBUG", "SLEEP", seconds]);
        assert_eq!(sleep_ms(&request.args()).ok(), Some(0), "{seconds:?}");
    }
    for request in ["DEBUG SLEEP x", "DEBUG SLEEP -1", "DEBUG SLEEP nan", "DEBUG SLEEP inf"] {
        assert!(sleep(request).is_err(), "{request}");
    }
}

#[test]
fn mq_stats_shows_and_resets_statistics() {
    let mut fake = Fake::new();
    assert_eq!(fake.call("MQ.STATS"), "[\"STAT get_cmds 3\", END]");
    assert_eq!(fake.call("MQ.STATS reset"), "RESET");
    assert_eq!(fake.asked, ["reset queues"]);
    assert_eq!(fake.call("MQ.STATS nonsense"), "!ERROR");
}

#[test]
fn mc_stats_shows_and_resets_statistics() {
    let mut fake = Fake::new();
    assert_eq!(fake.call("MC.STATS"), "[\"STAT pid 7\", END]");
    assert_eq!(fake.call("MC.STATS reset"), "RESET");
    assert_eq!(fake.asked, ["reset items"]);
    assert_eq!(fake.call("MC.STATS nonsense"), "!ERROR");
}

#[test]
fn mc_watch_selects_events() {
    let mut fake = Fake::new();
    assert_eq!(fake.call("MC.WATCH"), "OK");
    assert_eq!(fake.call("MC.WATCH fetchers MUTATIONS evictions"), "OK");
    assert_eq!(fake.asked, ["watch_items [Fetch]", "watch_items [Fetch, Mutation, Eviction]"]);
    assert_eq!(fake.call("MC.WATCH fetchers sysevents"), "!ERROR");
}
