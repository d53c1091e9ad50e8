//! Strings that estimate a number of distinct elements.

pub(crate) mod count;
pub(crate) mod debug;

use crate::failure::Failure;
use keyspace::Tx;
use values::StringValue;
use values::hyperloglog::{Corrupt, HEAD_BYTES, HyperLogLog, SPARSE_BYTES_MAX};
use values::string::DIGITS_MAX;

/// Reads the HyperLogLog under `key`; `None` if it is absent.
fn read(tx: &mut Tx, key: &[u8]) -> Result<Option<HyperLogLog>, Failure> {
    let Some(text) = tx.string(key)? else { return Ok(None) };
    let bytes_count = check(text)?;
    // A string too long to be one is not copied.
    if bytes_count > SPARSE_BYTES_MAX {
        return Err(corrupt(Corrupt));
    }
    Ok(HyperLogLog::parse(text.to_vec()))
}

/// Returns its length, if it has a valid header.
fn check(text: StringValue<'_>) -> Result<usize, Failure> {
    let mut head = [0; HEAD_BYTES];
    let bytes_count = text.bytes_count();
    let there = bytes_count.min(HEAD_BYTES);
    match text {
        StringValue::Long(long) => head.copy_from_slice(&long.to_vec(0..HEAD_BYTES)),
        short => head[..there].copy_from_slice(&short.short(&mut [0; DIGITS_MAX]).expect("it is not long")[..there]),
    }
    match HyperLogLog::encoding_of(&head[..there], bytes_count) {
        Some(_) => Ok(bytes_count),
        None => Err(Failure::text("WRONGTYPE Key is not a valid HyperLogLog string value.")),
    }
}

fn corrupt(_: Corrupt) -> Failure {
    Failure::text("INVALIDOBJ Corrupted HLL object detected")
}

/// Replaces the string under `key`, which is `before`.
fn write(tx: &mut Tx, key: &[u8], before: Option<&HyperLogLog>, after: &HyperLogLog) -> Result<(), Failure> {
    let (old, new) = (before.map_or(&[][..], HyperLogLog::as_bytes), after.as_bytes());
    if old == new {
        return Ok(());
    }
    tx.need_room((new.len() + 3 * (key.len() + 64)) as u64)?;
    let mut text = tx.string_mut(key, keyspace::Absent::Create)?.expect("is to be made");
    if new.len() < old.len() {
        text.replace(new);
        return Ok(());
    }
    if old.is_empty() {
        text.append(new);
        return Ok(());
    }
    // Most is unchanged: only the header and some registers differ.
    for part in [0..HEAD_BYTES, HEAD_BYTES..new.len()] {
        let (is, was) = (&new[part.clone()], &old[part.start..part.end.min(old.len())]);
        let same_front = is.iter().zip(was).take_while(|(is, was)| is == was).count();
        let is_longer = is.len() > was.len();
        let same_back =
            if is_longer { 0 } else { is.iter().rev().zip(was.iter().rev()).take_while(|(is, was)| is == was).count() };
        if is_longer || same_front < is.len() {
            text.overwrite(part.start + same_front, &is[same_front..is.len() - same_back]);
        }
    }
    Ok(())
}
