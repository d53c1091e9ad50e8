//! The real binary beside redis-server, by random commands: `scripts/differ`, with a seed that stays the same.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use testing::{program_or_skip, skip};

/// The version of the peer for which the lists in `scripts/differ-known` were made.
const PEER_VERSION: &str = "v=7.0.";

/// Commands that must return data from existing values in the rounds of this seed.
const READ: &str = "LRANGE LPOS LINDEX HGETALL HMGET SMEMBERS SINTER ZRANGE ZRANGEBYSCORE ZUNION GEOPOS GEODIST GEOSEARCH \
                    PFCOUNT BITCOUNT BITPOS GETRANGE LCS EVAL SORT XRANGE XREVRANGE XREAD XREADGROUP XACK XPENDING XCLAIM XINFO";

/// Commands that must change something, likewise.
const CHANGED: &str = "LTRIM LSET LREM LINSERT LMOVE LMPOP HDEL HINCRBYFLOAT SREM SMOVE SINTERSTORE ZPOPMIN ZPOPMAX ZREM \
                       ZREMRANGEBYRANK ZREMRANGEBYSCORE ZUNIONSTORE GEOSEARCHSTORE PFMERGE BITOP GETEX SETRANGE RENAME COPY \
                       PEXPIREAT XDEL XTRIM XREADGROUP XSETID";

/// The minimum number of times.
const REACHED_MIN: u32 = 5;

#[test]
fn random_commands_behave_as_in_redis() {
    let test = "random_commands_behave_as_in_redis";
    let (Some(redis), Some(python)) = (program_or_skip(test, "redis-server"), program_or_skip(test, "python3")) else {
        return;
    };
    let version = Command::new(&redis).arg("--version").output().unwrap();
    if !String::from_utf8_lossy(&version.stdout).contains(PEER_VERSION) {
        return skip(test, &format!("redis-server is not of version {PEER_VERSION}"));
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/differ");
    let output = Command::new(python)
        .arg(script)
        .args([
            "--seed",
            "1",
            "--rounds",
            "400",
            "--kills",
            "0.05",
            "--bobbin",
            env!("CARGO_BIN_EXE_bobbin"),
            "--redis",
        ])
        .arg(redis)
        .output()
        .unwrap();
    let [said, complained] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(output.status.success(), "{said}{complained}");
    assert!(said.contains("400 rounds"), "{said}");
    let reached = reached(&said);
    for (names, nth) in [(READ, 0), (CHANGED, 1)] {
        let is_reached = |name: &&str| reached.get(name).is_some_and(|counts| counts[nth] >= REACHED_MIN);
        let missed: Vec<&str> = names.split_whitespace().filter(|name| !is_reached(name)).collect();
        assert!(missed.is_empty(), "{missed:?} in {said}");
    }
}

/// Returns, by command, the numbers of calls that returned data and that changed data.
fn reached(said: &str) -> HashMap<&str, [u32; 2]> {
    let words = said.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let counts = words.filter_map(|words| {
        let [read, changed, name] = words[..] else { return None };
        Some((name, [read.parse().ok()?, changed.parse().ok()?]))
    });
    counts.collect()
}
