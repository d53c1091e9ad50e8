//! Scripts that hurt, each attack with a test of its own: against the real binary, which must be alive afterwards and serve everybody
//! on every worker, and whose script must have ended.
//!
//! ```text
//! endless.rs   scripts that come to no end: SCRIPT KILL, FUNCTION KILL, SHUTDOWN NOSAVE and SIGTERM end them
//! greedy.rs    scripts that take memory: they fail, and the server stays small
//! broken.rs    scripts that break machines: arguments out of range, recursion, sources that are deep
//! many.rs      very many scripts, functions, arguments and elements
//! ```

#[path = "scripts_that_hurt/attack.rs"]
mod attack;
#[path = "scripts_that_hurt/broken.rs"]
mod broken;
#[path = "scripts_that_hurt/endless.rs"]
mod endless;
#[path = "scripts_that_hurt/greedy.rs"]
mod greedy;
#[path = "scripts_that_hurt/many.rs"]
mod many;
mod support;
