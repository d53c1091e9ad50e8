//! The manifest: its bytes, how it is read, how a commit is written to it.

mod change;
mod format;
mod log;
mod read;

pub(crate) use log::Log;
pub use read::scan_bytes;
pub(crate) use read::{Walk, load, mark_beyond, salvage, walk};
