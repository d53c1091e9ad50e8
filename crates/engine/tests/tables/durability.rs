//! Under fsync=always, a reply waits until everything that it shows is durable.

use super::twin::create;
use crate::support::{Client, World};
use std::task::{Context, Waker};

/// Returns true if the replies so far may be sent.
fn may_leave(client: &Client) -> bool {
    client.session.poll_may_write(&mut Context::from_waker(Waker::noop())).is_ready()
}

/// Changes that are not durable yet, each with a request whose reply shows it.
const SHOWN: [(&str, &str); 20] = [
    ("HSET p:1 t blue", "GET other"),
    ("HSET p:1 t blue", "FT.SEARCH all * NOCONTENT"),
    ("HSET p:1 t blue", "FT.SEARCH all * LIMIT 0 0"),
    ("HSET p:1 t blue", "FT.SEARCH all *"),
    ("HSET p:1 o more", "FT.SEARCH all * RETURN 1 o"),
    ("DEL p:1", "FT.SEARCH all @t:{red}"),
    ("RENAME p:1 r:0", "FT.SEARCH all *"),
    ("HSET p:1 t blue", "FT.AGGREGATE all * GROUPBY 1 @t"),
    ("HSET p:1 t blue", "FT.AGGREGATE all * LOAD 1 @t WITHCURSOR COUNT 1"),
    ("HSET p:1 t blue", "FT.TAGVALS all t"),
    ("HSET p:1 t blue", "FT.INFO all"),
    ("SWAPDB 0 1", "FT.SEARCH all *"),
    ("FT.ALIASUPDATE other some", "FT.SEARCH other * NOCONTENT"),
    ("FT.ALIASDEL other", "FT.SEARCH other * NOCONTENT"),
    ("FT.DROPINDEX all", "FT.SEARCH all *"),
    ("FT.DROPINDEX all DD", "FT.AGGREGATE all *"),
    ("FT.ALTER all SCHEMA ADD y NUMERIC", "FT.SEARCH all @y:[1,2]"),
    ("FT.ALTER all SCHEMA ADD y NUMERIC", "FT.INFO all"),
    ("FLUSHDB", "FT.SEARCH all *"),
    ("FT.DELETEBY all *", "FT.SEARCH all *"),
];

#[test]
fn replies_wait_for_what_they_show() {
    let mut early = Vec::new();
    for (change, request) in SHOWN {
        let (world, mut write) = World::written_by_hand();
        write();
        let [mut writer, mut reader] = [world.client(), world.client()];
        for table in ["all", "some"] {
            writer.call_bytes(&create(table).iter().map(String::as_bytes).collect::<Vec<_>>());
        }
        writer.call("FT.ALIASADD other all");
        writer.call("HSET p:1 t red n 7");
        write();
        let words: Vec<String> = request.split(' ').map(|word| word.replace(',', " ")).collect();
        let words: Vec<&[u8]> = words.iter().map(String::as_bytes).collect();
        // The indexes are built.
        ["all", "some"].iter().for_each(|table| drop(reader.call(&format!("FT.SEARCH {table} *"))));
        reader.call_bytes(&words);
        write();
        assert!(may_leave(&reader), "{request}: all is durable");
        assert!(!writer.call(change).starts_with('-'), "{change}");
        assert!(!may_leave(&writer), "{change} is not durable");
        let reply = reader.call_bytes(&words);
        // A read of what did not change is the control.
        let is_shown = request != "GET other";
        if may_leave(&reader) == is_shown {
            early.push((change, request, reply));
        }
        write();
        assert!(may_leave(&reader) && may_leave(&writer), "{change}; {request}: all is durable again");
    }
    assert!(early.is_empty(), "replies that did not wait: {early:?}");
}
