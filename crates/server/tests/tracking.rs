//! Client-side caching through the real binary: several connections, on both of its workers.

use crate::support::peer::{Peer, Redis};
use crate::support::{Connection, Server};
use std::collections::HashMap;
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use testing::program_or_skip;
use wire::client::Value;

const CACHE: [&str; 2] = ["--journal", "off"];

type Client = Connection<TcpStream>;

/// Requests with their client, one after the other; requests joined by a semicolon are sent at once. `a` and `b` speak
/// RESP3, `c` (which is subscribed) and `d` RESP2.
const STEPS: &str = "a CLIENT TRACKINGINFO|a CLIENT GETREDIR|a CLIENT CACHING YES|a CLIENT TRACKING ON|a CLIENT TRACKINGINFO|a GET k|b SET k 1\
    |b SET k 2|a GET k|a SET k 3|a SET k 4|a GET k|b DEL k|b DEL k|b SET k 5|a MGET k l m|b MSET k 1 l 2 n 3|a HGETALL h|b HSET h f 1\
    |a HGET h f|b HSET h g 1|a EXISTS none|b SET none 1|a TTL k|b EXPIRE k 100|a LRANGE li 0 -1|b RPUSH li x|a LLEN li|b LPOP li\
    |a MULTI;GET k;SET k 9;GET k;EXEC|b SET k 10|b SET k 11|a MULTI;GET l;EXEC|b MULTI;SET l 1;SET l 2;EXEC\
    |a GET k|a GET l|b MULTI;SET l 1;SET k 2;EXEC|a SINTER s t|b SADD t 1|b SADD s 1|a GET k|b RENAME k kk|a GET l|b COPY k l REPLACE\
    |a GET kk|b COPY kk l REPLACE|a GET l|a GET kk|b FLUSHALL|b SET l 1|a GET l|b FLUSHDB|a GETEX l|b SET l 1|a PFCOUNT l|a SORT_RO li\
    |b RPUSH li 1|a SORT li|b RPUSH li 2|a GET q EXTRA|b SET q 1|a LLEN q|b APPEND q 1|a TYPE q|b DEL q|a OBJECT ENCODING q|b SET q 1\
    |a GET x|a SELECT 1|a GET y|b SET x 1|b SET y 1|a SELECT 0|b BLPOP li 1|a LRANGE li 0 -1|b BLPOP li 1|a CLIENT TRACKING OFF|b SET l 2\
    |a CLIENT TRACKINGINFO|a CLIENT TRACKING ON OPTIN|a GET k|b SET k 1|a CLIENT CACHING NO|a CLIENT CACHING YES|a GET k|a GET l\
    |b MSET k 1 l 1|a CLIENT CACHING YES|a CLIENT TRACKINGINFO|a PING|a GET k|b SET k 2|a CLIENT CACHING YES|a MULTI;GET k;GET l;EXEC\
    |b MSET k 2 l 2|a MULTI;CLIENT CACHING YES;GET k;GET l;EXEC|b MSET k 3 l 3|a CLIENT TRACKING ON OPTOUT|a CLIENT TRACKING ON BCAST\
    |a CLIENT TRACKING OFF|a CLIENT TRACKING ON OPTOUT NOLOOP|a CLIENT CACHING YES|a CLIENT CACHING NO|a CLIENT TRACKINGINFO|a GET k|a GET l|b MSET k 4 l 4\
    |a GET k|a SET k 1|b SET k 2|a GET k|b SET k 3|a CLIENT TRACKING OFF|a CLIENT TRACKING ON BCAST PREFIX fo PREFIX ba|a CLIENT TRACKINGINFO\
    |b SET foo 1|b SET bar 1|b SET other 1|b MSET foo 1 bar 2 fox 3 baz 4 x 5|a SET foo 2|b MULTI;SET foo 1;SET foo 2;SET fa 3;SET ba 1;EXEC\
    |a CLIENT TRACKING ON BCAST PREFIX foo|a CLIENT TRACKING ON BCAST PREFIX xa PREFIX x|a CLIENT TRACKING ON BCAST PREFIX xa NOLOOP\
    |a CLIENT TRACKINGINFO|a SET xab 1|b SET xab 1|b DEL xab none|b FLUSHALL|a CLIENT TRACKING OFF|b SET foo 1|a CLIENT TRACKING ON BCAST|b SET any 1\
    |a CLIENT TRACKINGINFO|b MSET z 1 y 2 x 3|b GETDEL z|a RESET;HELLO 3;CLIENT SETNAME end|b SET foo 1|a CLIENT GETREDIR\
    |a CLIENT TRACKING ON|b RPUSH tl a a|a LLEN tl|a WATCH tl|b LTRIM tl 0 -1|a MULTI;PING;EXEC|b PFADD tp a|b PFCOUNT tp\
    |a PFCOUNT tp|a WATCH tp|b PFMERGE tp tp|a MULTI;PING;EXEC|b XADD tx 1-1 f v|a XLEN tx\
    |a WATCH tx|b XGROUP CREATE tx g 0|b XGROUP CREATECONSUMER tx g c|b XGROUP SETID tx g 0|b XREADGROUP GROUP g c STREAMS tx >\
    |b XCLAIM tx g d 0 1-1 JUSTID|b XACK tx g 1-1|b XSETID tx 9-9|a MULTI;PING;EXEC|a CLIENT TRACKING OFF\
    |c SUBSCRIBE __redis__:invalidate\
    |d CLIENT TRACKING ON REDIRECT $c|d CLIENT TRACKINGINFO|d GET foo|b SET foo 2|b SET foo 3|d GET foo|d SET foo 4|b FLUSHALL\
    |d CLIENT TRACKING ON REDIRECT $c BCAST|d CLIENT TRACKING OFF|d CLIENT TRACKING ON REDIRECT $c BCAST PREFIX p|b MSET p1 1 p2 2 q 3|d SET p3 1\
    |d CLIENT TRACKING OFF|a CLIENT TRACKING ON REDIRECT $c|a GET foo|b SET foo 1|a GET foo|a SET foo 1|d CLIENT TRACKING ON REDIRECT $a|d GET foo|b SET foo 2\
    |d GET foo|a SET foo 3|d CLIENT TRACKING ON|d GET foo|b SET foo 3|d CLIENT TRACKING ON REDIRECT 99999|d CLIENT TRACKING ON PREFIX x|d CLIENT TRACKING ON x\
    |d CLIENT TRACKING MAYBE|d CLIENT TRACKING ON REDIRECT $c REDIRECT $a|d CLIENT TRACKING ON REDIRECT x|d CLIENT TRACKING ON OPTIN OPTOUT\
    |d CLIENT TRACKING ON OPTIN BCAST|d CLIENT TRACKING ON PREFIX|d CLIENT TRACKING ON BCAST PREFIX a PREFIX ab|d CLIENT CACHING|d CLIENT CACHING x";

/// Returns the replies and messages to each of four clients in each of [`STEPS`].
fn transcript(port: u16) -> Vec<String> {
    let mut clients: Vec<Client> = (0..4).map(|_| Client::tcp(port)).collect();
    let ids: Vec<String> = clients.iter_mut().map(|client| client.call(&["CLIENT", "ID"]).to_string()).collect();
    for (at, client) in clients.iter_mut().enumerate() {
        if at < 2 {
            client.call(&["HELLO", "3"]);
        }
        client.call(&["CLIENT", "SETNAME", "end"]);
    }
    let named = |mut text: String| {
        for (id, name) in ids.iter().zip(["#a", "#b", "#c", "#d"]) {
            text = text.replace(&format!("\"redirect\", {id},"), &format!("\"redirect\", {name},"));
            text = text.replace(&format!("\"redirect\": {id},"), &format!("\"redirect\": {name},"));
            text = text.replace(&format!("\"id\": {id},"), &format!("\"id\": {name},"));
        }
        text
    };
    let mut lines = Vec::new();
    for step in STEPS.split('|') {
        let request = step.replace("$a", &ids[0]).replace("$c", &ids[2]);
        let (who, requests) = request.split_at(2);
        let who = usize::from(who.as_bytes()[0] - b'a');
        requests.split(';').for_each(|request| clients[who].send(&request.split(' ').collect::<Vec<_>>()));
        // Starts with the client of the request: once it has its replies, all messages have been sent.
        let mut said: [Vec<String>; 4] = Default::default();
        for at in [who, 0, 1, 2, 3] {
            // This request does not end the effect of CLIENT CACHING, and a subscriber may send it.
            let end: &[&str] = if at == 2 { &["PING", "end"] } else { &["CLIENT", "GETNAME"] };
            clients[at].send(end);
            loop {
                let reply = clients[at].reply().to_string();
                if reply == "\"end\"" || reply == "[\"pong\", \"end\"]" {
                    break;
                }
                said[at].push(named(reply));
            }
        }
        let outputs = ["a", "b", "c", "d"].iter().zip(&said).filter(|(_, said)| !said.is_empty());
        let output: String = outputs.map(|(name, said)| format!("\n    {name}: {}", said.join(" "))).collect();
        lines.push(format!("{step}{output}"));
    }
    lines
}

#[test]
fn invalidation_messages_match_those_of_redis() {
    if program_or_skip("invalidation_messages_match_those_of_redis", "redis-server").is_none() {
        return;
    }
    let ours = transcript(Server::start(&CACHE).port);
    let theirs = transcript(Redis::start(&[]).port());
    let greets = |line: &str| line.contains("HELLO");
    let differ: Vec<String> = ours
        .iter()
        .zip(&theirs)
        .filter(|(ours, theirs)| ours != theirs && !greets(ours))
        .map(|(ours, theirs)| format!("ours:  {ours}\nRedis: {theirs}"))
        .collect();
    assert!(differ.is_empty(), "{} of {} differ:\n{}", differ.len(), ours.len(), differ.join("\n"));
}

fn in_resp3(server: &Server) -> Client {
    let mut client = server.connect();
    client.call(&["HELLO", "3"]);
    client
}

#[test]
fn a_lost_redirection_target_is_reported() {
    let server = Server::start(&CACHE);
    let (mut client, mut listener, mut writer) = (in_resp3(&server), server.connect(), server.connect());
    let id = listener.call(&["CLIENT", "ID"]).to_string();
    client.call(&["CLIENT", "TRACKING", "ON", "REDIRECT", &id]);
    client.call(&["GET", "k"]);
    assert_eq!(server.info("tracking_clients"), "1");
    assert_eq!((server.info("tracking_total_keys"), server.info("tracking_total_items")), ("1".into(), "1".into()));
    assert!(client.call(&["CLIENT", "INFO"]).to_string().contains(" flags=t db=0 "));
    assert!(client.call(&["CLIENT", "INFO"]).to_string().contains(&format!(" redir={id} ")));
    listener.call(&["QUIT"]);
    assert_eq!(listener.try_reply(), None);
    while !writer.call(&["CLIENT", "LIST", "ID", &id]).as_bytes().unwrap().is_empty() {}
    writer.call(&["SET", "k", "v"]);
    assert_eq!(client.reply().to_string(), format!(">[\"tracking-redir-broken\", {id}]"));
    let info = client.call(&["CLIENT", "TRACKINGINFO"]).to_string();
    assert!(info.contains("\"broken_redirect\""), "{info}");
    assert!(client.call(&["CLIENT", "INFO"]).to_string().contains(" flags=tR "));
    drop(client);
    while server.info("tracking_clients") != "0" {}
    writer.call(&["SET", "k", "v"]);
}

#[test]
fn expired_keys_are_invalidated() {
    let server = Server::start(&CACHE);
    let mut client = in_resp3(&server);
    client.call(&["CLIENT", "TRACKING", "ON"]);
    // Repeats until it has read the key before it expires.
    let mut read = Value::Null;
    while read == Value::Null {
        client.send(&["SET", "k", "v", "PX", "50"]);
        client.send(&["GET", "k"]);
        let mut replies = Vec::new();
        while replies.len() < 2 {
            replies.extend(Some(client.reply()).filter(|reply| !matches!(reply, Value::Push(_))));
        }
        read = replies.remove(1);
    }
    assert_eq!(client.reply().to_string(), ">[\"invalidate\", [\"k\"]]");
    assert_eq!(client.call(&["GET", "k"]), Value::Null);
}

#[test]
fn a_full_tracking_table_invalidates_some_keys() {
    let server = Server::start(&["--journal", "off", "--tracking-table-max-keys", "100"]);
    let (mut client, mut other) = (in_resp3(&server), in_resp3(&server));
    client.call(&["CLIENT", "TRACKING", "ON"]);
    (0..300).for_each(|number| client.send(&["GET", &number.to_string()]));
    let (mut replies, mut invalidations) = (0, 0);
    while replies < 300 || invalidations < 200 {
        match client.reply() {
            Value::Null => replies += 1,
            push => {
                assert!(push.to_string().starts_with(">[\"invalidate\", ["), "{push}");
                invalidations += 1;
            }
        }
    }
    assert_eq!(server.info("tracking_total_keys"), "100");
    // Also many keys in one request, of another client.
    other.call(&["CLIENT", "TRACKING", "ON"]);
    let names: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
    let request: Vec<&str> = std::iter::once("MGET").chain(names.iter().map(String::as_str)).collect();
    other.send(&request);
    // The reply comes before invalidations: otherwise a client could cache a value of the reply for ever.
    assert_eq!(other.reply().as_slice().map(<[Value]>::len), Some(1_000));
    assert!(server.info("tracking_total_keys").parse::<u32>().unwrap() < 1_000);
}

/// Readers cache values until they are invalidated, while writers count up.
#[test]
fn client_caches_never_keep_stale_values() {
    let server = Server::start(&CACHE);
    let writers_done = AtomicUsize::new(0);
    let keys: Vec<String> = (0..8).map(|number| format!("k{number}")).collect();
    let read = |client: &mut Client, kept: &mut HashMap<String, i64>, key: &str| {
        client.send(&["GET", key]);
        loop {
            let message = client.reply();
            match &message {
                Value::Push(_) => {
                    let parts = message.as_slice().unwrap();
                    for key in parts[1].as_slice().unwrap() {
                        kept.remove(&String::from_utf8_lossy(key.as_bytes().unwrap()).into_owned());
                    }
                }
                Value::Null => return,
                value => {
                    let value: i64 = String::from_utf8_lossy(value.as_bytes().unwrap()).parse().unwrap();
                    let before = kept.insert(key.to_owned(), value);
                    // The invalidation arrives before the changed value.
                    assert!(before.is_none_or(|before| before == value), "{key} was {before:?}, is {value}");
                    return;
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (keys, writers_done, server) = (&keys, &writers_done, &server);
            scope.spawn(move || {
                let mut client = server.connect();
                for round in 0..2_000 {
                    client.call(&["INCR", &keys[(round * 7 + writer) % keys.len()]]);
                }
                writers_done.fetch_add(1, Ordering::Release);
            });
        }
        for reader in 0..3 {
            let (keys, writers_done, server) = (&keys, &writers_done, &server);
            scope.spawn(move || {
                let (mut client, mut kept) = (in_resp3(server), HashMap::new());
                client.call(&["CLIENT", "TRACKING", "ON"]);
                let mut round = reader;
                while writers_done.load(Ordering::Acquire) < 2 || round < 200 {
                    read(&mut client, &mut kept, &keys[round % keys.len()]);
                    round += 1;
                }
                // Once nobody writes any more, the values still cached are those of the server.
                client.send(&["PING"]);
                loop {
                    let message = client.reply();
                    let Value::Push(_) = message else { break };
                    for key in message.as_slice().unwrap()[1].as_slice().unwrap() {
                        kept.remove(&String::from_utf8_lossy(key.as_bytes().unwrap()).into_owned());
                    }
                }
                let mut plain = server.connect();
                for (key, value) in kept {
                    assert_eq!(plain.call(&["GET", &key]).as_bytes(), Some(value.to_string().as_bytes()), "{key}");
                }
            });
        }
    });
}
