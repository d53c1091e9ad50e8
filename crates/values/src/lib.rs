//! The values: what a key can hold. Pure data structures; they know no keys, time or protocol.
//!
//! A short string lives in the table entry itself; everything else is a [`Value`], a root of a few bytes that can be
//! cloned in O(1).

#![forbid(unsafe_code)]

pub mod bitfield;
pub mod bits;
pub mod geo;
pub mod hash;
pub mod hyperloglog;
pub mod limits;
pub mod list;
pub mod long_string;
pub mod queue;
pub mod set;
pub mod sorted;
pub mod stream;
pub mod string;
pub mod tagged;

pub use hash::Hash;
pub use list::List;
pub use long_string::LongString;
pub use queue::Queue;
pub use set::Set;
pub use sorted::Sorted;
pub use stream::Stream;
pub use string::StringValue;
pub use tagged::Tagged;

use base::{Ms, varint};
use blocks::{DecodeError, Place, StoredError, Storing};

/// A value's type, as reported by `TYPE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// A byte string, or an integer.
    String,
    /// A list of strings.
    List,
    /// Fields and values.
    Hash,
    /// Unordered members.
    Set,
    /// Members ordered by score.
    Sorted,
    /// Entries ordered by id.
    Stream,
    /// Items with attributes.
    Tagged,
    /// A list of messages that can be leased.
    Queue,
}

impl ValueType {
    /// Returns the name that `TYPE` replies.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            // To clients it is an extended list.
            Self::List | Self::Queue => "list",
            Self::Hash => "hash",
            Self::Set => "set",
            Self::Sorted => "zset",
            Self::Stream => "stream",
            Self::Tagged => "tagged",
        }
    }

    /// Returns the frozen number of the type in effects and stored records.
    pub fn number(self) -> u8 {
        match self {
            Self::String => 1,
            Self::List => 2,
            Self::Hash => 3,
            Self::Set => 4,
            Self::Sorted => 5,
            Self::Stream => 6,
            Self::Tagged => 7,
            Self::Queue => 8,
        }
    }

    /// Returns true if commands that take from this type also take from `other`: list commands work on queues.
    pub fn is_taken_from(self, other: Self) -> bool {
        self == other || (self, other) == (Self::List, Self::Queue) || (self, other) == (Self::Queue, Self::List)
    }

    /// Returns the type with that number.
    pub fn of_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::String),
            2 => Some(Self::List),
            3 => Some(Self::Hash),
            4 => Some(Self::Set),
            5 => Some(Self::Sorted),
            6 => Some(Self::Stream),
            7 => Some(Self::Tagged),
            8 => Some(Self::Queue),
            _ => None,
        }
    }
}

/// The root of a value not stored in the entry itself. Clones share everything until one is written to.
#[derive(Clone, Debug)]
pub enum Value {
    /// A long string (longer than [`string::INLINE_BYTES_MAX`]).
    Text(LongString),
    /// A list; never empty in a table.
    List(List),
    /// A hash; never empty in a table.
    Hash(Hash),
    /// A set; never empty in a table.
    Set(Set),
    /// A sorted set; never empty in a table.
    Sorted(Sorted),
    /// A stream; it may have no entries.
    Stream(Stream),
    /// A tagged list; it has items, or was explicitly created.
    Tagged(Tagged),
    /// A queue; it has messages or limits.
    Queue(Queue),
}

const _: () = assert!(size_of::<Value>() == 16);

/// A value type with elements: created with the first, removed with the last.
pub trait Collection: Clone + Default {
    /// The type.
    const TYPE: ValueType;

    /// Returns the collection in `value`; `None` if it is of another type.
    fn of(value: &Value) -> Option<&Self>;

    /// Like [`Collection::of`], but mutable.
    fn of_mut(value: &mut Value) -> Option<&mut Self>;

    /// Wraps it as a value.
    fn into_value(self) -> Value;

    /// Returns true if it has no elements. O(1).
    fn is_empty(&self) -> bool;

    /// Returns its heap memory in bytes. O(1).
    fn heap_bytes(&self) -> u64;
}

/// Defines the methods of [`Collection`] that are the same for all types.
macro_rules! collection {
    ($kind:ident) => {
        impl Collection for $kind {
            const TYPE: ValueType = ValueType::$kind;

            fn of(value: &Value) -> Option<&Self> {
                if let Value::$kind(it) = value { Some(it) } else { None }
            }

            fn of_mut(value: &mut Value) -> Option<&mut Self> {
                if let Value::$kind(it) = value { Some(it) } else { None }
            }

            fn into_value(self) -> Value {
                Value::$kind(self)
            }

            fn is_empty(&self) -> bool {
                $kind::is_empty(self)
            }

            fn heap_bytes(&self) -> u64 {
                $kind::heap_bytes(self)
            }
        }
    };
}

collection!(List);
collection!(Hash);
collection!(Set);
collection!(Sorted);
collection!(Stream);
collection!(Tagged);
collection!(Queue);

impl Value {
    /// Returns an empty value of this type, which no table holds.
    pub fn nothing(kind: ValueType) -> Self {
        match kind {
            ValueType::String => Self::Text(LongString::default()),
            ValueType::List => Self::List(List::default()),
            ValueType::Hash => Self::Hash(Hash::default()),
            ValueType::Set => Self::Set(Set::new()),
            ValueType::Sorted => Self::Sorted(Sorted::default()),
            ValueType::Stream => Self::Stream(Stream::default()),
            ValueType::Tagged => Self::Tagged(Tagged::default()),
            ValueType::Queue => Self::Queue(Queue::default()),
        }
    }

    /// Returns its type.
    pub fn value_type(&self) -> ValueType {
        match self {
            Self::Text(_) => ValueType::String,
            Self::List(_) => ValueType::List,
            Self::Hash(_) => ValueType::Hash,
            Self::Set(_) => ValueType::Set,
            Self::Sorted(_) => ValueType::Sorted,
            Self::Stream(_) => ValueType::Stream,
            Self::Tagged(_) => ValueType::Tagged,
            Self::Queue(_) => ValueType::Queue,
        }
    }

    /// Returns true if it is empty. O(1).
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Tagged(tagged) => tagged.is_empty(),
            Self::Queue(queue) => queue.is_empty(),
            _ => self.blocks().is_empty(),
        }
    }

    /// Returns the name that `OBJECT ENCODING` replies in Redis for these contents.
    pub fn encoding(&self) -> &'static str {
        match self {
            Self::Text(string) => StringValue::Long(string).encoding(),
            Self::List(items) => list::encoding(items),
            Self::Hash(hash) => hash.encoding(),
            Self::Set(set) => set.form().encoding(),
            Self::Sorted(sorted) => sorted.encoding(),
            Self::Stream(stream) => stream.encoding(),
            Self::Tagged(tagged) => tagged.encoding(),
            Self::Queue(queue) => queue.encoding(),
        }
    }

    /// Returns the earliest deadline of its elements, if any. O(log n).
    pub fn next_due(&self) -> Option<Ms> {
        match self {
            Self::Text(_) | Self::List(_) | Self::Set(_) | Self::Sorted(_) | Self::Stream(_) | Self::Tagged(_) => None,
            Self::Hash(hash) => hash.next_due(),
            Self::Queue(queue) => queue.next_due(),
        }
    }

    /// Returns true if it has elements and all have expired. O(log n).
    pub fn is_spent(&self, now: Ms) -> bool {
        match self {
            Self::Text(_)
            | Self::List(_)
            | Self::Set(_)
            | Self::Sorted(_)
            | Self::Stream(_)
            | Self::Tagged(_)
            // A lease ends only by a recorded change.
            | Self::Queue(_) => false,
            Self::Hash(hash) => hash.is_spent(now),
        }
    }

    /// Returns the heap memory beyond the root, in bytes. O(1).
    pub fn heap_bytes(&self) -> u64 {
        match self {
            Self::Sorted(sorted) => sorted.heap_bytes(),
            Self::Tagged(tagged) => tagged.heap_bytes(),
            Self::Queue(queue) => queue.heap_bytes(),
            _ => self.blocks().heap_bytes(),
        }
    }

    /// Returns the exact size of what [`Value::encode`] appends. O(1).
    pub fn encoded_bytes(&self) -> u64 {
        match self {
            Self::Text(string) => {
                let bytes = string.bytes_count();
                (varint::encoded_bytes(bytes as u64) + bytes) as u64
            }
            _ => self.blocks().encoded_bytes(),
        }
    }

    /// Appends the value, without its type.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(string) => {
                varint::put(out, string.bytes_count() as u64);
                string.for_each_piece(0..string.bytes_count(), |piece| out.extend_from_slice(piece));
            }
            _ => self.blocks().encode(out),
        }
    }

    /// Decodes a value of this type that [`Value::encode`] wrote; `None` if the bytes are invalid.
    pub fn decode(kind: ValueType, input: &mut &[u8]) -> Option<Self> {
        match kind {
            ValueType::String => varint::take_bytes(input).map(|bytes| Self::Text(LongString::of(bytes))),
            _ => Self::of_blocks(kind, List::decode(input).ok()?),
        }
    }

    /// Starts to store a snapshot of the value leaf by leaf, along with its stored form. O(1).
    pub fn storing(&self, form: &mut Vec<u8>) -> Storing {
        Storing::new(self.blocks().clone(), form)
    }

    /// Decodes a value of `value_type` from the stored form that [`Value::storing`] wrote; see [`List::of_stored`].
    ///
    /// # Errors
    /// See [`StoredError`]; also if the value is invalid for its type.
    pub fn of_stored<B: AsRef<[u8]>, E>(
        kind: ValueType,
        input: &mut &[u8],
        read: &mut impl FnMut(Place, usize) -> Result<B, E>,
    ) -> Result<Self, StoredError<E>> {
        let list = List::of_stored(input, read)?;
        Self::of_blocks(kind, list).ok_or(StoredError::Form(DecodeError::Inconsistent))
    }

    /// Returns the value of this type stored in these blocks; `None` if invalid. O(n), for hash-ordered values O(n log
    /// n).
    fn of_blocks(kind: ValueType, list: List) -> Option<Self> {
        match kind {
            ValueType::String => LongString::of_pieces(list).map(Self::Text),
            ValueType::List => Some(list).filter(|list| !list.is_empty()).map(Self::List),
            ValueType::Hash => Hash::of_list(list).map(Self::Hash),
            ValueType::Set => Set::of_list(list).map(Self::Set),
            ValueType::Sorted => Sorted::of_list(list).map(Self::Sorted),
            ValueType::Stream => Stream::of_list(list).map(Self::Stream),
            ValueType::Tagged => Tagged::of_list(list).map(Self::Tagged),
            ValueType::Queue => Queue::of_list(list).map(Self::Queue),
        }
    }

    /// Returns true if the two are clones that neither side has changed since. O(1).
    pub fn shares_root_with(&self, other: &Self) -> bool {
        self.value_type() == other.value_type() && self.blocks().shares_root_with(other.blocks())
    }

    /// Returns true if the value is a single leaf, which is best encoded whole. O(1).
    pub fn is_one_leaf(&self) -> bool {
        self.blocks().is_one_leaf()
    }

    /// Visits the places of its stored leaves; see [`List::visit_places`].
    pub fn visit_places(&self, visit: &mut impl FnMut(Place, u64)) {
        self.blocks().visit_places(visit);
    }

    /// Copies the places of shared leaves from another version of the value; see [`List::learn_places`].
    pub fn learn_places(&self, other: &Self) {
        self.blocks().learn_places(other.blocks());
    }

    fn blocks(&self) -> &List {
        match self {
            Self::Text(string) => string.pieces(),
            Self::List(list) => list,
            Self::Hash(hash) => hash.list(),
            Self::Set(set) => set.list(),
            Self::Sorted(sorted) => sorted.list(),
            Self::Stream(stream) => stream.list(),
            Self::Tagged(tagged) => tagged.list(),
            Self::Queue(queue) => queue.list(),
        }
    }
}
