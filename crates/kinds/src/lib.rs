//! The values: what a key can hold. Pure structures; they know no keys, no time and no protocol.
//!
//! A short text lies inside the entry of the table itself; everything else is a [`Value`], a root of a few bytes
//! that can be cloned in O(1).

#![forbid(unsafe_code)]

pub mod list;
pub mod long_text;
pub mod text;

pub use list::List;
pub use long_text::LongText;
pub use text::Text;

use base::varint;
use blocks::{DecodeError, Place, StoredError, Storing};

/// What a key holds, as `TYPE` names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A string of bytes; integers too.
    Text,
    /// A list of strings.
    List,
}

impl Kind {
    /// The name that `TYPE` replies.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::List => "list",
        }
    }

    /// The frozen number of the kind in effects and stored records.
    pub fn number(self) -> u8 {
        match self {
            Self::Text => 1,
            Self::List => 2,
        }
    }

    /// The kind of that number.
    pub fn of_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Text),
            2 => Some(Self::List),
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
}

impl Value {
    /// The kind it is of.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Text(_) => Kind::Text,
            Self::List(_) => Kind::List,
        }
    }

    /// Bytes of memory beside the root itself. O(1).
    pub fn heap_bytes(&self) -> u64 {
        match self {
            Self::Text(text) => text.heap_bytes(),
            Self::List(list) => list.heap_bytes(),
        }
    }

    /// Exact size of what [`Value::encode`] appends. O(1).
    pub fn encoded_bytes(&self) -> u64 {
        match self {
            Self::Text(text) => {
                let bytes = text.bytes_count();
                (varint::encoded_bytes(bytes as u64) + bytes) as u64
            }
            Self::List(list) => list.encoded_bytes(),
        }
    }

    /// Appends the value, without its kind.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Text(text) => {
                varint::put(out, text.bytes_count() as u64);
                text.for_each_piece(0..text.bytes_count(), |piece| out.extend_from_slice(piece));
            }
            Self::List(list) => list.encode(out),
        }
    }

    /// Takes a value of `kind` that [`Value::encode`] wrote; `None` if the bytes are not one.
    pub fn decode(kind: Kind, input: &mut &[u8]) -> Option<Self> {
        match kind {
            Kind::Text => varint::take_bytes(input).map(|bytes| Self::Text(LongText::of(bytes))),
            Kind::List => List::decode(input).ok().filter(|list| !list.is_empty()).map(Self::List),
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
        let value = match kind {
            Kind::Text => LongText::of_pieces(list).map(Self::Text),
            Kind::List => Some(list).filter(|list| !list.is_empty()).map(Self::List),
        };
        value.ok_or(StoredError::Form(DecodeError::Inconsistent))
    }

    /// Whether the value is a single leaf, which is best encoded whole. O(1).
    pub fn is_one_leaf(&self) -> bool {
        self.blocks().is_one_leaf()
    }

    /// Shows where its leaves are stored; see [`List::visit_places`].
    pub fn visit_places(&self, visit: &mut impl FnMut(Place, u64)) {
        self.blocks().visit_places(visit);
    }

    fn blocks(&self) -> &List {
        match self {
            Self::Text(text) => text.pieces(),
            Self::List(list) => list,
        }
    }
}
