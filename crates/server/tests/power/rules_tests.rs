//! The rules on traces written by hand: one that keeps them all, and variants with a step removed or moved.

use crate::power::rules::{Verdict, check};
use crate::power::trace::{Call, Event, parse};
use base::disk::{Disk, FakeDisk};
use journal::{Options, Policy};
use std::path::Path;
use std::sync::Arc;

/// A first life, up to a segment that follows the first.
const FIRST: &str = r#"
1 mkdir("/d/data", 0777) = 0
1 fsync(4</d>) = 0
1 mkdir("/d/data/journal", 0777) = 0
1 fsync(4</d/data>) = 0
1 fsync(4</d/data/journal>) = 0
1 openat(AT_FDCWD</x>, "/d/data/journal/spare-0.log", O_RDWR|O_CREAT|O_EXCL, 0666) = 5</d/data/journal/spare-0.log>
1 pwrite64(5</d/data/journal/spare-0.log>, "head", 4, 0) = 4
1 fdatasync(5</d/data/journal/spare-0.log>) = 0
1 rename("/d/data/journal/spare-0.log", "/d/data/journal/0000000001.log") = 0
1 fsync(4</d/data/journal>) = 0
1 openat(AT_FDCWD</x>, "/d/data/journal/identity.tmp", O_RDWR|O_CREAT|O_EXCL, 0666) = 6</d/data/journal/identity.tmp>
1 pwrite64(6</d/data/journal/identity.tmp>, "who", 3, 0) = 3
1 fdatasync(6</d/data/journal/identity.tmp>) = 0
1 rename("/d/data/journal/identity.tmp", "/d/data/journal/identity") = 0
1 fsync(4</d/data/journal>) = 0
2 openat(AT_FDCWD</x>, "/d/data/journal/spare-1.log", O_RDWR|O_CREAT|O_EXCL, 0666) = 7</d/data/journal/spare-1.log>
2 pwrite64(7</d/data/journal/spare-1.log>, "\0\0\0\0", 4, 0) = 4
2 fdatasync(7</d/data/journal/spare-1.log>) = 0
4 read(9<socket:[7]>, "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$11\r\nu:00000001;\r\n", 100) = 38
3 pwrite64(5</d/data/journal/0000000001.log>, "frame u:00000001;", 17, 64) = 17
3 fdatasync(5</d/data/journal/0000000001.log>) = 0
4 write(9<socket:[7]>, "+OK\r\n", 5) = 5
4 read(9<socket:[7]>, "*3\r\n$3\r\nSET\r\n$1\r\nb\r\n$11\r\nu:00000002;\r\n", 100) = 38
4 read(9<socket:[7]>, "*3\r\n$3\r\nSET\r\n$1\r\nc\r\n$11\r\nu:00000003;\r\n", 100) = 38
3 pwrite64(5</d/data/journal/0000000001.log>, "frame u:00000002;", 17, 81) = 17
3 pwrite64(7</d/data/journal/spare-1.log>, "head", 4, 0) = 4
3 rename("/d/data/journal/spare-1.log", "/d/data/journal/0000000002.log") = 0
3 pwrite64(7</d/data/journal/0000000002.log>, "frame u:00000003;", 17, 64) = 17
3 fdatasync(5</d/data/journal/0000000001.log>) = 0
3 fsync(4</d/data/journal>) = 0
3 fdatasync(7</d/data/journal/0000000002.log>) = 0
4 write(9<socket:[7]>, "+OK\r\n+OK\r\n", 10) = 10
"#;

/// A second life that finds a torn tail and is asked to read.
const SECOND: &str = r#"
1 openat(AT_FDCWD</x>, "/d/data/journal/torn-0000000002-1.bin", O_RDWR|O_CREAT|O_EXCL, 0666) = 5</d/x>
1 pwrite64(5</d/data/journal/torn-0000000002-1.bin>, "junk", 4, 0) = 4
1 fdatasync(5</d/data/journal/torn-0000000002-1.bin>) = 0
1 fdatasync(5</d/data/journal/0000000001.log>) = 0
1 fdatasync(5</d/data/journal/0000000002.log>) = 0
1 fsync(4</d/data/journal>) = 0
1 ftruncate(5</d/data/journal/0000000002.log>, 81) = 0
1 openat(AT_FDCWD</x>, "/d/data/journal/spare-0.log", O_RDWR|O_CREAT|O_EXCL, 0666) = 5</d/data/journal/spare-0.log>
1 pwrite64(5</d/data/journal/spare-0.log>, "head", 4, 0) = 4
1 fdatasync(5</d/data/journal/spare-0.log>) = 0
1 rename("/d/data/journal/spare-0.log", "/d/data/journal/0000000003.log") = 0
1 fsync(4</d/data/journal>) = 0
4 read(9<socket:[8]>, "*2\r\n$3\r\nGET\r\n$1\r\nc\r\n", 100) = 20
4 write(9<socket:[8]>, "$11\r\nu:00000003;\r\n", 18) = 18
"#;

fn life(lines: &[&str], begin: usize, always: bool) -> Vec<Event> {
    let mut events = vec![Event { begin, end: begin, call: Call::Start { always } }];
    events.extend(parse(lines.join("\n").as_bytes(), Path::new("/d"), begin + 1).unwrap());
    events
}

fn judged(first: &[&str], second: &[&str]) -> Verdict {
    check(&[life(first, 0, true), life(second, 1_000, true)].concat())
}

fn lines(text: &'static str) -> Vec<&'static str> {
    text.trim().lines().collect()
}

/// Returns the lines with the last one that contains `wanted` moved to the end.
fn late(text: &'static str, wanted: &str) -> Vec<&'static str> {
    let mut lines = lines(text);
    let at = lines.iter().rposition(|line| line.contains(wanted)).unwrap();
    let line = lines.remove(at);
    lines.push(line);
    lines
}

#[test]
fn a_trace_that_keeps_all_rules_has_no_fault() {
    let verdict = judged(&lines(FIRST), &lines(SECOND));
    assert_eq!(verdict.faults, [""; 0]);
    assert_eq!((verdict.replies.len(), verdict.segments, verdict.torn, verdict.stops), (4, 3, 1, 0));
}

#[test]
fn a_missing_sync_is_a_fault() {
    let (first, second) = (lines(FIRST), lines(SECOND));
    let is_sync = |line: &&str| line.contains("sync(");
    assert_eq!(first.iter().chain(&second).filter(|line| is_sync(line)).count(), 18);
    for at in (0..first.len()).filter(|&at| is_sync(&first[at])) {
        let mut less = first.clone();
        let line = less.remove(at);
        assert!(!judged(&less, &second).faults.is_empty(), "left out of the first life: {line}");
    }
    for at in (0..second.len()).filter(|&at| is_sync(&second[at])) {
        let mut less = second.clone();
        let line = less.remove(at);
        assert!(!judged(&first, &less).faults.is_empty(), "left out of the second life: {line}");
    }
}

#[test]
fn a_late_sync_is_a_fault() {
    for wanted in ["fdatasync(5</d/data/journal/0000000001.log>", "fsync(4</d/data/journal>", "0000000002.log>) = 0"] {
        let faults = judged(&late(FIRST, wanted), &lines(SECOND)).faults;
        assert!(!faults.is_empty(), "{wanted} behind the reply");
    }
}

/// A sync proves nothing for a write that had not returned when it began, or for a reply sent before it returned.
#[test]
fn overlapping_calls_prove_no_order() {
    let overlap = |write: &str, sync: &str, reply: &str| {
        let first = FIRST
            .replace("3 pwrite64(5</d/data/journal/0000000001.log>, \"frame u:00000001;\", 17, 64) = 17\n", write)
            .replacen("3 fdatasync(5</d/data/journal/0000000001.log>) = 0\n", sync, 1)
            .replacen("4 write(9<socket:[7]>, \"+OK\\r\\n\", 5) = 5\n", reply, 1);
        judged(&first.trim().lines().collect::<Vec<_>>(), &lines(SECOND)).faults
    };
    let write = "3 pwrite64(5</d/data/journal/0000000001.log>, \"frame u:00000001;\", 17, 64 <unfinished ...>\n";
    let written = "3 <... pwrite64 resumed>) = 17\n";
    let sync = "2 fdatasync(5</d/data/journal/0000000001.log> <unfinished ...>\n";
    let synced = "2 <... fdatasync resumed>) = 0\n";
    let reply = "4 write(9<socket:[7]>, \"+OK\\r\\n\", 5) = 5\n";
    let early = "4 write(9<socket:[7]>, \"+OK\\r\\n\", 5)          = 5\n";
    assert!(overlap(&format!("{write}{written}"), &format!("{sync}{synced}"), reply).is_empty());
    assert!(!overlap(&format!("{write}{sync}{written}"), synced, reply).is_empty());
    assert!(!overlap(&format!("{write}{written}"), &format!("{sync}{early}{synced}"), "").is_empty());
}

#[test]
fn a_read_reply_before_the_sync_is_a_fault() {
    let early = |line: usize| {
        let mut first = lines(FIRST);
        let read = "5 read(8<socket:[9]>, \"*2\\r\\n$3\\r\\nGET\\r\\n$1\\r\\na\\r\\n\", 100) = 20";
        first.splice(line..line, [read, "5 write(8<socket:[9]>, \"$11\\r\\nu:00000001;\\r\\n\", 18) = 18"]);
        judged(&first, &lines(SECOND)).faults
    };
    let synced = lines(FIRST).iter().position(|line| line.contains("u:00000001;\", 17")).unwrap() + 1;
    assert!(!early(synced).is_empty(), "between the write and its sync");
    assert!(early(synced + 1).is_empty(), "behind the sync");
}

#[test]
fn an_acknowledged_value_missing_from_all_files_is_a_fault() {
    let first = FIRST.replace("frame u:00000001;", "frame");
    let first: Vec<&str> = first.trim().lines().collect();
    assert!(judged(&first, &lines(SECOND)).faults[0].contains("which no segment has"));
}

/// A journal that is stopped in order ends with a mark.
fn last_mark() -> Vec<u8> {
    let (disk, folder) = (FakeDisk::new(), Path::new("/j"));
    let mut replay = |_: journal::Frame<'_>| Ok(());
    let opened = journal::open(Arc::new(disk.clone()), folder, Options::new(Policy::Always, 0), 0, &mut replay);
    opened.map_err(|error| error.to_string()).unwrap().writer.stop().unwrap();
    let file = disk.open(&folder.join("0000000001.log")).unwrap();
    let mut bytes = vec![0; journal::MARK_BYTES];
    let end = file.bytes().unwrap();
    file.read_at(&mut bytes, end - journal::MARK_BYTES as u64).unwrap();
    bytes
}

#[test]
fn the_clean_stop_mark_follows_all_syncs_and_is_synced() {
    let path = Path::new("/d/data/journal/0000000002.log").to_path_buf();
    let call = |begin, call| Event { begin, end: begin, call };
    let stop = |parts: &str| {
        let mut events = life(&lines(FIRST), 0, false);
        for (line, part) in (100..).zip(parts.chars()) {
            events.push(match part {
                'w' => call(line, Call::Write { path: path.clone(), offset: 200, bytes: b"frame".to_vec() }),
                's' => call(line, Call::Sync { path: path.clone() }),
                'm' => call(line, Call::Write { path: path.clone(), offset: 300, bytes: last_mark() }),
                _ => call(line, Call::Resize { path: path.clone(), bytes: 348 }),
            });
        }
        let verdict = check(&events);
        assert_eq!(verdict.stops, 1);
        verdict.faults
    };
    assert_eq!(stop("wsmrs"), [""; 0]);
    assert!(stop("wmrs")[0].contains("is marked before"));
    assert!(stop("wsmr")[0].contains("never durable"));
    assert!(stop("wsmsr")[0].contains("never durable"));
}
