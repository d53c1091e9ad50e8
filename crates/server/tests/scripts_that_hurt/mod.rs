//! Scripts that hurt, each attack with a test of its own: against the real binary, which must be alive afterwards and serve everybody
//! on every worker, and whose script must have ended.
//!
//! ```text
//! endless.rs   scripts that come to no end: SCRIPT KILL, FUNCTION KILL, SHUTDOWN NOSAVE and SIGTERM end them
//! greedy.rs    scripts that take memory: they fail, and the server stays small
//! broken.rs    scripts that break machines: arguments out of range, recursion, sources that are deep
//! many.rs      very many scripts, functions, arguments and elements
//! ```

mod attack;
mod broken;
mod endless;
mod greedy;
mod many;
