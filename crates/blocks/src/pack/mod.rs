//! The packed forms of a run of items, into which a full leaf is converted. Pure functions over bytes.
//!
//! ```text
//!   | prefix length 1 | body length 1 | prefix | lengths      | parameters    | bit stream |
//!                       255: lengths             one byte each,  digits alone:   the bodies, first item first,
//!                       differ                   if they differ  base 8          lowest bit of a byte first
//!                                                (not digits)    slope 8, bits 1
//! ```
//!
//! Every item is the common *prefix* and a *body* of its own. Bodies are kept character by character in 8, 6 or 4 bits
//! each ([`Form::Plain`], [`Form::Sextets`], [`Form::Hex`], [`Form::UpperHex`]), or as integers ([`Form::Digits`]):
//!
//! ```text
//!   value of item i = base + floor(i * slope / 65,536) + residual i       residuals of `bits` bits each
//! ```
//!
//! - choosing a form for a run, and its size: here
//! - a run outside a block, kept beside other data: `alone`
//! - reading, searching and checking: `packed`
//! - values, their line and their spelling: `digits`; characters of 4 and 6 bits: `signs`; the stream itself: `bits`
//!
//! An item's bits have a fixed stride when lengths are equal; otherwise a sum over the lengths finds them. The stream
//! ends in the byte with its last bit; a reader loads the last bytes one by one.

mod alone;
mod bits;
mod digits;
mod packed;
mod signs;
#[cfg(test)]
mod tests;

pub use alone::{PackedItems, UnpackedItems, pack_items};
use bits::Writer;
use digits::{Line, Values};
pub(crate) use packed::{Packed, Run};

use crate::leaf::ITEMS_MAX;
use crate::view::View;

/// Maximum length of a packed item: lengths are kept in one byte.
pub(crate) const ITEM_BYTES_MAX: usize = 255;

/// Maximum item bytes of a packed run: 16 KiB and the item that exceeds them.
pub(crate) const CONTENT_BYTES_MAX: usize = 16 * 1024 + ITEM_BYTES_MAX;

/// Shorter runs are not worth packing.
const ITEMS_MIN: usize = 8;

/// The body length that means that lengths differ.
const DIFFER: usize = 255;

/// Bytes before the prefix.
const HEAD_BYTES: usize = 2;

/// The encoding of the bodies. The numbers are part of the block format.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Unencoded: only the prefix is saved.
    Plain = 4,
    /// Decimal integers, as differences from a straight line.
    Digits = 5,
    /// 4 bits per character: `0-9a-f`.
    Hex = 6,
    /// 4 bits per character: `0-9A-F`.
    UpperHex = 7,
    /// 6 bits per character: `0-9A-Za-z-_`.
    Sextets = 8,
}

impl Form {
    /// Every form, in numeric order.
    pub(crate) const ALL: [Form; 5] = [Form::Plain, Form::Digits, Form::Hex, Form::UpperHex, Form::Sextets];

    pub(crate) fn from_byte(byte: u8) -> Option<Form> {
        Form::ALL.into_iter().find(|form| *form as u8 == byte)
    }

    /// Returns the bits per character of a body; integers have none.
    fn sign_bits(self) -> usize {
        match self {
            Form::Plain => 8,
            Form::Digits => 0,
            Form::Hex | Form::UpperHex => 4,
            Form::Sextets => 6,
        }
    }
}

/// The lengths of the bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bodies {
    /// All of this length.
    Equal(usize),
    /// In a column of bytes.
    Column,
    /// Canonical decimals: given by their values.
    Canonical,
}

/// A plan for packing a run.
pub(crate) struct Plan {
    pub(crate) form: Form,
    /// Number of items, from the run's first.
    pub(crate) count: usize,
    /// Exact bytes needed.
    pub(crate) data_bytes: usize,
    prefix_bytes: usize,
    bodies: Bodies,
    /// For [`Form::Digits`].
    values: Values,
}

impl Plan {
    /// Creates a plan of one form for a whole run.
    fn of(form: Form, run: &View<'_>, prefix_bytes: usize, bodies: Bodies, values: Values) -> Plan {
        Plan { form, count: 0, data_bytes: 0, prefix_bytes, bodies, values }.taking(run)
    }

    /// Applies the same prefix and parameters to this run, whose items were all in the plan.
    fn taking(mut self, run: &View<'_>) -> Plan {
        let body_bytes = run.bytes.len() - run.count * self.prefix_bytes;
        let stream_bits = if self.form == Form::Digits {
            run.count * self.values.line.bits
        } else {
            body_bytes * self.form.sign_bits()
        };
        let column_bytes = if self.bodies == Bodies::Column { run.count } else { 0 };
        self.count = run.count;
        self.data_bytes = self.fixed_bytes() + column_bytes + stream_bits.div_ceil(8);
        self
    }

    /// Returns the bytes that do not depend on the count.
    fn fixed_bytes(&self) -> usize {
        let parameters = if self.form == Form::Digits { Line::BYTES } else { 0 };
        HEAD_BYTES + self.prefix_bytes + parameters
    }

    /// Returns true if it packs eight items of the run, and saves a sixteenth of their bytes and lengths.
    pub(crate) fn is_worth_it(&self, run: &View<'_>) -> bool {
        let taken = run.range(0, self.count);
        let column_bytes = if taken.common_length().is_some() { 0 } else { taken.count };
        let raw_bytes = taken.bytes.len() + column_bytes;
        self.count >= ITEMS_MIN && self.data_bytes + raw_bytes.div_ceil(16) <= raw_bytes
    }

    /// Returns how many items of `run` fit with this plan's prefix and parameters.
    fn fits(&self, run: &View<'_>, data_bytes_max: usize) -> usize {
        let Some(room) = data_bytes_max.checked_sub(self.fixed_bytes()) else { return 0 };
        let stride = match self.bodies {
            _ if self.form == Form::Digits => self.values.line.bits,
            Bodies::Equal(length) => length * self.form.sign_bits(),
            _ => return self.fits_column(run, room),
        };
        (room * 8).checked_div(stride).unwrap_or(run.count).min(run.count)
    }

    fn fits_column(&self, run: &View<'_>, room: usize) -> usize {
        let mut stream_bits = 0;
        for index in 0..run.count {
            stream_bits += run.length(index).saturating_sub(self.prefix_bytes) * self.form.sign_bits();
            if index + 1 + stream_bits.div_ceil(8) > room {
                return index;
            }
        }
        run.count
    }
}

/// Returns the smallest packed form of `run`, or of as many leading items as fit `data_bytes_max` and one block.
///
/// `None` if no form is worth it: it must save a sixteenth of the items' bytes and lengths, and pack eight items. Only
/// forms that can encode every item of the run count; if not all fit, the smallest form for all is used for as many as
/// fit with the common prefix and parameters, or more. O(bytes), and quick to reject runs without a form.
pub(crate) fn plan(run: &View<'_>, data_bytes_max: usize) -> Option<Plan> {
    smallest_within(run, data_bytes_max).filter(|plan| plan.is_worth_it(run))
}

/// As [`plan`], but also returns a form that is not worth it.
pub(crate) fn smallest_within(run: &View<'_>, data_bytes_max: usize) -> Option<Plan> {
    if run.count < ITEMS_MIN || run.longest() > ITEM_BYTES_MAX {
        return None;
    }
    assert!(run.bytes.len() <= CONTENT_BYTES_MAX);
    let run = run.range(0, run.count.min(ITEMS_MAX));
    let whole = smallest(&run)?;
    let best = if whole.data_bytes <= data_bytes_max { whole } else { shortened(whole, &run, data_bytes_max) };
    Some(best)
}

/// Shortens a plan to the items that fit. Prefix and parameters stay valid for fewer items; fewer items may have better
/// ones, so that a few more fit in turn.
fn shortened(whole: Plan, run: &View<'_>, data_bytes_max: usize) -> Plan {
    let mut large = whole;
    loop {
        let (large_count, count) = (large.count, large.fits(run, data_bytes_max));
        let front = run.range(0, count);
        let same = large.taking(&front);
        let best = match smallest(&front) {
            Some(fresh) if fresh.data_bytes <= same.data_bytes => fresh,
            _ => same,
        };
        let more = best.fits(run, data_bytes_max).min(large_count - 1);
        let Some(larger) = (more > best.count).then(|| smallest(&run.range(0, more))).flatten() else { return best };
        if larger.data_bytes <= data_bytes_max {
            return larger;
        }
        if larger.fits(run, data_bytes_max) <= best.count {
            return best;
        }
        large = larger;
    }
}

/// Returns the smallest form for a whole run; `None` without a common prefix or alphabet.
fn smallest(run: &View<'_>) -> Option<Plan> {
    candidates(run).into_iter().flatten().min_by_key(|plan| plan.data_bytes)
}

/// Returns the forms that can encode a whole run and may be the smallest.
fn candidates(run: &View<'_>) -> [Option<Plan>; 3] {
    const NONE: [Option<Plan>; 3] = [const { None }; 3];
    if run.count == 0 {
        return NONE;
    }
    let prefix_bytes = common_prefix(run);
    let alphabets = signs::alphabets(run, prefix_bytes);
    if prefix_bytes == 0 && alphabets == 0 {
        return NONE;
    }
    let bodies = match run.common_length() {
        Some(length) if length - prefix_bytes < DIFFER => Bodies::Equal(length - prefix_bytes),
        _ => Bodies::Column,
    };
    let plain = Plan::of(Form::Plain, run, prefix_bytes, bodies, Values::default());
    let digits = (alphabets & signs::DECIMAL != 0).then(|| with_digits(run, prefix_bytes)).flatten();
    let signs = signs::best(alphabets).map(|form| Plan::of(form, run, prefix_bytes, bodies, Values::default()));
    [Some(plain), digits, signs]
}

fn with_digits(run: &View<'_>, prefix_bytes: usize) -> Option<Plan> {
    let (prefix_bytes, bodies) = match run.common_length() {
        Some(length) => (prefix_bytes, Bodies::Equal(length - prefix_bytes)),
        None => (digits::canonical_prefix(run, prefix_bytes)?, Bodies::Canonical),
    };
    if let Bodies::Equal(length) = bodies
        && !(1..=digits::LENGTH_MAX).contains(&length)
    {
        return None;
    }
    Some(Plan::of(Form::Digits, run, prefix_bytes, bodies, Values::of(run, prefix_bytes)))
}

/// Returns the length of the common prefix of all items.
fn common_prefix(run: &View<'_>) -> usize {
    let mut items = items(run);
    let mut prefix = items.next().unwrap_or(&[]);
    for item in items {
        if !item.starts_with(prefix) {
            let same = prefix.iter().zip(item).take_while(|(a, b)| a == b).count();
            prefix = &prefix[..same];
            if same == 0 {
                break;
            }
        }
    }
    prefix.len()
}

/// Iterates over the items in order; `View::item` would sum lengths for each.
fn items<'a>(run: &View<'a>) -> impl Iterator<Item = &'a [u8]> {
    let run = *run;
    let mut rest = run.bytes;
    (0..run.count).map(move |index| {
        let (item, behind) = rest.split_at(run.length(index));
        rest = behind;
        item
    })
}

/// Writes the planned run, or its first `plan.count` items, to the first `plan.data_bytes` of `out`.
pub(crate) fn write(plan: &Plan, run: &View<'_>, out: &mut [u8]) {
    let out = &mut out[..plan.data_bytes];
    let run = run.range(0, plan.count);
    let prefix_bytes = plan.prefix_bytes;
    let (head, mut rest) = out.split_at_mut(HEAD_BYTES + prefix_bytes);
    head[0] = prefix_bytes as u8;
    head[1] = if let Bodies::Equal(length) = plan.bodies { length as u8 } else { DIFFER as u8 };
    head[HEAD_BYTES..].copy_from_slice(&run.bytes[..prefix_bytes]);
    if plan.bodies == Bodies::Column {
        let (column, behind) = rest.split_at_mut(run.count);
        for (index, length) in column.iter_mut().enumerate() {
            *length = (run.length(index) - prefix_bytes) as u8;
        }
        rest = behind;
    }
    if plan.form == Form::Digits {
        plan.values.write(run.count, rest);
        return;
    }
    let mut writer = Writer::new(rest);
    if prefix_bytes == 0 {
        signs::put(&mut writer, plan.form, run.bytes, 0, run.bytes.len());
    } else {
        let mut at = 0;
        for index in 0..run.count {
            let end = at + run.length(index);
            signs::put(&mut writer, plan.form, run.bytes, at + prefix_bytes, end);
            at = end;
        }
    }
    writer.finish();
}
