//! MGET of very many keys beside MSETs of the same keys: it tells one instant, however it gathers them.

mod support;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use support::Server;
use wire::client::Value;

const KEYS: usize = 2_000;
const READS: usize = 150;
const WRITERS: usize = 2;

#[test]
fn one_instant_of_very_many_keys() {
    let server = Server::start(&["--fsync", "never"]);
    let names: Vec<String> = (0..KEYS).map(|key| format!("key:{key}")).collect();
    let put = |value: &str| {
        let pairs = names.iter().flat_map(|name| [name.as_str(), value]);
        ["MSET"].into_iter().chain(pairs).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(server.connect().call(&put("0")), Value::Simple("OK".into()));
    let (is_over, server, put, names) = (AtomicBool::new(false), &server, &put, &names);
    let is_over = &is_over;
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            scope.spawn(move || {
                let mut client = server.connect();
                for number in 0.. {
                    if is_over.load(Relaxed) {
                        break;
                    }
                    client.call(&put(&format!("{writer}:{number}")));
                }
            });
        }
        let mut client = server.connect();
        let words: Vec<String> = ["MGET".to_owned()].into_iter().chain(names.iter().cloned()).collect();
        for _ in 0..READS {
            let reply = client.call(&words);
            let values = reply.as_slice().unwrap();
            assert_eq!(values.len(), KEYS);
            assert!(values.iter().all(|value| *value == values[0]), "two instants in one reply");
        }
        is_over.store(true, Relaxed);
    });
}
