//! Requests of very many keys: MGET beside MSETs of the same keys returns values of one instant, and requests that
//! arrive in pieces are answered in order.

use crate::support::{Server, request};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use wire::client::Value;

const KEYS: usize = 2_000;
const READS: usize = 150;
const WRITERS: usize = 2;

#[test]
fn mget_of_very_many_keys_sees_one_instant() {
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

#[test]
fn requests_with_very_many_keys_work_in_pieces_and_pipelines() {
    const KEYS: usize = 300_000;
    let server = Server::start(&["--journal", "off"]);
    let mut client = server.connect();
    assert_eq!(client.call(&["MSET", "key:7", "seven", "key:299999", "last"]), Value::Simple("OK".into()));
    let words =
        |name: &str| [name.to_owned()].into_iter().chain((0..KEYS).map(|key| format!("key:{key}"))).collect::<Vec<_>>();
    let pipeline = [
        request(&["SET", "key:8", "eight"]),
        request(&words("MGET")),
        request(&["ECHO", "between"]),
        request(&words("EXISTS")),
        // This one blocks too, and further bytes follow it when it is served.
        request(&["BLPOP", "queue", "0"]),
        request(&words("TOUCH")),
        request(&["PING"]),
    ]
    .concat();
    let bulk = |text: &str| Value::Bulk(text.into());
    // Cut byte by byte at first, and at odd places further on.
    let (singly, rest) = pipeline.split_at(300);
    let pieces = singly.chunks(1).chain(rest[..100_000].chunks(997)).chain(rest[100_000..].chunks(300_007));
    std::thread::scope(|scope| {
        let mut stream = client.stream.try_clone().unwrap();
        scope.spawn(move || pieces.for_each(|piece| std::io::Write::write_all(&mut stream, piece).unwrap()));
        assert_eq!(client.reply(), Value::Simple("OK".into()));
        let found = client.reply();
        let found = found.as_slice().unwrap();
        assert_eq!(found.len(), KEYS);
        for (key, value) in found.iter().enumerate() {
            let expected = match key {
                7 => bulk("seven"),
                8 => bulk("eight"),
                299_999 => bulk("last"),
                _ => Value::Null,
            };
            assert_eq!(*value, expected, "key:{key}");
        }
        assert_eq!(client.reply(), bulk("between"));
        assert_eq!(client.reply(), Value::Int(3));
        server.connect().call(&["RPUSH", "queue", "job"]);
        assert_eq!(client.reply(), Value::Array(vec![bulk("queue"), bulk("job")]));
        assert_eq!(client.reply(), Value::Int(3));
        assert_eq!(client.reply(), Value::Simple("PONG".into()));
    });
}
