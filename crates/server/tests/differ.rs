//! The real binary beside redis-server, by random commands: `scripts/differ`, with a seed that stays the same.

use lab::skip::{program_or_skip, skip};
use std::path::Path;
use std::process::Command;

/// Lists in `scripts/differ-known` are of this version of the peer.
const PEER_VERSION: &str = "v=7.0.";

#[test]
fn random_commands_do_what_they_do_in_redis() {
    let test = "random_commands_do_what_they_do_in_redis";
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
}
