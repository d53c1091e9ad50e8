//! The manifest: its format, reading it, and writing commits to it.

mod change;
mod format;
mod log;
mod read;

pub(crate) use log::Log;
pub use read::scan_bytes;
pub(crate) use read::{Walk, load, mark_beyond, salvage, walk};
