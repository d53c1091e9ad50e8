//! Dumps of redis-server are restored here and the other way round: random values of every type, compared element by
//! element, and by OBJECT ENCODING.

use crate::support::peer::{Peer, Redis};
use crate::support::{Connection, Server};
use std::net::TcpStream;
use wire::client::Value;

/// Values that go each way.
const VALUES: usize = 1200;

/// Numbers that are the same for ever.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    /// Returns bytes of one of the kinds that payloads encode differently.
    fn text(&mut self) -> Vec<u8> {
        match self.below(8) {
            0 => self.below(256).to_string().into_bytes(),
            1 => format!("-{}", self.below(100_000)).into_bytes(),
            2 => (self.below(1 << 31) << self.below(32)).to_string().into_bytes(),
            3 => vec![b'a' + self.below(26) as u8; self.below(70) as usize],
            4 => (0..self.below(64)).map(|_| self.below(256) as u8).collect(),
            5 => format!("a word and the number {}, a word and the number", self.below(1000)).into_bytes(),
            6 if self.below(12) == 0 => (0..self.below(9000)).map(|at| (at * at / 50) as u8).collect(),
            _ => format!("{:x}", self.below(1 << 31)).into_bytes(),
        }
    }

    fn score(&mut self) -> Vec<u8> {
        let number = self.below(1 << 31) as f64;
        match self.below(6) {
            0 => b"inf".to_vec(),
            1 => b"-inf".to_vec(),
            2 => (number / 7.0).to_string().into_bytes(),
            3 => format!("-{:e}", number * 1e200).into_bytes(),
            _ => self.below(300).to_string().into_bytes(),
        }
    }

    /// The request that makes a value under `key`.
    fn value(&mut self, key: &[u8]) -> Vec<Vec<u8>> {
        let many = [1, 3, 20, 128, 129, 300, 2000][self.below(7) as usize];
        let many = 1 + self.below(many);
        let name = ["SET", "RPUSH", "SADD", "SADD", "HSET", "ZADD"][self.below(6) as usize];
        let are_integers = self.below(2) == 0;
        let mut words = vec![name.as_bytes().to_vec(), key.to_vec()];
        match name {
            "SET" if self.below(8) == 0 => {
                let pieces: Vec<Vec<u8>> = (0..self.below(4000)).map(|_| self.text()).collect();
                words.push(pieces.concat());
            }
            "SET" => words.push(self.text()),
            "SADD" if are_integers => {
                let shift = self.below(33);
                words.extend((0..many).map(|_| ((self.below(1 << 31) as i64) << shift).to_string().into_bytes()));
            }
            "RPUSH" | "SADD" => words.extend((0..many).map(|_| self.text())),
            "HSET" => words.extend((0..many).flat_map(|_| [self.text(), self.text()])),
            _ => words.extend((0..many).flat_map(|_| [self.score(), self.text()])),
        }
        words
    }
}

fn call(to: &mut Connection<TcpStream>, words: &[&[u8]]) -> Value {
    let reply = to.call(words);
    assert!(reply.as_error().is_none(), "{}: {reply}", words[0].escape_ascii());
    reply
}

/// All that a key holds, and what its encoding is called where Redis 7.0 and 7.4 say the same.
fn contents(of: &mut Connection<TcpStream>, key: &[u8]) -> (String, Vec<String>) {
    let kind = call(of, &[b"TYPE", key]).to_string();
    let words: &[&[u8]] = match kind.as_str() {
        kind if kind.contains("string") => &[b"GET", key],
        kind if kind.contains("list") => &[b"LRANGE", key, b"0", b"-1"],
        kind if kind.contains("zset") => &[b"ZRANGE", key, b"0", b"-1", b"WITHSCORES"],
        kind if kind.contains("set") => &[b"SMEMBERS", key],
        _ => &[b"HGETALL", key],
    };
    let mut all = match call(of, words) {
        Value::Array(values) => values.iter().map(Value::to_string).collect(),
        other => vec![other.to_string()],
    };
    match words[0] {
        b"SMEMBERS" => all.sort(),
        b"HGETALL" => {
            let mut pairs: Vec<String> = all.chunks(2).map(|pair| pair.join(" ")).collect();
            pairs.sort();
            all = pairs;
        }
        // Redis 7.0 shows more digits of a score than it needs.
        b"ZRANGE" => {
            let shown = |score: &String| score.trim_matches('"').parse::<f64>().unwrap().to_string();
            all.iter_mut().skip(1).step_by(2).for_each(|score| *score = shown(score));
        }
        _ => {}
    }
    let encoding = call(of, &[b"OBJECT", b"ENCODING", key]).to_string();
    let is_other_set = words[0] == b"SMEMBERS" && !encoding.contains("intset");
    let has_same_encoding = !is_other_set && !kind.contains("list");
    (if has_same_encoding { kind + &encoding } else { kind }, all)
}

/// Has values that are made on `from` restored on `to`.
fn carry(from: &mut Connection<TcpStream>, to: &mut Connection<TcpStream>, seed: u64) {
    let mut dice = Dice(seed);
    call(from, &[b"FLUSHALL"]);
    call(to, &[b"FLUSHALL"]);
    for number in 0..VALUES {
        let key = format!("key {number}").into_bytes();
        let made: Vec<Vec<u8>> = dice.value(&key);
        call(from, &made.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let Value::Bulk(payload) = call(from, &[b"DUMP", &key]) else { panic!("DUMP returns bytes") };
        call(to, &[b"RESTORE", &key, b"0", &payload, b"REPLACE"]);
        let (here, there) = (contents(from, &key), contents(to, &key));
        let first = here.1.iter().zip(&there.1).find(|(one, other)| one != other);
        assert!(here == there, "{} {number}: {} {}, {first:?}", made[0].escape_ascii(), here.0, there.0);
    }
}

#[test]
fn each_server_restores_the_dumps_of_the_other() {
    let test = "each_server_restores_the_dumps_of_the_other";
    if testing::program_or_skip(test, "redis-server").is_none() {
        return;
    }
    let (bobbin, redis) = (Server::start(&[]), Redis::start(&[]));
    let (mut bobbin, mut redis) = (bobbin.connect(), Connection::tcp(redis.port()));
    carry(&mut redis, &mut bobbin, 1);
    carry(&mut bobbin, &mut redis, 2);
}

/// Loads libraries of any size, some of them with repetitive code.
fn load_libraries(of: &mut Connection<TcpStream>, dice: &mut Dice) {
    call(of, &[b"FUNCTION", b"FLUSH"]);
    for number in 0..1 + dice.below(12) {
        let mut code = format!("#!lua name=library_{number}\n");
        for function in 0..1 + dice.below(80) {
            let (flags, answer) = (["", "flags={'no-writes'}, "][dice.below(2) as usize], dice.below(1 << 31));
            code += &format!(
                "redis.register_function{{function_name='f_{number}_{function}', {flags}callback=function(keys, args) \
                 return {answer} end}}\n"
            );
        }
        call(of, &[b"FUNCTION", b"LOAD", code.as_bytes()]);
    }
}

fn carry_libraries(from: &mut Connection<TcpStream>, to: &mut Connection<TcpStream>, dice: &mut Dice) {
    let listed = |of: &mut Connection<TcpStream>| {
        let reply = call(of, &[b"FUNCTION", b"LIST", b"WITHCODE"]);
        let mut all: Vec<String> = reply.as_slice().unwrap().iter().map(ToString::to_string).collect();
        // Neither server has an order of functions, but code has.
        all.iter_mut().for_each(|library| *library = library[library.find("library_code").unwrap()..].to_owned());
        all.sort_unstable();
        all
    };
    load_libraries(from, dice);
    let Value::Bulk(payload) = call(from, &[b"FUNCTION", b"DUMP"]) else { panic!("FUNCTION DUMP returns bytes") };
    call(to, &[b"FUNCTION", b"RESTORE", &payload, b"FLUSH"]);
    assert_eq!(listed(from), listed(to));
    assert_eq!(call(from, &[b"FCALL", b"f_0_0", b"0"]), call(to, &[b"FCALL", b"f_0_0", b"0"]));
}

#[test]
fn each_server_restores_the_libraries_dumped_by_the_other() {
    let test = "each_server_restores_the_libraries_dumped_by_the_other";
    if testing::program_or_skip(test, "redis-server").is_none() {
        return;
    }
    let (bobbin, redis) = (Server::start(&[]), Redis::start(&[]));
    let (mut bobbin, mut redis) = (bobbin.connect(), Connection::tcp(redis.port()));
    let mut dice = Dice(5);
    for _ in 0..10 {
        carry_libraries(&mut redis, &mut bobbin, &mut dice);
        carry_libraries(&mut bobbin, &mut redis, &mut dice);
    }
}

/// Streams that go each way.
const STREAMS: usize = 150;

/// Makes a stream: entries, some of them deleted, and groups that have read of them.
fn make_stream(of: &mut Connection<TcpStream>, dice: &mut Dice, key: &[u8]) {
    let entries = 1 + [3, 90, 101, 400][dice.below(4) as usize] * dice.below(3);
    let shapes = 1 + dice.below(3);
    let (mut ms, mut ids) = (dice.below(1 << 40), Vec::new());
    for number in 0..entries {
        ms += dice.below(3);
        let id = format!("{ms}-{number}").into_bytes();
        let mut words = vec![b"XADD".to_vec(), key.to_vec(), id.clone()];
        for field in 0..=dice.below(shapes) {
            words.extend([format!("f{field}").into_bytes(), dice.text()]);
        }
        call(of, &words.iter().map(Vec::as_slice).collect::<Vec<_>>());
        ids.push(id);
    }
    for id in &ids {
        if dice.below(5) == 0 {
            call(of, &[b"XDEL", key, id]);
        }
    }
    for number in 0..dice.below(4) {
        let group = format!("group {number}").into_bytes();
        let from = ids[dice.below(ids.len() as u64) as usize].clone();
        let from = if dice.below(2) == 0 { b"0".to_vec() } else { from };
        call(of, &[b"XGROUP", b"CREATE", key, &group, &from]);
        for _ in 0..dice.below(4) {
            let (consumer, count) = (dice.text(), (1 + dice.below(60)).to_string().into_bytes());
            let read: [&[u8]; 9] =
                [b"XREADGROUP", b"GROUP", &group, &consumer, b"COUNT", &count, b"STREAMS", key, b">"];
            call(of, &read);
        }
        for id in &ids {
            if dice.below(4) == 0 {
                call(of, &[b"XACK", key, &group, id]);
            }
        }
    }
    if dice.below(6) == 0 {
        call(of, &[b"XTRIM", key, b"MAXLEN", b"0"]);
    }
}

/// Returns the output of XINFO STREAM FULL, without the fields that differ between servers.
fn facts(reply: &Value, out: &mut String) {
    const OWN: [&[u8]; 4] = [b"radix-tree-keys", b"radix-tree-nodes", b"active-time", b"lag"];
    let Value::Array(values) = reply else {
        *out += &format!(" {reply}");
        return;
    };
    let mut values = values.iter();
    *out += " [";
    while let Some(value) = values.next() {
        if value.as_bytes().is_some_and(|name| OWN.contains(&name)) {
            values.next();
        } else {
            facts(value, out);
        }
    }
    *out += " ]";
}

fn carry_streams(from: &mut Connection<TcpStream>, to: &mut Connection<TcpStream>, seed: u64) {
    let mut dice = Dice(seed);
    for number in 0..STREAMS {
        let key = format!("stream {number}").into_bytes();
        make_stream(from, &mut dice, &key);
        let Value::Bulk(payload) = call(from, &[b"DUMP", &key]) else { panic!("DUMP returns bytes") };
        call(to, &[b"RESTORE", &key, b"0", &payload]);
        let [here, there] = [&mut *from, &mut *to].map(|server| {
            let mut output = String::new();
            facts(&call(server, &[b"XINFO", b"STREAM", &key, b"FULL", b"COUNT", b"0"]), &mut output);
            output
        });
        let differs = here.bytes().zip(there.bytes()).position(|(one, other)| one != other);
        let near =
            |text: &str| text.chars().skip(differs.unwrap_or(0).saturating_sub(200)).take(400).collect::<String>();
        assert!(here == there, "stream {number}:\n{}\n{}", near(&here), near(&there));
    }
}

#[test]
fn each_server_restores_streams_dumped_by_the_other() {
    let test = "each_server_restores_streams_dumped_by_the_other";
    if testing::program_or_skip(test, "redis-server").is_none() {
        return;
    }
    let (bobbin, redis) = (Server::start(&["--journal", "off"]), Redis::start(&[]));
    let (mut bobbin, mut redis) = (bobbin.connect(), Connection::tcp(redis.port()));
    carry_streams(&mut redis, &mut bobbin, 3);
    call(&mut bobbin, &[b"FLUSHALL"]);
    call(&mut redis, &[b"FLUSHALL"]);
    carry_streams(&mut bobbin, &mut redis, 4);
    // And what is restored takes more, as if it had been made there.
    call(&mut redis, &[b"XADD", b"stream 0", b"*", b"f", b"v"]);
}

/// Longer than any turn: both are made in steps, and nothing else waits for them.
#[test]
fn large_values_survive_dump_and_restore() {
    let server = Server::start(&["--enable-debug-command", "yes"]);
    let mut connection = server.connect();
    let items: Vec<Vec<u8>> = (0..20_000u64).map(|at| (at * at).to_string().into_bytes()).collect();
    for name in ["RPUSH", "SADD", "HSET", "ZADD"] {
        for part in 0..10u64 {
            let mut words = vec![name.as_bytes().to_vec(), b"key".to_vec()];
            for item in &items {
                let item = [item, &b" of "[..], part.to_string().as_bytes()].concat();
                match name {
                    "HSET" => words.extend([item.clone(), item]),
                    "ZADD" => words.extend([part.to_string().into_bytes(), item]),
                    _ => words.push(item),
                }
            }
            connection.call(&words);
        }
        let Value::Bulk(payload) = connection.call(&["DUMP", "key"]) else { panic!("DUMP returns bytes") };
        assert_eq!(connection.call(&[&b"RESTORE"[..], b"again", b"0", &payload]), Value::Simple("OK".into()), "{name}");
        let digests = connection.call(&["DEBUG", "DIGEST-VALUE", "key", "again"]);
        let Value::Array(digests) = digests else { panic!("{digests}") };
        assert!(digests[0] == digests[1], "{name}");
        let mut wrong = payload;
        let middle = wrong.len() / 2;
        wrong[middle] ^= 1;
        let refused = connection.call(&[&b"RESTORE"[..], b"again", b"0", &wrong, b"REPLACE"]);
        assert_eq!(refused.as_error(), Some("ERR DUMP payload version or checksum are wrong"));
        connection.call(&["DEL", "key", "again"]);
    }
}
