//! Thousands of random programs on one machine: none of them breaks it. `fuzz/fuzz_targets/scripts.rs` runs more.
//!
//! `BOBBIN_CASES` scales the number of programs.

#[path = "support/programs.rs"]
mod programs;

use base::random::Random;
use programs::{Choices, Tally, machine, program, run};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Number of programs run on one machine.
const PROGRAMS: usize = 500;
/// Maximum time of one program; the test prints a program that exceeds it, and fails.
const PATIENCE: Duration = Duration::from_secs(120);

fn bytes(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    (0..600).map(|_| random.below(256) as u8).collect()
}

#[test]
fn no_program_breaks_the_machine() {
    let cases = std::env::var("BOBBIN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(32);
    let programs = 64 * cases;
    let (begins, begun) = channel();
    let runner = thread::spawn(move || {
        let mut tally = Tally::default();
        let mut running = machine();
        for seed in 0..programs {
            if seed % PROGRAMS == 0 {
                running = machine();
            }
            let bytes = bytes(seed as u64);
            let mut choices = Choices::new(&bytes);
            let source = program(&mut choices);
            begins.send(source.clone()).expect("the test listens");
            run(&mut running, &source, &mut choices, &mut tally);
        }
        tally
    });
    let mut latest = String::new();
    loop {
        match begun.recv_timeout(PATIENCE) {
            Ok(source) => latest = source,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("this does not end:\n{latest}"),
        }
    }
    let tally = runner.join().unwrap_or_else(|_| panic!("the last was:\n{latest}"));
    println!("{programs} programs: {tally:?}");
    // All outcomes occur, or the programs test too little.
    let part = programs as u32 / 50;
    assert!(tally.replies > part && tally.failures > part && tally.stops > 0 && tally.calls > part, "{tally:?}");
}

/// The bytes alone determine a program, so a failure can be reproduced.
#[test]
fn the_same_bytes_give_the_same_program() {
    assert_eq!(program(&mut Choices::new(&bytes(7))), program(&mut Choices::new(&bytes(7))));
    assert_ne!(program(&mut Choices::new(&bytes(7))), program(&mut Choices::new(&bytes(8))));
    assert!(Choices::new(&[]).are_over());
}
