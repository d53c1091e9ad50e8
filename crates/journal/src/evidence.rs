//! The search beyond a break: a mark there may prove that more was synced than can be read.
//!
//! It goes byte by byte through bytes that may be client data: a torn frame, or earlier contents of a recycled segment.
//! So a mark counts only if it was sealed for this history and stands where such a mark can stand. Cheap checks come
//! first, so that no input makes the search slow.

use crate::format::{
    Form, HEAD_BYTES, History, Kind, MARK_BYTES, RECORD_MAGIC, RECORD_MAGIC_AT, Record, u32_at, u64_at,
};
use base::Position;
use memchr::memmem;
use std::ops::RangeInclusive;

/// A mark that proves how far the journal was synced.
pub(crate) struct Evidence {
    pub(crate) offset: usize,
    pub(crate) synced: Position,
}

/// A search for a mark of segment `number`, in one of the forms and histories, that proves more synced than `position`.
pub(crate) struct Search<'a> {
    pub(crate) number: u32,
    pub(crate) forms: &'a [Form],
    pub(crate) histories: RangeInclusive<History>,
    pub(crate) position: Position,
    /// A position, and its offset in this file if known: frames take as many bytes of positions as of files.
    pub(crate) begun: Option<(Position, usize)>,
}

impl Search<'_> {
    /// Returns true if a mark at `offset` can stand at `position`.
    fn is_plausible(&self, position: Position, offset: usize) -> bool {
        let (least, most) = match self.begun {
            Some((begin, at)) => (begin, begin.saturating_add(offset.saturating_sub(at) as u64)),
            None => (self.position, Position::MAX),
        };
        (least..=most).contains(&position)
    }

    fn counts(&self, record: &Record<'_>) -> Option<Position> {
        let is_of_now = record.head.segment == self.number && self.histories.contains(&record.head.history);
        let is_plausible = |synced: &Position| *synced > self.position && *synced <= record.head.position;
        record.synced().filter(|synced| is_of_now && is_plausible(synced))
    }
}

/// Searches `bytes` from `from` on. Linear: trusts no length field found there.
pub(crate) fn evidence(bytes: &[u8], from: usize, search: &Search<'_>) -> Option<Evidence> {
    heads(bytes, from).find_map(|(offset, head)| {
        let is_mark = Kind::of(head[11]).is_some_and(|kind| kind != Kind::Frame);
        let looks = is_mark && u32_at(head, 4) as usize == MARK_BYTES - HEAD_BYTES && u32_at(head, 12) == search.number;
        if !looks || !search.is_plausible(u64_at(head, 24), offset) {
            return None;
        }
        let mark = bytes.get(offset..offset + MARK_BYTES)?;
        let synced = search.forms.iter().find_map(|form| search.counts(&Record::read(mark, form).ok()?))?;
        Some(Evidence { offset, synced })
    })
}

/// Returns true if `bytes` contain the head of a record of segment `number` in one of the forms, whatever its payload.
pub(crate) fn has_record_of(bytes: &[u8], number: u32, forms: &[Form]) -> bool {
    heads(bytes, 0).any(|(_, head)| {
        let looks = Kind::of(head[11]).is_some() && u32_at(head, 12) == number;
        looks && forms.iter().any(|form| form.history_of(head).is_some())
    })
}

/// Returns the places from `from` on that have the record magic and enough bytes for a head.
fn heads(bytes: &[u8], from: usize) -> impl Iterator<Item = (usize, &[u8; HEAD_BYTES])> {
    let begin = bytes.len().min(from + RECORD_MAGIC_AT);
    memmem::find_iter(&bytes[begin..], &RECORD_MAGIC).filter_map(move |found| {
        let offset = begin + found - RECORD_MAGIC_AT;
        Some((offset, bytes[offset..].first_chunk()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{RecordHead, encode_mark};
    use crate::seal::Seal;

    const NOW: History = History(3 << 40);
    const BEGIN: Position = 5000;
    const AT: usize = 100;

    fn seal() -> Seal {
        Seal::new([7; 16])
    }

    /// A mark of segment 9, 300 bytes after the break; frames of 200 bytes may be between them.
    fn mark(seal: &Seal, segment: u32, history: History, position: Position, synced: Position) -> Vec<u8> {
        let head = RecordHead { kind: Kind::Mark, payload_bytes: 8, segment, history, position, time_ms: 0 };
        [&[b'b'; AT + 300][..], &encode_mark(seal, head, synced), &[b'o'; 77]].concat()
    }

    fn found(bytes: &[u8], form: Form) -> Option<Position> {
        let (forms, begun) = (&[form], Some((BEGIN, AT)));
        let search = Search { number: 9, forms, histories: NOW..=NOW, position: BEGIN, begun };
        evidence(bytes, AT, &search).map(|found| found.synced)
    }

    #[test]
    fn only_a_mark_with_valid_seal_and_plausible_position_counts() {
        let sealed = Form::Sealed(seal(), NOW);
        let later = History(NOW.0 + 1);
        let own = |segment, history, position, synced| mark(&seal(), segment, history, position, synced);
        assert_eq!(found(&own(9, NOW, BEGIN + 200, BEGIN + 1), sealed), Some(BEGIN + 1));
        assert_eq!(found(&own(9, NOW, BEGIN + 300, BEGIN + 300), sealed), Some(BEGIN + 300));
        for (what, bytes) in [
            ("another key's", mark(&Seal::new([8; 16]), 9, NOW, BEGIN + 200, BEGIN + 100)),
            ("of another segment", own(8, NOW, BEGIN + 200, BEGIN + 100)),
            ("of another history", own(9, later, BEGIN + 200, BEGIN + 100)),
            ("further than frames can reach", own(9, NOW, BEGIN + 301, BEGIN + 100)),
            ("before the break", own(9, NOW, BEGIN - 1, BEGIN - 1)),
            ("beyond itself", own(9, NOW, BEGIN + 200, BEGIN + 201)),
            ("no news", own(9, NOW, BEGIN + 200, BEGIN)),
        ] {
            assert_eq!(found(&bytes, sealed), None, "{what}");
            assert_eq!(found(&bytes, Form::Plain), None, "{what}, as version 1");
        }
    }

    #[test]
    fn a_mark_with_a_flipped_bit_is_no_evidence() {
        let mut bytes = mark(&seal(), 9, NOW, BEGIN + 200, BEGIN + 100);
        for bit in (AT + 300) * 8..(AT + 300 + MARK_BYTES) * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(found(&bytes, Form::Sealed(seal(), NOW)), None, "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn a_head_counts_as_a_record_without_its_payload() {
        let bytes = mark(&seal(), 9, NOW, BEGIN + 200, BEGIN + 100);
        let has = |bytes: &[u8], number, key| has_record_of(bytes, number, &[Form::Sealed(Seal::new(key), NOW)]);
        assert!(has(&bytes[..AT + 300 + HEAD_BYTES], 9, [7; 16]));
        assert!(!has(&bytes[..AT + 300 + HEAD_BYTES - 1], 9, [7; 16]));
        assert!(!has(&bytes, 8, [7; 16]) && !has(&bytes, 9, [8; 16]));
        assert!(has_record_of(&bytes, 9, &[Form::Plain]));
    }
}
