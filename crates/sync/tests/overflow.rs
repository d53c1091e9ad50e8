//! Overflows a fiber's stack in a child process, which must report it and abort.

#![cfg(not(miri))]

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use sync::fiber::{Fiber, Pause};

const VARIABLE: &str = "BOBBIN_TEST_OVERFLOWS";
const SIGABRT: i32 = 6;

/// Recurses without end.
fn descend(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 64]);
    if frame[0] == u64::MAX {
        return 0;
    }
    1 + descend(depth + 1) + frame[(depth % 64) as usize]
}

fn overflow() {
    let body = |_: Pause<(), ()>, ()| {
        std::hint::black_box(descend(0));
    };
    let in_a_fiber = move || {
        let mut outer = Fiber::new("that is outside", 256 << 10, move |_: Pause<(), ()>, ()| {
            Fiber::new("that descends", 128 << 10, body).unwrap().resume(());
        });
        outer.as_mut().unwrap().resume(());
    };
    let thread = std::thread::Builder::new().name("bobbin-7".to_owned()).spawn(in_a_fiber);
    thread.unwrap().join().unwrap();
}

#[test]
fn an_overflow_names_the_fiber_and_its_thread() {
    if std::env::var_os(VARIABLE).is_some() {
        return overflow();
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "an_overflow_names_the_fiber_and_its_thread", "--nocapture"]).env(VARIABLE, "1");
    let output = child.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let line =
        "bobbin: stack overflow in the fiber that descends on the thread bobbin-7: its stack of 128 KB is full\n";
    assert!(stderr.contains(line), "{stderr}");
    assert_eq!(output.status.signal(), Some(SIGABRT), "{stderr}");
}
