//! The schema of a tagged list: value length, attributes and order. Each list stores its own.
//!
//! ```text
//! | format : 1 | value bytes + 1, or 0 | flags | order | attributes | bits, name | bits, name | ...
//! ```
//!
//! Numbers are varints.

use super::planes::{Planes, SUMMED_BITS_MAX};
use base::varint;
use std::cmp::Ordering;
use std::str;

/// The maximum number of attributes.
pub const ATTRIBUTES_MAX: usize = 32;
/// The maximum width of an attribute, in bits.
pub const ATTRIBUTE_BITS_MAX: u8 = 32;
/// The maximum length of an attribute's name, in bytes.
pub const NAME_BYTES_MAX: usize = 64;
/// The maximum fixed value length, in bytes.
pub const VALUE_BYTES_MAX: u32 = 2048;

const FORMAT: u64 = 1;
const UNIQUE: u64 = 1;
const DESCENDING: u64 = 2;

/// A number that each item has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Its name.
    pub name: Box<[u8]>,
    /// Its width in bits.
    pub bits: u8,
}

impl Attribute {
    /// Returns the greatest number it can hold.
    pub fn max(&self) -> u32 {
        u32::MAX >> (u32::BITS - u32::from(self.bits))
    }
}

/// The type as which values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemType {
    /// Decimal integers.
    Int,
    /// Unsigned decimal integers.
    Uint,
    /// Single-precision numbers.
    Float,
    /// Double-precision numbers.
    Double,
    /// Bytes up to the first NUL.
    Text,
    /// Bytes.
    Bytes,
}

impl ItemType {
    const ALL: [(Self, &'static str); 6] = [
        (Self::Int, "int"),
        (Self::Uint, "uint"),
        (Self::Float, "float"),
        (Self::Double, "double"),
        (Self::Text, "text"),
        (Self::Bytes, "bytes"),
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    /// Returns true if values are decimal numbers.
    pub fn is_number(self) -> bool {
        !matches!(self, Self::Text | Self::Bytes)
    }

    /// Returns the type with this name, ignoring case.
    pub fn of_name(name: &[u8]) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| name.eq_ignore_ascii_case(known.as_bytes())).map(|(found, _)| *found)
    }
}

/// A value's sort key, comparable with others of the same type.
#[derive(Clone, Debug, PartialEq)]
pub enum Rank {
    /// An integer.
    Int(i64),
    /// An unsigned integer, or an attribute.
    Uint(u64),
    /// A floating-point number.
    Number(f64),
    /// Bytes.
    Bytes(Vec<u8>),
}

impl Rank {
    /// Returns the rank of `value` as type `of`; `None` if it is not of that type.
    pub fn of_value(value: &[u8], of: ItemType) -> Option<Self> {
        let text = || str::from_utf8(value).ok();
        let number = |number: f64| (!number.is_nan()).then_some(Self::Number(number + 0.0));
        match of {
            ItemType::Int => text()?.parse().ok().map(Self::Int),
            ItemType::Uint => text()?.parse().ok().map(Self::Uint),
            ItemType::Float => number(f64::from(text()?.parse::<f32>().ok()?)),
            ItemType::Double => number(text()?.parse().ok()?),
            ItemType::Text => Some(Self::Bytes(value.split(|byte| *byte == 0).next().unwrap_or_default().to_vec())),
            ItemType::Bytes => Some(Self::Bytes(value.to_vec())),
        }
    }

    /// Compares two ranks; ranks of different types are equal.
    pub fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(one), Self::Int(other)) => one.cmp(other),
            (Self::Uint(one), Self::Uint(other)) => one.cmp(other),
            (Self::Number(one), Self::Number(other)) => one.total_cmp(other),
            (Self::Bytes(one), Self::Bytes(other)) => one.cmp(other),
            _ => Ordering::Equal,
        }
    }
}

/// A list's sort criterion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// The position at which items were inserted.
    Position,
    /// The value.
    Value(ItemType),
    /// An attribute, by number.
    Attribute(usize),
}

/// The common properties of all lists of one schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    value_bytes: Option<u32>,
    attributes: Vec<Attribute>,
    by: By,
    is_descending: bool,
    is_unique: bool,
    planes: Planes,
}

impl Schema {
    /// Creates a schema for values of `value_bytes`, or of any length, ordered by position; `None` if the length is
    /// invalid.
    pub fn new(value_bytes: Option<u32>) -> Option<Self> {
        let planes = Planes::new(&[]);
        let by = By::Position;
        let schema = Self { value_bytes, attributes: Vec::new(), by, is_descending: false, is_unique: false, planes };
        value_bytes.is_none_or(|bytes| (1..=VALUE_BYTES_MAX).contains(&bytes)).then_some(schema)
    }

    /// Adds an attribute. Returns false if its name or width is invalid, its name exists, or there are too many.
    pub fn add(&mut self, name: &[u8], bits: u8) -> bool {
        let fits = self.attributes.len() < ATTRIBUTES_MAX
            && (1..=ATTRIBUTE_BITS_MAX).contains(&bits)
            && is_name(name)
            && self.attribute(name).is_none();
        if fits {
            self.attributes.push(Attribute { name: name.into(), bits });
            self.planes = Planes::new(&self.attributes.iter().map(|attribute| attribute.bits).collect::<Vec<_>>());
        }
        fits
    }

    /// Sets the order of lists. Returns false for an unknown attribute, or for positions in descending order.
    pub fn set_order(&mut self, by: By, is_descending: bool) -> bool {
        let fits = match by {
            By::Attribute(number) => number < self.attributes.len(),
            By::Position => !is_descending,
            By::Value(_) => true,
        };
        if fits {
            (self.by, self.is_descending) = (by, is_descending);
        }
        fits
    }

    /// Makes values unique within a list.
    pub fn set_unique(&mut self) {
        self.is_unique = true;
    }

    /// Returns the fixed length of values, if there is one.
    pub fn value_bytes(&self) -> Option<u32> {
        self.value_bytes
    }

    /// Returns the attributes by number.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    /// Returns the number of the attribute with this name.
    pub fn attribute(&self, name: &[u8]) -> Option<usize> {
        self.attributes.iter().position(|attribute| *attribute.name == *name)
    }

    /// Returns the order of lists.
    pub fn by(&self) -> By {
        self.by
    }

    /// Returns true if the order is descending.
    pub fn is_descending(&self) -> bool {
        self.is_descending
    }

    /// Returns true if values are unique within a list.
    pub fn is_unique(&self) -> bool {
        self.is_unique
    }

    pub(super) fn planes(&self) -> &Planes {
        &self.planes
    }

    /// Returns true if it equals `other`, possibly with more attributes.
    pub fn extends(&self, other: &Self) -> bool {
        self.attributes.starts_with(&other.attributes)
            && (self.value_bytes, self.by, self.is_descending, self.is_unique)
                == (other.value_bytes, other.by, other.is_descending, other.is_unique)
    }

    /// Returns true if a list may hold this value.
    pub fn takes_value(&self, value: &[u8]) -> bool {
        self.value_bytes.is_none_or(|bytes| value.len() == bytes as usize)
            && value.len() <= super::ITEM_BYTES_MAX
            && match self.by {
                By::Value(of) => Rank::of_value(value, of).is_some(),
                _ => true,
            }
    }

    /// Returns an item's rank; `None` if lists are ordered by position.
    pub fn rank(&self, value: &[u8], attribute: impl FnOnce(usize) -> u32) -> Option<Rank> {
        match self.by {
            By::Position => None,
            By::Value(of) => Rank::of_value(value, of),
            By::Attribute(number) => Some(Rank::Uint(u64::from(attribute(number)))),
        }
    }

    /// Compares two ranks in the order of a list.
    pub fn compare(&self, one: &Rank, other: &Rank) -> Ordering {
        let ordering = one.compare(other);
        if self.is_descending { ordering.reverse() } else { ordering }
    }

    /// Encodes the schema.
    pub fn encode(&self, out: &mut Vec<u8>) {
        varint::put(out, FORMAT);
        varint::put(out, self.value_bytes.map_or(0, |bytes| u64::from(bytes) + 1));
        let unique = if self.is_unique { UNIQUE } else { 0 };
        varint::put(out, unique | if self.is_descending { DESCENDING } else { 0 });
        varint::put(
            out,
            match self.by {
                By::Position => 0,
                By::Value(of) => 1 + of as u64,
                By::Attribute(number) => 16 + number as u64,
            },
        );
        varint::put(out, self.attributes.len() as u64);
        for Attribute { name, bits } in &self.attributes {
            out.push(*bits);
            varint::put_bytes(out, name);
        }
    }

    /// Decodes a schema from all of these bytes.
    pub fn decode(mut input: &[u8]) -> Option<Self> {
        let input = &mut input;
        if varint::take(input)? != FORMAT {
            return None;
        }
        let value_bytes = match varint::take(input)? {
            0 => None,
            more => Some(u32::try_from(more - 1).ok()?),
        };
        let mut schema = Self::new(value_bytes)?;
        let (flags, order) = (varint::take(input)?, varint::take(input)?);
        for _ in 0..varint::take(input)? {
            let (&bits, rest) = input.split_first()?;
            *input = rest;
            let name = varint::take_bytes(input)?;
            schema.add(name, bits).then_some(())?;
        }
        let by = match order {
            0 => By::Position,
            1..=6 => By::Value(ItemType::ALL[order as usize - 1].0),
            _ => By::Attribute(usize::try_from(order.checked_sub(16)?).ok()?),
        };
        let fits = flags <= (UNIQUE | DESCENDING) && schema.set_order(by, flags & DESCENDING != 0);
        schema.is_unique = flags & UNIQUE != 0;
        (fits && input.is_empty()).then_some(schema)
    }
}

/// Returns true if an attribute may have this name: conditions can refer to it, and it does not clash with `hidden`.
fn is_name(name: &[u8]) -> bool {
    let is_sign = |sign: &u8| sign.is_ascii_alphanumeric() || b"_-.:".contains(sign);
    (1..=NAME_BYTES_MAX).contains(&name.len()) && name.iter().all(is_sign) && !name.eq_ignore_ascii_case(b"hidden")
}

const _: () = assert!(SUMMED_BITS_MAX <= 6, "a lane lies in one word");
