//! The packed forms of a run of items: what a full leaf turns itself into. Pure functions over bytes.
//!
//! ```text
//!   | prefix length 1 | body length 1 | prefix | lengths      | parameters    | bit stream |
//!                       255: lengths             one byte each,  digits alone:   the bodies, first item first,
//!                       differ                   if they differ  base 8          lowest bit of a byte first
//!                                                (not digits)    slope 8, bits 1
//! ```
//!
//! Every item is the common *prefix* and a *body* of its own. Bodies are kept sign by sign in 8, 6 or 4 bits each
//! ([`Form::Plain`], [`Form::Sextets`], [`Form::Hex`], [`Form::UpperHex`]), or as integers ([`Form::Digits`]):
//!
//! ```text
//!   value of item i = base + floor(i * slope / 65,536) + residual i       residuals of `bits` bits each
//! ```
//!
//! - what fits a run, and how large it is: here
//! - a run that is no block of its own, for those who keep it beside other things: `alone`
//! - reading, searching and checking: `packed`
//! - values, their line and their spelling: `digits`; signs of 4 and 6 bits: `signs`; the stream itself: `bits`
//!
//! An item's bits lie at a fixed stride when lengths are equal; otherwise a sum over the lengths finds them. The
//! stream ends in the byte that holds its last bit; a reader loads what is left there byte by byte.

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

/// Longest item that is packed: lengths are kept in one byte.
pub(crate) const ITEM_BYTES_MAX: usize = 255;

/// Most item bytes of a packed run: 16 KiB and the item that reached beyond them.
pub(crate) const CONTENT_BYTES_MAX: usize = 16 * 1024 + ITEM_BYTES_MAX;

/// Shorter runs are not worth the look.
const ITEMS_MIN: usize = 8;

/// The body length that says that lengths differ.
const DIFFER: usize = 255;

/// Bytes before the prefix.
const HEAD_BYTES: usize = 2;

/// How the bodies are kept. The numbers are part of the block format.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// As they are: the prefix is all that is saved.
    Plain = 4,
    /// Decimal integers, as what they differ by from a straight line.
    Digits = 5,
    /// 4 bits a sign: `0-9a-f`.
    Hex = 6,
    /// 4 bits a sign: `0-9A-F`.
    UpperHex = 7,
    /// 6 bits a sign: `0-9A-Za-z-_`.
    Sextets = 8,
}

impl Form {
    /// Every form, in the order of their numbers.
    pub(crate) const ALL: [Form; 5] = [Form::Plain, Form::Digits, Form::Hex, Form::UpperHex, Form::Sextets];

    pub(crate) fn from_byte(byte: u8) -> Option<Form> {
        Form::ALL.into_iter().find(|form| *form as u8 == byte)
    }

    /// Bits of one sign of a body; integers have none.
    fn sign_bits(self) -> usize {
        match self {
            Form::Plain => 8,
            Form::Digits => 0,
            Form::Hex | Form::UpperHex => 4,
            Form::Sextets => 6,
        }
    }
}

/// How long the bodies are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bodies {
    /// All as long as this.
    Equal(usize),
    /// As a column of bytes says.
    Column,
    /// Canonical decimals: their values say it.
    Canonical,
}

/// How a run would be packed.
pub(crate) struct Plan {
    pub(crate) form: Form,
    /// Items it takes, from the run's first.
    pub(crate) count: usize,
    /// Exact bytes it needs.
    pub(crate) data_bytes: usize,
    prefix_bytes: usize,
    bodies: Bodies,
    /// Of [`Form::Digits`].
    values: Values,
}

impl Plan {
    /// A plan of one form for all of a run.
    fn of(form: Form, run: &View<'_>, prefix_bytes: usize, bodies: Bodies, values: Values) -> Plan {
        Plan { form, count: 0, data_bytes: 0, prefix_bytes, bodies, values }.taking(run)
    }

    /// The same prefix and parameters for this run, which has no item that the plan was not made for.
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

    /// Bytes that do not depend on the count.
    fn fixed_bytes(&self) -> usize {
        let parameters = if self.form == Form::Digits { Line::BYTES } else { 0 };
        HEAD_BYTES + self.prefix_bytes + parameters
    }

    /// Whether it takes eight items of the run, and saves a sixteenth of them and of their lengths.
    pub(crate) fn is_worth_it(&self, run: &View<'_>) -> bool {
        let taken = run.range(0, self.count);
        let column_bytes = if taken.common_length().is_some() { 0 } else { taken.count };
        let raw_bytes = taken.bytes.len() + column_bytes;
        self.count >= ITEMS_MIN && self.data_bytes + raw_bytes.div_ceil(16) <= raw_bytes
    }

    /// How many items of `run` fit with this plan's prefix and parameters.
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

/// The smallest packed form of `run`, or of as many items from its front as fit `data_bytes_max` and one block.
///
/// None if no form is worth it: it must save a sixteenth of the items' bytes and lengths, and take eight items. A
/// form counts only if it takes every item of the run; if not all fit, the one that is the smallest for all takes at
/// least what fits with the prefix and the parameters that hold for all. O(bytes), and quick to refuse what has no
/// form.
pub(crate) fn plan(run: &View<'_>, data_bytes_max: usize) -> Option<Plan> {
    smallest_within(run, data_bytes_max).filter(|plan| plan.is_worth_it(run))
}

/// As [`plan`], whether it is worth it or not.
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

/// A plan of as many items as fit, from one of more. Prefix and parameters hold for fewer; fewer may have better
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

/// The smallest form of all of a run; none if nothing is in common, neither prefix nor alphabet.
fn smallest(run: &View<'_>) -> Option<Plan> {
    candidates(run).into_iter().flatten().min_by_key(|plan| plan.data_bytes)
}

/// The forms that take all of a run and may be the smallest.
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

/// Bytes that all items begin with.
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

/// The items in order; `View::item` would sum lengths for each.
fn items<'a>(run: &View<'a>) -> impl Iterator<Item = &'a [u8]> {
    let run = *run;
    let mut rest = run.bytes;
    (0..run.count).map(move |index| {
        let (item, behind) = rest.split_at(run.length(index));
        rest = behind;
        item
    })
}

/// Writes the run that was planned for, or what `plan.count` takes of it, to the first `plan.data_bytes` of `out`.
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
