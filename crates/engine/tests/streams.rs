//! Clients that wait for entries of streams: one entry serves all readers, and a group reader fails when its group is
//! removed.

use crate::support::{Client, World, read};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Waker};
use wire::Output;

use engine::Next;

const ENTRY: &str = "*2\r\n$3\r\n2-0\r\n*2\r\n$1\r\nf\r\n$1\r\nv\r\n";

/// Blocks a client in each of `waits`, runs `feed`, and returns each client's reply; `None` if it still waits.
fn blocked_replies(prepare: &[&str], waits: &[&str], feed: &[(&str, &str)]) -> Vec<Option<String>> {
    let world = World::new(&[]);
    let mut writer = world.client();
    prepare.iter().for_each(|request| assert!(!writer.call(request).starts_with('-'), "{request}"));
    let mut clients: Vec<(Client, Output)> = waits.iter().map(|_| (world.client(), Output::new())).collect();
    let mut context = Context::from_waker(Waker::noop());
    let mut waiting: Vec<Pin<Box<dyn Future<Output = ()> + '_>>> = Vec::new();
    for ((client, output), request) in clients.iter_mut().zip(waits) {
        let words: Vec<&[u8]> = request.split(' ').map(str::as_bytes).collect();
        let Next::Slow(slow) = client.send(&words, output) else { panic!("{request}: nothing is there") };
        let Client { session, input, .. } = client;
        waiting.push(Box::pin(async move {
            session.run_slowly(slow, input, output).await;
        }));
    }
    waiting.iter_mut().for_each(|wait| assert!(wait.as_mut().poll(&mut context).is_pending()));
    feed.iter().for_each(|(request, reply)| assert_eq!(writer.call(request), *reply, "{request}"));
    let ready: Vec<bool> = waiting.iter_mut().map(|wait| wait.as_mut().poll(&mut context).is_ready()).collect();
    drop(waiting);
    clients.into_iter().zip(ready).map(|((_, output), ready)| ready.then(|| read(output))).collect()
}

#[test]
fn one_entry_serves_all_readers_and_one_group_consumer() {
    let replies = blocked_replies(
        &["XADD s 1-0 f v", "XGROUP CREATE s g $"],
        &[
            "XREAD BLOCK 0 STREAMS s $",
            "XREAD BLOCK 0 STREAMS other s 0 1-0",
            "XREAD BLOCK 0 STREAMS s 9-0",
            "XREADGROUP GROUP g one BLOCK 0 STREAMS s >",
            "XREADGROUP GROUP g two BLOCK 0 STREAMS s >",
        ],
        &[
            ("XADD s 2-0 f v", "$3\r\n2-0\r\n"),
            ("XPENDING s g", "*4\r\n:1\r\n$3\r\n2-0\r\n$3\r\n2-0\r\n*1\r\n*2\r\n$3\r\none\r\n$1\r\n1\r\n"),
        ],
    );
    let reply = format!("*1\r\n*2\r\n$1\r\ns\r\n*1\r\n{ENTRY}");
    assert_eq!(replies, [Some(reply.clone()), Some(reply.clone()), None, Some(reply), None]);
}

#[test]
fn xread_dollar_means_the_last_entry_at_the_call() {
    let feed = [("XDEL s 1-0", ":1\r\n"), ("XADD s 2-0 f v", "$3\r\n2-0\r\n"), ("XADD s 3-0 f v", "$3\r\n3-0\r\n")];
    let replies = blocked_replies(&["XADD s 1-0 f v"], &["XREAD BLOCK 0 STREAMS s $"], &feed);
    assert_eq!(replies, [Some(format!("*1\r\n*2\r\n$1\r\ns\r\n*1\r\n{ENTRY}"))]);
}

#[test]
fn a_blocked_group_reader_fails_when_its_group_is_removed() {
    let prepare = ["XGROUP CREATE s g $ MKSTREAM"];
    let waits = ["XREADGROUP GROUP g one BLOCK 0 STREAMS s >", "XREAD BLOCK 0 STREAMS s $"];
    // As since Redis 7.2: the request runs again.
    let text = "-NOGROUP No such key 's' or consumer group 'g' in XREADGROUP with GROUP option\r\n";
    let gone = Some(text.to_owned());
    assert_eq!(blocked_replies(&prepare, &waits, &[("DEL s", ":1\r\n")]), [gone.clone(), None]);
    assert_eq!(blocked_replies(&prepare, &waits, &[("XGROUP DESTROY s g", ":1\r\n")]), [gone, None]);
    let wrong = Some("-WRONGTYPE Operation against a key holding the wrong kind of value\r\n".to_owned());
    assert_eq!(blocked_replies(&prepare, &waits, &[("SET s x", "+OK\r\n")]), [wrong, None]);
}

#[test]
fn a_blocked_group_read_creates_its_consumer() {
    let world = World::new(&[]);
    let (mut reader, mut writer) = (world.client(), world.client());
    assert_eq!(writer.call("XGROUP CREATE s g $ MKSTREAM"), "+OK\r\n");
    let words: [&[u8]; 9] = [b"XREADGROUP", b"GROUP", b"g", b"one", b"BLOCK", b"0", b"STREAMS", b"s", b">"];
    assert!(matches!(reader.send(&words, &mut Output::new()), Next::Slow(_)));
    assert_eq!(writer.call("XGROUP CREATECONSUMER s g one"), ":0\r\n");
}
