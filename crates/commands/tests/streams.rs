//! Streams too big for a reply, or a search, under a lock: compared with the expected entries.

use commands::testing::direct::World;
use wire::client::Value;
use wire::resp::Protocol;

/// More than two hundred chunks.
const COUNT: u64 = 30_000;

fn call(world: &mut World, words: &[&str]) -> Value {
    world.call(&words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>())
}

fn world() -> World {
    world_of(COUNT)
}

fn world_of(count: u64) -> World {
    let mut world = World::new(Protocol::Resp2);
    for nth in 1..=count {
        call(&mut world, &["XADD", "s", &format!("{nth}-{}", nth % 3), "name", &format!("value {nth}")]);
    }
    assert_eq!(call(&mut world, &["XLEN", "s"]), Value::Int(count as i64));
    world
}

fn entry(nth: u64) -> Value {
    let fields = Value::Array(vec![Value::bulk("name"), Value::bulk(format!("value {nth}"))]);
    Value::Array(vec![Value::bulk(format!("{nth}-{}", nth % 3)), fields])
}

fn entries(range: impl Iterator<Item = u64>) -> Value {
    Value::Array(range.map(entry).collect())
}

#[test]
fn xrange_and_xrevrange_return_ranges_of_any_length() {
    let mut world = world();
    for (from, to) in [(1, COUNT), (2, COUNT - 1), (77, 29_000), (500, 10_000), (29_990, COUNT)] {
        let (start, end) = (from.to_string(), to.to_string());
        assert_eq!(call(&mut world, &["XRANGE", "s", &start, &end]), entries(from..=to));
        assert_eq!(call(&mut world, &["XREVRANGE", "s", &end, &start]), entries((from..=to).rev()));
        for count in [1, 4_000, 28_000] {
            let most = count.to_string();
            let kept = count.min(to - from + 1);
            let forward = call(&mut world, &["XRANGE", "s", &start, &end, "COUNT", &most]);
            assert_eq!(forward, entries(from..from + kept));
            let backward = call(&mut world, &["XREVRANGE", "s", &end, &start, "COUNT", &most]);
            assert_eq!(backward, entries((to + 1 - kept..=to).rev()));
        }
    }
    let read = call(&mut world, &["XREAD", "STREAMS", "s", "5-2"]);
    assert_eq!(read, Value::Array(vec![Value::Array(vec![Value::bulk("s"), entries(6..=COUNT)])]));
}

#[test]
fn many_pending_entries_are_listed_and_removed() {
    let mut world = world();
    call(&mut world, &["XGROUP", "CREATE", "s", "g", "0"]);
    let mut read = |consumer: &str, count: &str| {
        let reply = call(&mut world, &["XREADGROUP", "GROUP", "g", consumer, "COUNT", count, "STREAMS", "s", ">"]);
        assert!(matches!(reply, Value::Array(_)), "{reply}");
    };
    read("one", "10000");
    (0..5).for_each(|_| read("two", "50"));
    read("one", "9750");
    let all = call(&mut world, &["XPENDING", "s", "g", "-", "+", "100000"]);
    let pending = |nth: u64| {
        let owner = if (10_001..=10_250).contains(&nth) { "two" } else { "one" };
        let id = Value::bulk(format!("{nth}-{}", nth % 3));
        Value::Array(vec![id, Value::bulk(owner), Value::Int(0), Value::Int(1)])
    };
    assert_eq!(all, Value::Array((1..=20_000).map(pending).collect()));
    let two = call(&mut world, &["XPENDING", "s", "g", "IDLE", "0", "-", "+", "5000", "two"]);
    assert_eq!(two, Value::Array((10_001..=10_250).map(pending).collect()));
    let none = call(&mut world, &["XPENDING", "s", "g", "IDLE", "1", "-", "+", "5000"]);
    assert_eq!(none, Value::Array(Vec::new()));
    assert_eq!(call(&mut world, &["XGROUP", "DELCONSUMER", "s", "g", "one"]), Value::Int(19_750));
    let left = call(&mut world, &["XPENDING", "s", "g", "-", "+", "100000"]);
    assert_eq!(left, Value::Array((10_001..=10_250).map(pending).collect()));
    assert_eq!(call(&mut world, &["XGROUP", "DESTROY", "s", "g"]), Value::Int(1));
    assert_eq!(call(&mut world, &["XTRIM", "s", "MAXLEN", "10"]), Value::Int(COUNT as i64 - 10));
    assert_eq!(call(&mut world, &["XRANGE", "s", "-", "+"]), entries(COUNT - 9..=COUNT));
}

/// As in Redis, whose nodes hold 100 entries by default: only whole nodes are removed, and at most 100 of them without
/// a LIMIT.
#[test]
fn an_approximate_trim_removes_whole_hundreds() {
    for (count, trim, removed) in [
        (1_000, "MAXLEN ~ 550", 400),
        (1_000, "MINID ~ 555", 500),
        (1_000, "MAXLEN ~ 0 LIMIT 250", 200),
        (1_000, "MAXLEN ~ 0 LIMIT 50", 0),
        (1_000, "MAXLEN = 550", 450),
        (12_000, "MAXLEN ~ 0", 10_000),
    ] {
        let mut world = world_of(count);
        let words: Vec<&str> = ["XTRIM", "s"].into_iter().chain(trim.split(' ')).collect();
        assert_eq!(call(&mut world, &words), Value::Int(removed as i64), "{trim}");
        let first = call(&mut world, &["XRANGE", "s", "-", "+", "COUNT", "1"]);
        assert_eq!(first, entries(removed + 1..=removed + 1), "{trim}");
        assert_eq!(call(&mut world, &["XLEN", "s"]), Value::Int((count - removed) as i64), "{trim}");
    }
}
