//! Messages through the real binary: several connections, on both of its workers.

use crate::support::peer::{Peer, Redis};
use crate::support::{Connection, Server, request};
use std::net::TcpStream;
use std::time::Duration;
use testing::program_or_skip;
use wire::client::Value;

const CACHE: [&str; 2] = ["--journal", "off"];

type Client = Connection<TcpStream>;

fn words(value: &Value) -> Vec<String> {
    let parts = value.as_slice().unwrap_or_else(|| panic!("no message: {value}"));
    parts
        .iter()
        .map(|part| part.as_bytes().map_or_else(|| part.to_string(), |bytes| String::from_utf8_lossy(bytes).into()))
        .collect()
}

#[track_caller]
fn heard(client: &mut Client) -> String {
    words(&client.reply()).join(" ")
}

fn subscribed(server: &Server, command: &str, name: &str) -> Client {
    let mut client = server.connect();
    client.call(&[command, name]);
    client
}

#[test]
fn messages_reach_all_subscribers_and_nobody_else() {
    let server = Server::start(&CACHE);
    let mut one = subscribed(&server, "SUBSCRIBE", "news");
    let mut two = subscribed(&server, "SUBSCRIBE", "news");
    let mut pattern = subscribed(&server, "PSUBSCRIBE", "n[a-z]ws");
    let mut shard = subscribed(&server, "SSUBSCRIBE", "news");
    let mut publisher = server.connect();
    assert_eq!(publisher.call(&["PUBLISH", "news", "hello"]), Value::Int(3));
    assert_eq!(publisher.call(&["PUBLISH", "old", "hello"]), Value::Int(0));
    assert_eq!(publisher.call(&["SPUBLISH", "news", "there"]), Value::Int(1));
    assert_eq!(heard(&mut one), "message news hello");
    assert_eq!(heard(&mut two), "message news hello");
    assert_eq!(heard(&mut pattern), "pmessage n[a-z]ws news hello");
    assert_eq!(heard(&mut shard), "smessage news there");
    assert_eq!(publisher.call(&["PUBSUB", "NUMSUB", "news", "old"]).to_string(), "[\"news\", 2, \"old\", 0]");
    assert_eq!(publisher.call(&["PUBSUB", "CHANNELS"]).to_string(), "[\"news\"]");
    assert_eq!(publisher.call(&["PUBSUB", "NUMPAT"]), Value::Int(1));
    for (field, value) in
        [("pubsub_channels", "1"), ("pubsub_patterns", "1"), ("pubsubshard_channels", "1"), ("pubsub_clients", "4")]
    {
        assert_eq!(server.info(field), value, "{field}");
    }
    // Earlier messages arrive before the end of a subscription, and none after it.
    assert_eq!(publisher.call(&["PUBLISH", "news", "last"]), Value::Int(3));
    one.send(&["UNSUBSCRIBE"]);
    assert_eq!(heard(&mut one), "message news last");
    assert_eq!(heard(&mut one), "unsubscribe news 0");
    assert_eq!(publisher.call(&["PUBLISH", "news", "later"]), Value::Int(2));
    assert_eq!(one.call(&["PING"]), Value::Simple("PONG".to_owned()));
    drop((one, two, pattern, shard));
    while publisher.call(&["PUBLISH", "news", "nobody"]) != Value::Int(0) {}
    assert_eq!(publisher.call(&["PUBSUB", "CHANNELS"]).to_string(), "[]");
    assert_eq!(publisher.call(&["PUBSUB", "NUMPAT"]), Value::Int(0));
}

#[test]
fn earlier_messages_are_delivered_before_a_requests_reply() {
    let server = Server::start(&CACHE);
    let mut listeners: Vec<Client> = (0..4).map(|_| subscribed(&server, "SUBSCRIBE", "c")).collect();
    let mut publisher = server.connect();
    for number in 0..200 {
        let text = number.to_string();
        assert_eq!(publisher.call(&["PUBLISH", "c", &text]), Value::Int(4));
        for listener in &mut listeners {
            listener.send(&["PING", "p"]);
            assert_eq!(heard(listener), format!("message c {text}"));
            assert_eq!(heard(listener), "pong p");
        }
    }
}

#[test]
fn a_resp3_subscriber_gets_its_own_message_after_its_reply() {
    let server = Server::start(&CACHE);
    let mut client = server.connect();
    client.call(&["HELLO", "3"]);
    assert_eq!(client.call(&["SUBSCRIBE", "c"]).to_string(), ">[\"subscribe\", \"c\", 1]");
    client.send_bytes(&[request(&["PUBLISH", "c", "1"]), request(&["PING"])].concat());
    assert_eq!(client.reply(), Value::Int(1));
    assert_eq!(client.reply().to_string(), ">[\"message\", \"c\", \"1\"]");
    assert_eq!(client.reply(), Value::Simple("PONG".to_owned()));
    // Neither REPLY OFF nor SKIP keeps messages away.
    client.send(&["CLIENT", "REPLY", "OFF"]);
    assert_eq!(client.call(&["SUBSCRIBE", "d"]).to_string(), ">[\"subscribe\", \"d\", 2]");
    assert_eq!(client.call(&["PUBLISH", "d", "2"]).to_string(), ">[\"message\", \"d\", \"2\"]");
    assert_eq!(client.call(&["CLIENT", "REPLY", "ON"]), Value::Simple("OK".to_owned()));
}

#[test]
fn a_resp2_subscriber_may_run_only_a_few_commands() {
    let server = Server::start(&CACHE);
    let mut client = subscribed(&server, "SUBSCRIBE", "c");
    for (request, name) in
        [("GET k", "get"), ("PUBLISH c x", "publish"), ("HELLO 3", "hello"), ("CLIENT ID", "client|id")]
    {
        let reply = client.call(&request.split(' ').collect::<Vec<_>>());
        let error = format!(
            "ERR Can't execute '{name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this \
             context"
        );
        assert_eq!(reply.as_error(), Some(error.as_str()), "{request}");
    }
    assert_eq!(client.call(&["RESET"]), Value::Simple("RESET".to_owned()));
    assert_eq!(client.call(&["GET", "k"]), Value::Null);
    assert_eq!(client.call(&["PUBLISH", "c", "x"]), Value::Int(0));
    client.call(&["SUBSCRIBE", "c"]);
    assert_eq!(client.call(&["QUIT"]), Value::Simple("OK".to_owned()));
    assert_eq!(client.try_reply(), None);
}

#[test]
fn messages_in_a_transaction_are_published_together_if_it_runs() {
    let server = Server::start(&CACHE);
    let mut listener = subscribed(&server, "SUBSCRIBE", "c");
    let (mut client, mut other) = (server.connect(), server.connect());
    client.call(&["WATCH", "k"]);
    client.call(&["MULTI"]);
    client.call(&["PUBLISH", "c", "never"]);
    other.call(&["SET", "k", "v"]);
    assert_eq!(client.call(&["EXEC"]), Value::NullArray);
    client.call(&["MULTI"]);
    client.call(&["PUBLISH", "c", "one"]);
    client.call(&["LPUSH", "k", "wrong"]);
    client.call(&["PUBLISH", "c", "two"]);
    let replies = client.call(&["EXEC"]);
    assert_eq!((&replies.as_slice().unwrap()[0], &replies.as_slice().unwrap()[2]), (&Value::Int(1), &Value::Int(1)));
    assert_eq!(heard(&mut listener), "message c one");
    assert_eq!(heard(&mut listener), "message c two");
    // Subscriptions may be queued, too.
    client.call(&["MULTI"]);
    client.call(&["SUBSCRIBE", "d"]);
    client.call(&["PUBLISH", "d", "x"]);
    assert_eq!(client.call(&["EXEC"]).to_string(), "[[\"subscribe\", \"d\", 1], 1]");
    assert_eq!(heard(&mut client), "message d x");
}

#[test]
fn client_list_and_kill_filter_by_type_pubsub() {
    let server = Server::start(&CACHE);
    let mut listener = subscribed(&server, "SUBSCRIBE", "c");
    listener.call(&["PSUBSCRIBE", "p*"]);
    listener.call(&["PSUBSCRIBE", "q*"]);
    listener.call(&["SSUBSCRIBE", "s"]);
    let mut other = server.connect();
    let list = other.call(&["CLIENT", "LIST", "TYPE", "pubsub"]);
    let list = String::from_utf8_lossy(list.as_bytes().unwrap()).into_owned();
    assert_eq!(list.lines().count(), 1);
    assert!(list.contains(" flags=P ") && list.contains(" sub=1 psub=2 ssub=1 "), "{list}");
    assert_eq!(other.call(&["CLIENT", "KILL", "TYPE", "normal"]), Value::Int(0));
    assert_eq!(other.call(&["CLIENT", "KILL", "TYPE", "pubsub"]), Value::Int(1));
    assert_eq!(listener.try_reply(), None);
}

#[test]
fn a_thousand_subscribers_receive_all_messages_in_order() {
    let server = Server::start(&CACHE);
    let mut listeners: Vec<Client> = (0..1_000).map(|_| subscribed(&server, "SUBSCRIBE", "c")).collect();
    let mut publisher = server.connect();
    let big = "b".repeat(20_000);
    for number in 0..20 {
        let text = if number == 10 { big.clone() } else { number.to_string() };
        assert_eq!(publisher.call(&["PUBLISH", "c", &text]), Value::Int(1_000));
    }
    for listener in &mut listeners {
        for number in 0..20 {
            let text = if number == 10 { big.clone() } else { number.to_string() };
            assert!(heard(listener) == format!("message c {text}"), "message {number}");
        }
    }
}

fn field(line: &str, name: &str) -> u64 {
    let value = line.split(' ').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    value.unwrap_or_else(|| panic!("no {name} in {line}")).trim().parse().unwrap()
}

#[test]
fn a_slow_subscriber_is_disconnected_and_frees_its_memory() {
    let server = Server::start(&["--journal", "off", "--client-output-buffer-limit", "pubsub 8mb 0 0"]);
    let mut slow = subscribed(&server, "SUBSCRIBE", "c");
    let mut quick = subscribed(&server, "SUBSCRIBE", "c");
    let mut publisher = server.connect();
    let text = "t".repeat(10_000);
    let mut most_bytes = 0;
    let mut said = 0;
    while publisher.call(&["PUBLISH", "c", &text]) == Value::Int(2) {
        said += 1;
        assert!(said < 10_000, "it is never cut off");
        assert!(heard(&mut quick).ends_with(&text));
        if said % 50 == 0 {
            let list = publisher.call(&["CLIENT", "LIST", "TYPE", "pubsub"]);
            let list = String::from_utf8_lossy(list.as_bytes().unwrap()).into_owned();
            most_bytes = list.lines().map(|line| field(line, "omem")).max().unwrap().max(most_bytes);
        }
    }
    assert!((1 << 20..9 << 20).contains(&most_bytes), "{most_bytes} bytes waited");
    assert!(slow.bytes_until_closed() < said * text.len());
    assert!(heard(&mut quick).ends_with(&text));
    while !server.log().contains("does not read its output") {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(server.info("client_output_buffer_limit_disconnections"), "1");
    let list = publisher.call(&["CLIENT", "LIST", "TYPE", "pubsub"]);
    let list = String::from_utf8_lossy(list.as_bytes().unwrap()).into_owned();
    assert_eq!(list.lines().map(|line| field(line, "omem")).sum::<u64>(), 0, "{list}");
}

#[test]
fn the_soft_limit_applies_after_its_time() {
    let server = Server::start(&["--journal", "off", "--client-output-buffer-limit", "pubsub 0 1mb 1"]);
    let mut slow = subscribed(&server, "SUBSCRIBE", "c");
    let mut publisher = server.connect();
    let text = "t".repeat(100_000);
    while publisher.call(&["PUBLISH", "c", &text]) == Value::Int(1) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(slow.bytes_until_closed() > 0);
}

/// Commands whose events are compared between two servers.
const EVENTS: &str = "SET k v|SET k v EX 100|SET k v KEEPTTL|SET k v PX 100000 GET|SET k w NX|SET k w XX|SETNX n 1|SETNX n 2\
    |SETEX e 100 v|PSETEX e 100000 v|GETSET k z|GETSET absent z|MSET a 1 b 2 a 3|MSETNX a 1 c 2|MSETNX c 1 d 2|APPEND k x\
    |APPEND fresh x|SETRANGE k 1 yy|SETRANGE gap 3 y|SETRANGE gap 0 |INCR i|DECR i|INCRBY i 5|DECRBY i 5|INCRBYFLOAT i 1.5\
    |INCRBYFLOAT fl 2|INCR k|GETDEL k|GETDEL k|GET k|GETEX i EX 100|GETEX i PERSIST|GETEX i PERSIST|GETEX i EXAT 1|GETEX i\
    |EXPIRE a 100|EXPIRE a 100 NX|PEXPIRE a 100000|EXPIREAT a 33177117420|PERSIST a|PERSIST a|EXPIRE a -1|PEXPIREAT b 1\
    |DEL c d none|UNLINK e|EXISTS none n|TYPE none|TTL none|STRLEN none|MGET none n other|OBJECT ENCODING none|TOUCH none\
    |LPUSH l a b c|RPUSH l d|LPUSHX l x|RPUSHX l y|LPUSHX none x|LINSERT l BEFORE a new|LINSERT l AFTER zzz new|LSET l 0 set\
    |LREM l 0 a|LREM l 0 zzz|LTRIM l 1 -2|LTRIM l 0 -1|LRANGE l 0 -1|LPOP l|RPOP l 2|RPOP none|LPOP none 3|RPUSH l 1 2 3 4 5\
    |LMOVE l m LEFT RIGHT|RPOPLPUSH l m|RPOPLPUSH none m|LMPOP 2 none m RIGHT COUNT 2|BLPOP l 1|BRPOP l 1|BLMOVE l m LEFT LEFT 1\
    |RPUSH l 1 2 3|BRPOPLPUSH l m 1|BLMPOP 1 2 none l LEFT COUNT 1|BLMOVE l m LEFT LEFT 1|RPUSH l 1 2|LTRIM l 5 9|RPUSH l x|LREM l 1 x\
    |RPUSH r 1 2|LMOVE r r LEFT RIGHT|RENAME r s|RENAMENX s m|RENAMENX s t|SET u 1|RENAME u t|COPY t v|COPY t v|COPY t v REPLACE\
    |COPY t t DB 3|MOVE v 2|MOVE none 2|SELECT 2|DEL v|SELECT 0|EXPIRE t 100|RENAME t w|MULTI|SET x 1|LPUSH y a b|LPOP y|RPOP y|INCR x\
    |DEL x|EXEC|HSET h f 1 g 2|HSET h f 2|HSETNX h f 1|HSETNX h i 1|HINCRBY h f 2|HINCRBYFLOAT h f 1.5|HDEL h f none\
    |HDEL none f|HGET none f|HGETALL none|HMSET h j 1|HDEL h g i j|SETBIT bits 7 1|SETBIT bits 100 1|BITFIELD bits SET u8 0 255\
    |BITOP AND bo bits bits|BITOP AND bo bits bits|BITOP OR bo none nix|BITOP NOT bo none|BITFIELD none GET u8 0|PFCOUNT none pf|GEOSEARCHSTORE gs none FROMLONLAT 1 1 BYRADIUS 9 km|ZRANGESTORE y none 0 -1|SET none2 v GET|DEL none2|COPY none nowhere|BITCOUNT none|PFADD pf a b|PFADD pf a|PFADD pg|PFCOUNT pf|PFMERGE ph pf pg|PFADD pf c|SADD s1 a b c|SADD s1 a|SADD s2 1 2 b|SREM s1 zzz|SREM s1 a|SMOVE s1 s3 c|SMOVE s1 s3 none\
    |SINTERSTORE s4 s2 s1|SUNIONSTORE s4 s1 s2|SDIFFSTORE s4 s1 s2|SINTERSTORE s4 s3 s2|SINTERSTORE s4 s3 s2|SPOP s2 1|SPOP s3|SPOP s3\
    |SPOP s2 9|RPUSH one x|LMOVE one one LEFT RIGHT|RPOPLPUSH one one|RPUSH one y|LMOVE one one LEFT LEFT|LMOVE one one RIGHT RIGHT\
    |RPUSH one z|LPOP one 1|LPOP one 2|RPUSH one a b|RPOP one 2|RPUSH one a b|LMPOP 1 one LEFT COUNT 9|ZADD z 1 a 2 b 3 c 4 d 5 e 6 f\
    |ZADD z INCR 1 a|ZADD z XX INCR 1 none|ZADD z 2 a|ZADD z 0 f 7 g|ZINCRBY z 1 a|ZINCRBY z 0 a|ZINCRBY z 1 h|ZMPOP 1 z MAX\
    |ZMPOP 1 z MIN|BZMPOP 1 1 z MAX COUNT 1|BZMPOP 1 1 z MIN|ZADD z 1 a 2 b 3 c 4 d 5 e|ZPOPMIN z|ZPOPMAX z|ZPOPMAX z 1|BZPOPMAX z 1\
    |ZMPOP 1 z MAX COUNT 9|ZADD z 1 a|BZPOPMAX z 1|ZADD z 1 a|ZPOPMIN z|ZADD z INCR 5 a|ZREM z none|ZREM z a|ZADD z 1 a 2 b 3 c|ZREMRANGEBYRANK z 0 0\
    |ZREMRANGEBYSCORE z 2 2|ZREMRANGEBYSCORE z 9 9|ZREMRANGEBYSCORE z 3 3|ZADD z 0 a 0 b 0 c|ZREMRANGEBYLEX z [a [a|ZUNIONSTORE y 1 z|ZINTERSTORE y 2 z none\
    |ZDIFFSTORE y 1 z|ZRANGESTORE y z 0 -1|ZRANGESTORE y z 5 6|GEOADD g 1 1 a|GEOSEARCHSTORE h g FROMLONLAT 1 1 BYRADIUS 9 km\
    |GEORADIUS g 1 1 9 km STORE h|SORT g ALPHA STORE so|SORT none ALPHA STORE so|XADD x 1-1 f v|XADD x 2-1 f v|XADD x MAXLEN 1 3-1 f v|XDEL x 3-1\
    |XTRIM x MAXLEN 0|XADD x 4-1 f v|XTRIM x MAXLEN 0|XSETID x 9-9|XGROUP CREATE x g $|XGROUP CREATECONSUMER x g c|XGROUP SETID x g 0\
    |XADD x 10-1 f v|XREADGROUP GROUP g d COUNT 1 STREAMS x >|XACK x g 10-1|XGROUP DELCONSUMER x g c|XGROUP DELCONSUMER x g none|XGROUP DESTROY x g\
    |XGROUP CREATE xx g $ MKSTREAM|XAUTOCLAIM x none c 0 0|SREM s1 b|SISMEMBER none a|SCARD none|SWAPDB 4 5|FLUSHDB|SET p v PX 30|DEBUG SLEEP 0.2|GET p|DBSIZE";

/// Returns a server's output for each of [`EVENTS`]: its reply, then the events.
fn transcript(port: u16) -> Vec<String> {
    let mut client = Client::tcp(port);
    let (mut listener, mut publisher) = (Client::tcp(port), Client::tcp(port));
    assert_eq!(client.call(&["CONFIG", "SET", "notify-keyspace-events", "KEAmn"]), Value::Simple("OK".to_owned()));
    listener.call(&["PSUBSCRIBE", "__key*"]);
    let mut lines = Vec::new();
    for line in EVENTS.split('|') {
        let words: Vec<&str> = line.split(' ').collect();
        let reply = client.call(&words);
        // Which members go is drawn.
        let reply = if line.starts_with("SPOP") { "drawn".to_owned() } else { reply.to_string() };
        let mut events = Vec::new();
        // The end of what the command made.
        publisher.call(&["PUBLISH", "__key", "end"]);
        loop {
            let event = heard(&mut listener);
            if event.ends_with("__key end") {
                break;
            }
            events.push(event.replace("pmessage __key* ", ""));
        }
        lines.push(format!("{line} -> {reply}: {}", events.join(", ")));
    }
    lines
}

#[test]
fn keyspace_events_match_those_of_redis() {
    if program_or_skip("keyspace_events_match_those_of_redis", "redis-server").is_none() {
        return;
    }
    let ours = transcript(Server::start(&["--enable-debug-command", "yes"]).port);
    let theirs = transcript(Redis::start(&["--enable-debug-command", "yes"]).port());
    let differ: Vec<String> = ours
        .iter()
        .zip(&theirs)
        .filter(|(ours, theirs)| ours != theirs)
        .map(|(ours, theirs)| format!("ours:  {ours}\nRedis: {theirs}"))
        .collect();
    assert!(differ.is_empty(), "{} of {} differ:\n{}", differ.len(), ours.len(), differ.join("\n"));
}
