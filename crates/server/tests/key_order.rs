//! The key order in the real binary: built in the background, maintained during writes, and rebuilt after a crash.

use crate::support::{Connection, Server};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use wire::client::Value;

type Client = Connection<std::net::TcpStream>;

fn names(reply: &Value) -> Vec<String> {
    let items = reply.as_slice().unwrap_or_else(|| panic!("an array, not {reply}"));
    items.iter().map(|name| String::from_utf8(name.as_bytes().unwrap().to_vec()).unwrap()).collect()
}

/// All names, page by page.
fn page_by_page(client: &mut Client, is_backward: bool) -> Vec<String> {
    let (mut all, mut from) = (Vec::new(), if is_backward { "+".to_owned() } else { "-".to_owned() });
    loop {
        let page = if is_backward {
            client.call(&["KEYRANGE", &from, "-", "REV", "LIMIT", "100"])
        } else {
            client.call(&["KEYRANGE", &from, "+", "LIMIT", "100"])
        };
        let page = names(&page);
        let Some(last) = page.last() else { return all };
        from = format!("({last}");
        all.extend(page);
    }
}

fn fill(client: &mut Client, count: usize) -> Vec<String> {
    let mut all: Vec<String> = (0..count).map(|nth| format!("user:{:07}", nth * 7_919 % 1_000_003)).collect();
    for some in all.chunks(500) {
        let pairs = some.iter().flat_map(|name| [name.as_str(), "1"]);
        let words: Vec<&str> = ["MSET"].into_iter().chain(pairs).collect();
        assert_eq!(client.call(&words), Value::Simple("OK".into()));
    }
    all.sort_unstable();
    all
}

#[test]
fn key_order_is_built_on_request_and_after_a_crash() {
    let mut server = Server::start(&["--fsync", "always"]);
    let mut client = server.connect();
    let all = fill(&mut client, 20_000);
    let off = "ERR there is no order of names: CONFIG SET key-order yes has it built and kept";
    for request in [&["KEYRANGE", "-", "+"], &["DELRANGE", "-", "+"]] {
        assert_eq!(client.call(request).as_error(), Some(off));
    }
    assert_eq!(server.info("key_order"), "off");
    assert_eq!(client.call(&["CONFIG", "SET", "key-order", "yes"]), Value::Simple("OK".into()));
    server.wait_for_info("key_order", "on");
    assert_eq!(server.info("key_order_names"), all.len().to_string());
    assert_eq!(page_by_page(&mut client, false), all);
    assert_eq!(names(&client.call(&["KEYRANGE", "-", "+"])), all);
    let (some, rest) = all.split_at(7_000);
    assert_eq!(client.call(&["DELRANGE", "-", &format!("({}", rest[0])]), Value::Int(some.len() as i64));
    assert_eq!(client.call(&["SET", "after", "1"]), Value::Simple("OK".into()));
    server.kill();
    server.restart();
    let mut client = server.connect();
    // Only CONFIG SET had enabled the setting in the killed process.
    assert_eq!(client.call(&["KEYRANGE", "-", "+"]).as_error(), Some(off));
    assert_eq!(client.call(&["CONFIG", "SET", "key-order", "yes"]), Value::Simple("OK".into()));
    server.wait_for_info("key_order", "on");
    let mut all: Vec<String> = ["after".to_owned()].into_iter().chain(rest.iter().cloned()).collect();
    assert_eq!(page_by_page(&mut client, false), all);
    all.reverse();
    assert_eq!(page_by_page(&mut client, true), all);
    assert_eq!(client.call(&["CONFIG", "SET", "key-order", "no"]), Value::Simple("OK".into()));
    assert_eq!(client.call(&["KEYRANGE", "-", "+"]).as_error(), Some(off));
    server.wait_for_info("key_order_names", "0");
    server.stop();
}

#[test]
fn the_key_order_reports_its_progress_during_loading() {
    let mut server = Server::start(&["--key-order", "yes"]);
    let mut all = fill(&mut server.connect(), 20_000);
    assert_eq!(server.connect().call(&["SAVE"]), Value::Simple("OK".into()));
    server.stop();
    server.restart_with(&[("BOBBIN_TEST_LOADER_REST_MS", "5")]);
    let mut client = server.connect();
    let building = "ERR the order of names is being built: 0 % done";
    let reply = client.call(&["KEYRANGE", "-", "+"]);
    let (word, percent) = (server.info("key_order"), server.info("key_order_progress_percent"));
    // A machine that was busy may have loaded everything by now.
    if server.info("async_loading") == "1" {
        assert_eq!((reply.as_error(), &*word, &*percent), (Some(building), "building", "0"));
    }
    assert_eq!(client.call(&["SET", "early", "1"]), Value::Simple("OK".into()));
    assert_eq!(client.call(&["DEL", &all.pop().unwrap()]), Value::Int(1));
    all.insert(0, "early".to_owned());
    server.wait_for_info("key_order", "on");
    assert_eq!(names(&client.call(&["KEYRANGE", "-", "+"])), all);
}

#[test]
fn transactions_and_scripts_see_their_own_changes_in_key_order() {
    let server = Server::start(&["--key-order", "yes"]);
    server.wait_for_info("key_order", "on");
    let mut client = server.connect();
    client.call(&["MSET", "a", "1", "b", "1"]);
    for request in
        [&["MULTI"][..], &["SET", "c", "1"], &["DEL", "a"], &["KEYRANGE", "-", "+"], &["DELRANGE", "[b", "[b"]]
    {
        client.call(request);
    }
    let reply = client.call(&["EXEC"]);
    let replies = reply.as_slice().unwrap();
    assert_eq!((names(&replies[2]), &replies[3]), (vec!["b".to_owned(), "c".to_owned()], &Value::Int(1)));
    let script = "redis.call('SET', 'd', '1'); return redis.call('KEYRANGE', '-', '+')";
    assert_eq!(names(&client.call(&["EVAL", script, "1", "d"])), ["c", "d"]);
    let script = "redis.call('SET', 'x', '1'); redis.call('DELRANGE', '-', '+'); return redis.error_reply('ERR stop')";
    assert_eq!(client.call(&["EVAL", script, "1", "x"]).as_error(), Some("ERR stop"));
    assert_eq!(names(&client.call(&["KEYRANGE", "-", "+"])), [""; 0]);
    // Enough to need several frames.
    let all = fill(&mut client, 10_000);
    for request in [&["MULTI"][..], &["DELRANGE", "-", "+", "LIMIT", "9000"], &["KEYRANGE", "-", "+"]] {
        client.call(request);
    }
    let reply = client.call(&["EXEC"]);
    let replies = reply.as_slice().unwrap();
    assert_eq!((&replies[0], names(&replies[1])), (&Value::Int(9_000), all[9_000..].to_vec()));
}

/// Several clients add and remove keys; each page is in order, and each client sees its own changes.
#[test]
fn pages_are_correct_while_others_write() {
    const WRITERS: usize = 3;
    const ROUNDS: usize = 60;
    let server = Server::start(&["--fsync", "never", "--key-order", "yes", "--threads", "2"]);
    server.wait_for_info("key_order", "on");
    let stays = fill(&mut server.connect(), 3_000);
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|writer| {
                let mut client = server.connect();
                scope.spawn(move || {
                    let (prefix, mut mine) = (format!("user:w{writer}:"), BTreeSet::new());
                    for round in 0..ROUNDS {
                        for nth in 0..40 {
                            let name = format!("{prefix}{:04}", (round * 40 + nth) * 37 % 1_000);
                            if mine.remove(&name) {
                                assert_eq!(client.call(&["DEL", &name]), Value::Int(1));
                            } else {
                                client.call(&["RPUSH", &name, "1"]);
                                mine.insert(name);
                            }
                        }
                        let (from, to) = (format!("[{prefix}"), format!("({prefix}a"));
                        let found = names(&client.call(&["KEYRANGE", &from, &to, "TYPE", "list"]));
                        assert_eq!(found, mine.iter().cloned().collect::<Vec<_>>());
                        if round % 20 == 19 {
                            assert_eq!(client.call(&["DELRANGE", &from, &to]), Value::Int(mine.len() as i64));
                            mine.clear();
                        }
                    }
                })
            })
            .collect();
        for is_backward in [false, true] {
            let (server, stays, is_over) = (&server, &stays, &is_over);
            scope.spawn(move || {
                let mut client = server.connect();
                while !is_over.load(Relaxed) {
                    let mut found = page_by_page(&mut client, is_backward);
                    if is_backward {
                        found.reverse();
                    }
                    assert!(found.is_sorted_by(|one, next| one < next), "out of order, or twice");
                    found.retain(|name| !name.starts_with("user:w"));
                    assert!(found == *stays, "what was there all the time is not");
                }
            });
        }
        let results: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        is_over.store(true, Relaxed);
        results.into_iter().for_each(|result| result.unwrap());
    });
}
