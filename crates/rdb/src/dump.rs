//! Converts a value to a payload, in steps.
//!
//! ```text
//! small hash, sorted set, set of integers   one packed string
//! list                                      nodes of listpacks, about 8 KiB each
//! stream                                    nodes of listpacks, about 4 KiB each, then its groups
//! any other                                 element by element
//! ```
//!
//! The front of a payload, a count of nodes or the length of a packed string, is known last: so the elements are
//! collected first, and the checksum is computed as the payload is taken.

use crate::chunks::Chunks;
use crate::footer::Checksum;
use crate::lzf::{self, PIECE_BYTES_MAX};
use crate::number::{put_integer, put_length, put_packed_head};
use crate::packed::{listpack, put_intset};
use crate::stream::Writing;
use crate::tagged::put_items;
use crate::types;
use base::Ms;
use blocks::Direction;
use std::ops::ControlFlow;
use values::hash::Pair;
use values::long_string::Part;
use values::set::SetForm;
use values::{Hash, List, LongString, Set, Sorted, Tagged, Value};

/// Bytes written per step: about 50 µs, including packing.
pub(crate) const STEP_BYTES: usize = 16 << 10;
/// The cost of an element beyond its bytes, in bytes.
const ELEMENT_BYTES: usize = 64;
/// The size at which a list node is closed, in bytes.
const NODE_BYTES: usize = 8 << 10;
/// Small values above this are written element by element, in bytes: packing takes a single step.
const SMALL_BYTES_MAX: u64 = 64 << 10;
/// Strings from this length on are compressed, in bytes.
const PACKED_BYTES_MIN: usize = 21;
/// The version Redis 7.0 reads, and the version for field deadlines, which it does not.
pub(crate) const VERSION: u16 = 10;
const VERSION_TIMED: u16 = 12;

/// A dump in progress.
pub struct Dumping {
    rest: Rest,
    version: u16,
    /// The bytes before the body.
    head: Vec<u8>,
    body: Chunks,
    checksum: Option<Checksum>,
}

/// The remaining work.
enum Rest {
    /// A long string, compressed so far, and in full in case compression does not pay.
    Packing {
        text: LongString,
        part: Part,
    },
    /// The string uncompressed.
    Plain(Part),
    /// The next index, and the nodes so far.
    List {
        list: List,
        at: u64,
        nodes: u64,
    },
    Set {
        set: Set,
        at: u64,
    },
    /// A hash; deadlines are written relative to `first_due`, the earliest; `None`: the hash has none.
    Hash {
        hash: Hash,
        at: u64,
        first_due: Option<Ms>,
    },
    /// The members below a rank: the highest go first, so that readers insert at the front.
    Sorted {
        sorted: Sorted,
        below: u64,
    },
    Stream(Box<Writing>),
    Tagged {
        list: Tagged,
        at: u64,
    },
    Nothing,
}

impl Dumping {
    /// Starts to dump a value. O(1), or the size of a small value.
    pub fn new(value: Value) -> Self {
        let (mut head, mut body) = (Vec::new(), Chunks::default());
        let mut version = VERSION;
        let out = body.tail();
        let rest = match value {
            Value::Text(text) => {
                head.push(types::TEXT);
                let length = text.bytes_count();
                if length <= PIECE_BYTES_MAX {
                    put_text(out, &text.to_vec(0..length));
                    Rest::Nothing
                } else {
                    let part = text.part(0..length);
                    Rest::Packing { text, part }
                }
            }
            Value::List(list) => {
                head.push(types::LIST_OF_NODES);
                Rest::List { list, at: 0, nodes: 0 }
            }
            Value::Set(set) if set.form() == SetForm::Integers && set.content_bytes() <= SMALL_BYTES_MAX => {
                head.push(types::SET_INTSET);
                put_integers(out, &set);
                Rest::Nothing
            }
            Value::Set(set) => {
                head.push(types::SET);
                put_length(&mut head, set.len());
                Rest::Set { set, at: 0 }
            }
            Value::Hash(hash) => {
                let first_due = hash.next_due();
                let is_small = !hash.is_large() && hash.content_bytes() <= SMALL_BYTES_MAX;
                head.push(match (first_due, is_small) {
                    (None, true) => types::HASH_LISTPACK,
                    (None, false) => types::HASH,
                    (Some(_), true) => types::HASH_TIMED_LISTPACK,
                    (Some(_), false) => types::HASH_TIMED,
                });
                if let Some(first_due) = first_due {
                    version = VERSION_TIMED;
                    head.extend_from_slice(&first_due.to_le_bytes());
                }
                if is_small {
                    put_small_hash(out, &hash);
                    Rest::Nothing
                } else {
                    put_length(&mut head, hash.len());
                    Rest::Hash { hash, at: 0, first_due }
                }
            }
            Value::Sorted(sorted) if !sorted.is_large() && sorted.content_bytes() <= SMALL_BYTES_MAX => {
                head.push(types::SORTED_LISTPACK);
                put_small_sorted(out, &sorted);
                Rest::Nothing
            }
            Value::Sorted(sorted) => {
                head.push(types::SORTED);
                put_length(&mut head, sorted.len());
                let below = sorted.len();
                Rest::Sorted { sorted, below }
            }
            Value::Stream(stream) => {
                head.push(types::STREAM_2);
                Rest::Stream(Box::new(Writing::new(stream)))
            }
            // Other servers see a list of the ready messages.
            Value::Queue(queue) => {
                head.push(types::LIST_OF_NODES);
                Rest::List { list: queue.ready_list(), at: 0, nodes: 0 }
            }
            Value::Tagged(list) => {
                head.push(types::TAGGED);
                put_length(&mut head, list.list().len());
                Rest::Tagged { list, at: 0 }
            }
        };
        Self { rest, version, head, body, checksum: None }
    }

    /// Runs for about 50 µs. Returns true once the payload is complete.
    pub fn step(&mut self) -> bool {
        let (head, out) = (&mut self.head, self.body.tail());
        let is_over = match &mut self.rest {
            Rest::Packing { .. } => {
                self.pack_some();
                false
            }
            Rest::Plain(part) => {
                part.take(STEP_BYTES, |piece| out.extend_from_slice(piece));
                part.bytes_count() == 0
            }
            Rest::List { list, at, nodes } => {
                (*at, *nodes) = (put_node(out, list, *at), *nodes + 1);
                let is_over = *at == list.len();
                if is_over {
                    put_length(head, *nodes);
                }
                is_over
            }
            Rest::Set { set, at } => {
                *at += put_members(out, set, *at);
                *at == set.len()
            }
            Rest::Hash { hash, at, first_due } => {
                *at += put_fields(out, hash, *at, *first_due);
                *at == hash.len()
            }
            Rest::Sorted { sorted, below } => {
                *below -= put_scored(out, sorted, *below);
                *below == 0
            }
            Rest::Stream(writing) => writing.step(head, out),
            Rest::Tagged { list, at } => {
                *at = put_items(out, list, *at);
                *at == list.list().len()
            }
            Rest::Nothing => return true,
        };
        if is_over {
            self.rest = Rest::Nothing;
        }
        is_over
    }

    /// Compresses some of a long string. If that has not paid after the first piece, or at the end, it is written
    /// uncompressed.
    fn pack_some(&mut self) {
        let Rest::Packing { text, part } = &mut self.rest else { return };
        let length = text.bytes_count() as u64;
        let mut piece = Vec::with_capacity(2 * STEP_BYTES);
        part.take(STEP_BYTES, |bytes| piece.extend_from_slice(bytes));
        lzf::pack(&piece, self.body.tail());
        let (written, left) = (self.body.bytes_count(), part.bytes_count() as u64);
        let is_over = left == 0;
        if written + 16 > length - left {
            let part = text.part(0..length as usize);
            self.body = Chunks::default();
            put_length(&mut self.head, length);
            self.rest = Rest::Plain(part);
        } else if is_over {
            put_packed_head(&mut self.head, written, length);
            self.rest = Rest::Nothing;
        }
    }

    /// Returns the length of a complete payload, less what has been taken, in bytes.
    pub fn bytes_count(&self) -> u64 {
        let footer_bytes = if self.version == 0 { 0 } else { crate::footer::FOOTER_BYTES as u64 };
        self.head.len() as u64 + self.body.bytes_count() + footer_bytes
    }

    /// Returns the next bytes of a complete payload, about 32 KiB; `None` at the end.
    pub fn take(&mut self) -> Option<Vec<u8>> {
        assert!(matches!(self.rest, Rest::Nothing), "taken before it was whole");
        let checksum = self.checksum.get_or_insert_default();
        let next = if self.head.is_empty() { self.body.pop() } else { Some(std::mem::take(&mut self.head)) };
        if let Some(part) = &next {
            checksum.add(part);
            return next;
        }
        let version = std::mem::take(&mut self.version);
        (version != 0).then(|| std::mem::take(checksum).footer(version).to_vec())
    }
}

/// Appends a string in its shortest form.
pub(crate) fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    if put_integer(out, text) {
        return;
    }
    if (PACKED_BYTES_MIN..=PIECE_BYTES_MAX).contains(&text.len()) {
        let mut packed = Vec::with_capacity(text.len() + text.len() / 16);
        lzf::pack(text, &mut packed);
        // Redis compresses only if that saves four bytes.
        if packed.len() + 4 <= text.len() {
            put_packed_head(out, packed.len() as u64, text.len() as u64);
            out.extend_from_slice(&packed);
            return;
        }
    }
    put_length(out, text.len() as u64);
    out.extend_from_slice(text);
}

fn put_integers(out: &mut Vec<u8>, set: &Set) {
    let mut integers = Vec::with_capacity(set.len() as usize);
    set.walk(0, set.len(), |member| {
        integers.push(values::string::parse_int(member).expect("a set of integers"));
        ControlFlow::Continue(())
    });
    let mut packed = Vec::new();
    put_intset(&mut packed, &integers);
    put_text(out, &packed);
}

/// Fields with deadlines come first, the earliest first, and each has its deadline, or 0.
fn put_small_hash(out: &mut Vec<u8>, hash: &Hash) {
    let mut writer = listpack::Writer::new();
    if hash.next_due().is_none() {
        let _ = hash.walk(&mut |pair| {
            writer.push(pair.field);
            writer.push(pair.value);
            ControlFlow::Continue(())
        });
    } else {
        let mut fields = Vec::new();
        let _ = hash.walk(&mut |Pair { field, value, expires_at_ms }| {
            fields.push((expires_at_ms.unwrap_or(Ms::MAX), field.to_vec(), value.to_vec()));
            ControlFlow::Continue(())
        });
        fields.sort_by_key(|(at_ms, ..)| *at_ms);
        for (at_ms, field, value) in fields {
            writer.push(&field);
            writer.push(&value);
            writer.push_integer(if at_ms == Ms::MAX { 0 } else { at_ms as i64 });
        }
    }
    put_text(out, &writer.finish());
}

fn put_small_sorted(out: &mut Vec<u8>, sorted: &Sorted) {
    let mut writer = listpack::Writer::new();
    sorted.for_each(|score, member| {
        writer.push(member);
        if score.fract() == 0.0 && score.abs() < (1u64 << 53) as f64 {
            writer.push_integer(score as i64);
        } else {
            writer.push(format!("{score:e}").as_bytes());
        }
    });
    put_text(out, &writer.finish());
}

/// Appends a node of the items from `at` on. Returns the next index.
fn put_node(out: &mut Vec<u8>, list: &List, at: u64) -> u64 {
    let (mut writer, mut next) = (listpack::Writer::new(), at);
    let _ = list.walk(at, list.len() - at, Direction::Forward, &mut |item: &[u8]| {
        if !writer.is_empty() && writer.len() + item.len() + listpack::ENTRY_BYTES_MAX > NODE_BYTES {
            return ControlFlow::Break(());
        }
        writer.push(item);
        next += 1;
        ControlFlow::Continue(())
    });
    put_length(out, crate::feed::NODE_PACKED);
    put_text(out, &writer.finish());
    next
}

/// Counts what a step has written.
struct Step {
    elements: u64,
    bytes_left: usize,
}

impl Step {
    fn new() -> Self {
        Self { elements: 0, bytes_left: STEP_BYTES }
    }

    fn note(&mut self, bytes: usize) -> ControlFlow<()> {
        self.elements += 1;
        self.bytes_left = self.bytes_left.saturating_sub(bytes + ELEMENT_BYTES);
        if self.bytes_left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

fn put_members(out: &mut Vec<u8>, set: &Set, at: u64) -> u64 {
    let mut step = Step::new();
    set.walk(at, set.len() - at, |member| {
        put_text(out, member);
        step.note(member.len())
    });
    step.elements
}

fn put_fields(out: &mut Vec<u8>, hash: &Hash, at: u64, first_due: Option<Ms>) -> u64 {
    let mut step = Step::new();
    let _ = hash.walk_from(at, &mut |pair| {
        if let Some(first_due) = first_due {
            put_length(out, pair.expires_at_ms.map_or(0, |at_ms| at_ms - first_due + 1));
        }
        put_text(out, pair.field);
        put_text(out, pair.value);
        step.note(pair.field.len() + pair.value.len())
    });
    step.elements
}

fn put_scored(out: &mut Vec<u8>, sorted: &Sorted, below: u64) -> u64 {
    let mut step = Step::new();
    let _ = sorted.walk(0, below, Direction::Backward, &mut |score, member| {
        put_text(out, member);
        out.extend_from_slice(&score.to_le_bytes());
        step.note(member.len())
    });
    step.elements
}
