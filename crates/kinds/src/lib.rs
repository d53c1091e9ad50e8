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
pub mod long_text;
pub mod queue;
pub mod set;
pub mod sorted;
pub mod stream;
pub mod tagged;
pub mod text;

pub use hash::Hash;
pub use list::List;
pub use long_text::LongText;
pub use queue::Queue;
pub use set::Set;
pub use sorted::Sorted;
pub use stream::Stream;
pub use tagged::Tagged;
pub use text::Text;

use base::{Ms, varint};
use blocks::{DecodeError, Place, StoredError, Storing};

/// What a key holds, as `TYPE` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A string of bytes; integers too.
    Text,
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

impl Kind {
    /// The name that `TYPE` replies.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
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
            Self::Text => 1,
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
            1 => Some(Self::Text),
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
    /// A long text (longer than [`text::INLINE_BYTES_MAX`]).
    Text(LongText),
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
    const KIND: Kind;

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
            const KIND: Kind = Kind::$kind;

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
    /// One of `kind` with nothing in it, as no table has it.
    pub fn nothing(kind: Kind) -> Self {
        match kind {
            Kind::Text => Self::Text(LongText::default()),
            Kind::List => Self::List(List::default()),
            Kind::Hash => Self::Hash(Hash::default()),
            Kind::Set => Self::Set(Set::new()),
            Kind::Sorted => Self::Sorted(Sorted::default()),
            Kind::Stream => Self::Stream(Stream::default()),
            Kind::Tagged => Self::Tagged(Tagged::default()),
            Kind::Queue => Self::Queue(Queue::default()),
        }
    }

    /// The kind it is of.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Text(_) => Kind::Text,
            Self::List(_) => Kind::List,
            Self::Hash(_) => Kind::Hash,
            Self::Set(_) => Kind::Set,
            Self::Sorted(_) => Kind::Sorted,
            Self::Stream(_) => Kind::Stream,
            Self::Tagged(_) => Kind::Tagged,
            Self::Queue(_) => Kind::Queue,
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
            Self::Text(text) => Text::Long(text).encoding(),
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
            Self::Text(text) => {
                let bytes = text.bytes_count();
                (varint::encoded_bytes(bytes as u64) + bytes) as u64
            }
            _ => self.blocks().encoded_bytes(),
        }
    }

    /// Appends the value, without its kind.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => {
                varint::put(out, text.bytes_count() as u64);
                text.for_each_piece(0..text.bytes_count(), |piece| out.extend_from_slice(piece));
            }
            _ => self.blocks().encode(out),
        }
    }

    /// Takes a value of `kind` that [`Value::encode`] wrote; `None` if the bytes are not one.
    pub fn decode(kind: Kind, input: &mut &[u8]) -> Option<Self> {
        match kind {
            Kind::Text => varint::take_bytes(input).map(|bytes| Self::Text(LongText::of(bytes))),
            _ => Self::of_blocks(kind, List::decode(input).ok()?),
        }
    }

    /// Begins to store the value leaf by leaf, as it is now, and its stored form. O(1).
    pub fn storing(&self, form: &mut Vec<u8>) -> Storing {
        Storing::new(self.blocks().clone(), form)
    }

    /// Takes a value of `kind` from the stored form that [`Value::storing`] wrote; see [`List::of_stored`].
    ///
    /// # Errors
    /// See [`StoredError`]; a value must also be one that its kind can be.
    pub fn of_stored<B: AsRef<[u8]>, E>(
        kind: Kind,
        input: &mut &[u8],
        read: &mut impl FnMut(Place, usize) -> Result<B, E>,
    ) -> Result<Self, StoredError<E>> {
        let list = List::of_stored(input, read)?;
        Self::of_blocks(kind, list).ok_or(StoredError::Form(DecodeError::Inconsistent))
    }

    /// The value of `kind` that lies in these blocks; `None` if none does. O(n), of what is ordered by hashes O(n log n).
    fn of_blocks(kind: Kind, list: List) -> Option<Self> {
        match kind {
            Kind::Text => LongText::of_pieces(list).map(Self::Text),
            Kind::List => Some(list).filter(|list| !list.is_empty()).map(Self::List),
            Kind::Hash => Hash::of_list(list).map(Self::Hash),
            Kind::Set => Set::of_list(list).map(Self::Set),
            Kind::Sorted => Sorted::of_list(list).map(Self::Sorted),
            Kind::Stream => Stream::of_list(list).map(Self::Stream),
            Kind::Tagged => Tagged::of_list(list).map(Self::Tagged),
            Kind::Queue => Queue::of_list(list).map(Self::Queue),
        }
    }

    /// Whether the two are clones that neither side has changed since. O(1).
    pub fn shares_root_with(&self, other: &Self) -> bool {
        self.kind() == other.kind() && self.blocks().shares_root_with(other.blocks())
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
            Self::Text(text) => text.pieces(),
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
