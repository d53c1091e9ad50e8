//! Scripts: sandboxed Lua, its libraries, values and replies. Knows no commands or keys.
//!
//! ```text
//!   host                                    machine: a fiber with one Lua state
//!   begin(task) --------------------------> compiles (once), runs
//!   <-- Ask::Call { request } ------------- redis.call(...)
//!   go(Input::Reply(value)) --------------> continues with it
//!   <-- Ask::Tick ------------------------- some 50 µs after the last one
//!   go(Input::Go), or Input::Stop --------> continues, or unwinds; the script cannot prevent that
//!   <-- Ask::Over(outcome) ---------------- its reply, or why it failed
//! ```
//!
//! A script that waits for its host is suspended on its own stack: the host may let others run. Only one task runs at a
//! time.

#![deny(unsafe_code)]

mod api;
#[allow(unsafe_code, reason = "functions of the engine's C interface need no handles")]
mod direct;
mod error;
mod functions;
#[allow(unsafe_code, reason = "what counts stands between the engine and mlua")]
mod interrupt;
pub mod library;
mod machine;
mod natives;
mod number;
mod random;
mod shebang;
mod source;
mod value;

pub use error::Fault;
pub use functions::Registered;
pub use machine::{About, Answer, Ask, Code, Input, Machine, Task};
pub use shebang::{Flags, Header, LibraryHeader, header, library_header};
pub use value::{Errors, write};

/// Returns the name of a script: the SHA-1 of its source, forty hexadecimal digits.
pub fn name_of(source: &[u8]) -> String {
    sha1_smol::Sha1::from(source).digest().to_string()
}
