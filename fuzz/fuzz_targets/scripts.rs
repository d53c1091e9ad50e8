//! Random programs that use the functions of scripts, on a Lua machine with little memory, and random replies to their
//! calls: a program ends only in a reply, an error or the stop, and the machine continues to run.
//!
//! One machine runs all programs, as a worker's does, so a program meets the state that earlier ones left. A run over
//! the same corpus therefore finds an input again that fails only after others.

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
