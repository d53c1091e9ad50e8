//! The values: what a key can hold. Pure structures; they know no keys, no time and no protocol.
//!
//! A short text lies inside the entry of the table itself; everything else is a [`Value`], a root of a few bytes
//! that can be cloned in O(1).

#![forbid(unsafe_code)]

pub mod bitfield;
pub mod bits;
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

/// What a key holds, as `TYPE` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// A string of bytes; integers too.
    String,
    /// A list of strings.
    List,
    /// Fields with values.
    Hash,
    /// Members without order.
    Set,
    /// Members in the order of their scores.
    Sorted,
    /// Entries in the order of their ids.
    Stream,
    /// Items with attributes.
    Tagged,
    /// A list of messages that can be leased.
    Queue,
}

impl ValueType {
    /// The name that `TYPE` replies.
    pub fn name(self) -> &'static str {
        match self {
            Self::String => "string",
            // To clients it is a list that can do more.
            Self::List | Self::Queue => "list",
            Self::Hash => "hash",
            Self::Set => "set",
            Self::Sorted => "zset",
            Self::Stream => "stream",
            Self::Tagged => "tagged",
        }
    }

    /// The frozen number of the kind in effects and stored records.
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

    /// Whether commands that take from this kind take from `other`, too: what they do with lists they do with queues.
    pub fn is_taken_from(self, other: Self) -> bool {
        self == other || (self, other) == (Self::List, Self::Queue) || (self, other) == (Self::Queue, Self::List)
    }

    /// The kind of that number.
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

/// The root of a value that does not lie in the entry itself. Clones share everything until one is written to.
#[derive(Clone, Debug)]
pub enum Value {
    /// A long text (longer than [`string::INLINE_BYTES_MAX`]).
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
    /// A tagged list; it has items, or was made to stay without.
    Tagged(Tagged),
    /// A queue; it has messages or limits.
    Queue(Queue),
}

const _: () = assert!(size_of::<Value>() == 16);

/// A kind of value that has elements: made when the first comes, removed when the last goes.
pub trait Collection: Clone + Default {
    /// Which kind.
    const TYPE: ValueType;

    /// The collection that `value` is; `None` if it is of another kind.
    fn of(value: &Value) -> Option<&Self>;

    /// As [`Collection::of`], to change it.
    fn of_mut(value: &mut Value) -> Option<&mut Self>;

    /// As a value.
    fn into_value(self) -> Value;

    /// Whether it has no element. O(1).
    fn is_empty(&self) -> bool;

    /// Bytes of memory beside itself. O(1).
    fn heap_bytes(&self) -> u64;
}

/// The methods of [`Collection`] that are alike for all.
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
    /// One of `value_type` with nothing in it, as no table has it.
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

    /// The kind it is of.
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

    /// Whether nothing is in it. O(1).
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Tagged(tagged) => tagged.is_empty(),
            Self::Queue(queue) => queue.is_empty(),
            _ => self.blocks().is_empty(),
        }
    }

    /// The name that `OBJECT ENCODING` replies in Redis for these contents.
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

    /// When an element of it falls due next, if any does. O(log n).
    pub fn next_due(&self) -> Option<Ms> {
        match self {
            Self::Text(_) | Self::List(_) | Self::Set(_) | Self::Sorted(_) | Self::Stream(_) | Self::Tagged(_) => None,
            Self::Hash(hash) => hash.next_due(),
            Self::Queue(queue) => queue.next_due(),
        }
    }

    /// Whether it has elements, and the time of all of them has come. O(log n).
    pub fn is_spent(&self, now: Ms) -> bool {
        match self {
            Self::Text(_)
            | Self::List(_)
            | Self::Set(_)
            | Self::Sorted(_)
            | Self::Stream(_)
            | Self::Tagged(_)
            // A lease is over when that has been recorded.
            | Self::Queue(_) => false,
            Self::Hash(hash) => hash.is_spent(now),
        }
    }

    /// Bytes of memory beside the root itself. O(1).
    pub fn heap_bytes(&self) -> u64 {
        match self {
            Self::Sorted(sorted) => sorted.heap_bytes(),
            Self::Tagged(tagged) => tagged.heap_bytes(),
            Self::Queue(queue) => queue.heap_bytes(),
            _ => self.blocks().heap_bytes(),
        }
    }

    /// Exact size of what [`Value::encode`] appends. O(1).
    pub fn encoded_bytes(&self) -> u64 {
        match self {
            Self::Text(string) => {
                let bytes = string.bytes_count();
                (varint::encoded_bytes(bytes as u64) + bytes) as u64
            }
            _ => self.blocks().encoded_bytes(),
        }
    }

    /// Appends the value, without its kind.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(string) => {
                varint::put(out, string.bytes_count() as u64);
                string.for_each_piece(0..string.bytes_count(), |piece| out.extend_from_slice(piece));
            }
            _ => self.blocks().encode(out),
        }
    }

    /// Takes a value of `value_type` that [`Value::encode`] wrote; `None` if the bytes are not one.
    pub fn decode(kind: ValueType, input: &mut &[u8]) -> Option<Self> {
        match kind {
            ValueType::String => varint::take_bytes(input).map(|bytes| Self::Text(LongString::of(bytes))),
            _ => Self::of_blocks(kind, List::decode(input).ok()?),
        }
    }

    /// Begins to store the value leaf by leaf, as it is now, and its stored form. O(1).
    pub fn storing(&self, form: &mut Vec<u8>) -> Storing {
        Storing::new(self.blocks().clone(), form)
    }

    /// Takes a value of `value_type` from the stored form that [`Value::storing`] wrote; see [`List::of_stored`].
    ///
    /// # Errors
    /// See [`StoredError`]; a value must also be one that its kind can be.
    pub fn of_stored<B: AsRef<[u8]>, E>(
        kind: ValueType,
        input: &mut &[u8],
        read: &mut impl FnMut(Place, usize) -> Result<B, E>,
    ) -> Result<Self, StoredError<E>> {
        let list = List::of_stored(input, read)?;
        Self::of_blocks(kind, list).ok_or(StoredError::Form(DecodeError::Inconsistent))
    }

    /// The value of `value_type` that lies in these blocks; `None` if none does. O(n), of what is ordered by hashes O(n log n).
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

    /// Whether the two are clones that neither side has changed since. O(1).
    pub fn shares_root_with(&self, other: &Self) -> bool {
        self.value_type() == other.value_type() && self.blocks().shares_root_with(other.blocks())
    }

    /// Whether the value is a single leaf, which is best encoded whole. O(1).
    pub fn is_one_leaf(&self) -> bool {
        self.blocks().is_one_leaf()
    }

    /// Shows where its leaves are stored; see [`List::visit_places`].
    pub fn visit_places(&self, visit: &mut impl FnMut(Place, u64)) {
        self.blocks().visit_places(visit);
    }

    /// Learns from another version of the value where leaves lie that both have; see [`List::learn_places`].
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
