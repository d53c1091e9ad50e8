//! Random programs of what scripts find, on a machine with little memory, and random replies to what they call: nothing but a reply, an
//! error or the stop comes of one, and the machine runs on.
//!
//! One machine runs all programs, as a worker's does: what one leaves the next one meets. So an input that fails only behind others is found
//! again by a run over the same corpus.

#![no_main]

#[allow(dead_code, reason = "the test of the machine uses the rest")]
#[path = "../../crates/lua/tests/support/programs.rs"]
mod programs;

use libfuzzer_sys::fuzz_target;
use lua::Machine;
use programs::{Choices, Tally, machine, program, run};
use std::cell::RefCell;

/// Programs of one input.
const PROGRAMS_MAX: usize = 4;

thread_local! {
    // A machine does not end.
    static MACHINE: &'static RefCell<Machine> = Box::leak(Box::new(RefCell::new(machine())));
}

fuzz_target!(|bytes: &[u8]| {
    let mut choices = Choices::new(bytes);
    MACHINE.with(|machine| {
        for _ in 0..PROGRAMS_MAX {
            if choices.are_over() {
                break;
            }
            let source = program(&mut choices);
            run(&mut machine.borrow_mut(), &source, &mut choices, &mut Tally::default());
        }
    });
});
