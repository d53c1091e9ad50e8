//! Random programs of what scripts find, on a machine with little memory, and random replies to what they call: nothing but a reply, an
//! error or the stop comes of one, and the machine runs on.

#![no_main]

#[path = "../../crates/lua/tests/support/programs.rs"]
mod programs;

use libfuzzer_sys::fuzz_target;
use programs::{Choices, Tally, machine, program, run};

/// Programs that one machine runs: what one leaves the next one meets.
const PROGRAMS_MAX: usize = 4;

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    let mut machine = machine();
    for _ in 0..PROGRAMS_MAX {
        if choices.are_over() {
            break;
        }
        let source = program(&mut choices);
        run(&mut machine, &source, &mut choices, &mut Tally::default());
    }
});
