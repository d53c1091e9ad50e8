//! Harmful scripts, each with a test of its own, against the real binary: afterwards it must serve all clients on every
//! worker, and the script must have ended.
//!
//! ```text
//! endless.rs   scripts that do not end: SCRIPT KILL, FUNCTION KILL, SHUTDOWN NOSAVE and SIGTERM end them
//! greedy.rs    scripts that take memory: they fail, and the server stays small
//! broken.rs    scripts that break machines: arguments out of range, recursion, sources that are deep
//! many.rs      very many scripts, functions, arguments and elements
//! ```

mod attack;
mod broken;
mod endless;
mod greedy;
mod many;
