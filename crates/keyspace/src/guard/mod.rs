//! Guards: a tx's handle on one value. Each method records an effect and applies it, in one motion.

mod hash;
mod list;
mod queue;
mod set;
mod sorted;
mod stream;
mod string;
mod tagged;

pub use hash::{FieldExpiry, HashMut};
pub use list::ListMut;
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

/// What to do when the key is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absent {
    /// Make an empty value, which is there from its first element on.
    Create,
    /// Leave it so.
    Leave,
}

/// What becomes of a key's deadline when its value is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expiry {
    /// It stays.
    Keep,
    /// It goes.
    Clear,
    /// It is this, in milliseconds since the epoch.
    At(Ms),
}

/// All that a key holds, in a hand.
#[derive(Clone, Debug)]
pub struct Whole {
    /// The value; a short text too.
    pub value: Value,
    /// When it expires.
    pub expires_at_ms: Option<Ms>,
    /// What memcached's protocol keeps beside a text, if it has met it.
    pub extras: Option<Extras>,
}

impl Whole {
    /// A copy of what `entry` holds.
    pub fn of(entry: Entry<'_>) -> Self {
        let value = match entry.content() {
            Content::Value(value) => value.clone(),
            _ => Value::Text(string_of(entry).expect("what is no value is a text").to_long()),
        };
        Self { extras: entry.extras(), ..Self::plain(value, entry.expires_at_ms()) }
    }

    /// A value that memcached's protocol has not met.
    pub fn plain(value: Value, expires_at_ms: Option<Ms>) -> Self {
        Self { value, expires_at_ms, extras: None }
    }

    /// A bound of the bytes that its effect takes, beside the key.
    pub fn effect_bytes_max(&self) -> u64 {
        self.value.encoded_bytes() + HEAD_BYTES_MAX
    }
}

/// Number, table, length of the key, time, extras, kind and length of the value, at most.
const HEAD_BYTES_MAX: u64 = 3 + 6 * varint::BYTES_MAX as u64;
