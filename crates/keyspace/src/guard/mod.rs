//! Guards: a tx's handles to single values. Each method records an effect and applies it in one step.

mod hash;
mod list;
mod list_like;
mod queue;
mod set;
mod sorted;
mod stream;
mod string;
mod tagged;

pub use hash::{FieldExpiry, HashMut};
pub use list::ListMut;
pub use list_like::{ListLike, ListLikeMut};
pub(crate) use queue::Fallen;
pub use queue::{Ending, QueueMut};
pub use set::SetMut;
pub use sorted::SortedMut;
pub use stream::{Reader, Redelivery, StreamMut};
pub use string::StringMut;
pub use tagged::TaggedMut;

use crate::section::{Entry, string_of};
use base::{Ms, varint};
use table::{Content, Extras};
use values::Value;

/// The treatment of an absent key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// Create an empty value, which exists once it has an element.
    Create,
    /// Leave it absent.
    Leave,
}

/// The treatment of a key's deadline when its value is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// Kept.
    Keep,
    /// Cleared.
    Clear,
    /// Set to this, in milliseconds since the epoch.
    At(Ms),
}

/// Everything a key holds.
#[derive(Clone, Debug)]
pub struct Whole {
    /// The value, even if a short text.
    pub value: Value,
    /// Its deadline.
    pub expires_at_ms: Option<Ms>,
    /// The extras of a text stored by memcached's protocol.
    pub extras: Option<Extras>,
}

impl Whole {
    /// Copies everything in `entry`.
    pub fn of(entry: Entry<'_>) -> Self {
        let value = match entry.content() {
            Content::Value(value) => value.clone(),
            _ => Value::Text(string_of(entry).expect("what is no value is a text").to_long()),
        };
        Self { extras: entry.extras(), ..Self::plain(value, entry.expires_at_ms()) }
    }

    /// Creates a value without memcached extras.
    pub fn plain(value: Value, expires_at_ms: Option<Ms>) -> Self {
        Self { value, expires_at_ms, extras: None }
    }

    /// Returns an upper bound of its effect's bytes, beside the key.
    pub fn effect_bytes_max(&self) -> u64 {
        self.value.encoded_bytes() + HEAD_BYTES_MAX
    }
}

/// Maximum bytes of number, table, key length, time, extras, type and value length.
const HEAD_BYTES_MAX: u64 = 3 + 6 * varint::BYTES_MAX as u64;
