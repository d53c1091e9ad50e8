//! The hits, misses and average TTL in INFO of the real binary, compared with redis-server.

use crate::support::peer::{Peer, Redis};
use crate::support::{Connection, Server};
use std::net::TcpStream;
use testing::program_or_skip;
use wire::client::Value;

const CACHE: [&str; 2] = ["--journal", "off"];

type Client = Connection<TcpStream>;

/// Put before each request below.
const DATA: &str = "SET t text|SET n 5|RPUSH l 3 1 2|SADD s a b|SADD s2 b|ZADD z 1 a 2 b|ZADD z2 1 a|HSET h f v|PFADD p a|PFADD p2 b\
    |GEOADD g 13 38 a|XADD x 1-1 f v|XGROUP CREATE x g 0|SET w_1 3|SET w_2 1|SET w_3 2";

const REQUESTS: &str = "GET t|GET none|SET t v|SET t v GET|SET none v get|SET none v NX GET|SET none v XX|SETNX t v|SETEX t 100 v|APPEND t x|INCR n\
    |GETEX t|GETEX none|GETEX t EX 10|GETEX l|GETDEL t|GETDEL none|GETDEL l|GETSET t v|GETSET none v|GETSET l v|SETRANGE t 0 x|GETRANGE t 0 1\
    |MGET t none n|MSET t a none b|MSETNX t a none b|STRLEN t|EXISTS t none t|DEL t none|UNLINK t none|TYPE t|TTL t|TTL none|EXPIRE t 100|PERSIST t\
    |TOUCH t none|RENAME t u|COPY t u|COPY none u|COPY t n|COPY t n REPLACE|MOVE t 1|DUMP t|DUMP none|OBJECT ENCODING t|OBJECT ENCODING none\
    |OBJECT REFCOUNT t|MEMORY USAGE t|MEMORY USAGE none|SORT l|SORT none|SORT l STORE u|SORT none STORE u|SORT l STORE l|SORT_RO l|SORT l BY w_*|SORT l BY w_* GET # GET w_* GET x_* STORE u|SORT_RO l BY w_* GET x_*->f\
    |LPUSH l x|LPUSHX l x|LPOP l|LPOP none|LRANGE l 0 -1|LLEN none|LMOVE l u LEFT LEFT|LMOVE none u LEFT LEFT|RPOPLPUSH l u|LINSERT l BEFORE 1 x|LREM l 0 1\
    |LSET l 0 x|LTRIM l 0 1|LPOS l 1|LMPOP 2 none l LEFT|BLPOP l 0|BLMOVE l u LEFT LEFT 0\
    |HGET h f|HSET h f v|HDEL h f|HINCRBY h n 1|HGETALL none|HSETNX h f v\
    |SADD s c|SREM s a|SPOP s|SMOVE s u a|SISMEMBER s a|SRANDMEMBER none|SINTER s s2 none|SINTERSTORE u s s2|SINTERSTORE u s none s2|SUNIONSTORE u s none|SDIFFSTORE u s s2\
    |SDIFFSTORE s none s2|SUNIONSTORE s s s2|SINTERCARD 2 s s2\
    |ZADD z 3 c|ZINCRBY z 1 a|ZREM z a|ZPOPMIN z|ZSCORE z a|ZRANGE none 0 -1|ZUNIONSTORE u 2 z none|ZINTERSTORE u 3 z z2 none|ZDIFFSTORE u 2 z z2|ZUNION 2 z none\
    |ZRANGESTORE u z 0 -1|ZRANGESTORE u none 0 -1|ZREMRANGEBYRANK z 0 0|ZMPOP 2 none z MIN|ZUNIONSTORE u 2 s z\
    |GEOADD g 1 1 b|GEOSEARCHSTORE u g FROMMEMBER a BYRADIUS 1 km|GEOSEARCHSTORE u none FROMLONLAT 1 1 BYRADIUS 1 km|GEORADIUS g 13 38 1 km STORE u\
    |GEORADIUS none 13 38 1 km STORE u|GEODIST g a a\
    |PFADD p b|PFCOUNT p|PFCOUNT none|PFCOUNT p p2 none|PFMERGE u p p2|PFMERGE p p2 none|PFMERGE p\
    |SETBIT t 1 1|GETBIT t 1|BITCOUNT t|BITOP AND u t none|BITOP NOT u t|BITOP OR t t n|BITFIELD t GET u8 0|BITFIELD none GET u8 0|BITFIELD t SET u8 0 1|BITFIELD t GET u8 0 INCRBY u8 0 1\
    |BITFIELD_RO t GET u8 0\
    |XADD x * f v|XLEN x|XDEL x 1-1|XTRIM x MAXLEN 0|XACK x g 1-1|XACK none g 1-1|XCLAIM x g c 0 1-1|XAUTOCLAIM x g c 0 0|XPENDING x g|XINFO STREAM x\
    |XGROUP CREATE x g2 0|XGROUP DESTROY x g|XSETID x 9-9|XREAD STREAMS x 0|XREADGROUP GROUP g c STREAMS none x > >\
    |EVAL redis.call('get','t')redis.call('getdel','t')redis.call('set','t','v')redis.call('get','none') 0|RESTORE u 0 x|LCS t n|SUBSTR t 0 1";

/// Redis looks for its key twice, and counts both.
const TWICE: &str = "XREADGROUP GROUP g c STREAMS x >";

fn words(request: &str) -> Vec<&str> {
    request.split(' ').collect()
}

fn figures(client: &mut Client) -> [u64; 2] {
    let Value::Bulk(info) = client.call(&["INFO", "stats"]) else { panic!("no text") };
    let info = String::from_utf8(info).unwrap();
    ["keyspace_hits:", "keyspace_misses:"].map(|name| {
        let line = info.lines().find(|line| line.starts_with(name)).unwrap();
        line[name.len()..].parse().unwrap()
    })
}

/// The hits and misses of one request.
fn counted(client: &mut Client, request: &str) -> [u64; 2] {
    counted_after(client, &[], request)
}

/// The hits and misses of one request after these.
fn counted_after(client: &mut Client, steps: &[&str], request: &str) -> [u64; 2] {
    client.call(&["FLUSHALL"]);
    DATA.split('|').chain(steps.iter().copied()).for_each(|step| drop(client.call(&words(step))));
    let before = figures(client);
    client.call(&words(request));
    let after = figures(client);
    [after[0] - before[0], after[1] - before[1]]
}

#[test]
fn hits_and_misses_are_counted_as_in_redis() {
    if program_or_skip("hits_and_misses_are_counted_as_in_redis", "redis-server").is_none() {
        return;
    }
    let (server, redis) = (Server::start(&CACHE), Redis::start(&[]));
    let (mut ours, mut theirs) = (Client::tcp(server.port), Client::tcp(redis.port()));
    let mut differ = Vec::new();
    for request in REQUESTS.split('|') {
        let counts = [counted(&mut ours, request), counted(&mut theirs, request)];
        if counts[0] != counts[1] {
            differ.push(format!("{request}: hits and misses {:?}, Redis {:?}", counts[0], counts[1]));
        }
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
    assert_eq!([counted(&mut ours, TWICE), counted(&mut theirs, TWICE)], [[1, 0], [2, 0]]);
}

#[test]
fn list_commands_count_a_queue_like_a_list() {
    let server = Server::start(&CACHE);
    let mut client = Client::tcp(server.port);
    for request in [
        "LLEN l",
        "LRANGE l 0 -1",
        "LINDEX l 0",
        "LPOP l",
        "LPOP l 2",
        "LMPOP 1 l LEFT",
        "LPUSH l x",
        "LMOVE l u LEFT LEFT",
    ] {
        let (list, queue) =
            (counted(&mut client, request), counted_after(&mut client, &["Q.LIMIT l TTL 60000"], request));
        assert_eq!(list, queue, "{request}");
    }
}

#[test]
fn reads_within_a_transaction_are_counted() {
    let server = Server::start(&CACHE);
    let mut client = server.connect();
    client.call(&["SET", "t", "text"]);
    for request in ["MULTI", "GET t", "GETDEL t", "GET none", "SET u v", "EXEC"] {
        client.call(&words(request));
    }
    assert_eq!(figures(&mut client), [2, 1]);
}

#[test]
fn avg_ttl_is_close_to_the_mean_of_the_keys() {
    let server = Server::start(&CACHE);
    let mut client = server.connect();
    for n in 0..2000u64 {
        client.call(&["SET", &n.to_string(), "v", "PX", &(1_000_000_000 + n * 1_000_000).to_string()]);
    }
    client.call(&["SET", "stays", "v"]);
    let Value::Bulk(info) = client.call(&["INFO", "keyspace"]) else { panic!("no text") };
    let info = String::from_utf8(info).unwrap();
    let (_, behind) = info.split_once("db0:keys=2001,expires=2000,avg_ttl=").expect(&info);
    let left_ms: u64 = behind.split(',').next().unwrap().parse().unwrap();
    assert!((1_900_000_000..2_100_000_000).contains(&left_ms), "{left_ms}");
}
