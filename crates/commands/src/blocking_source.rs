//! Finds the source of a blocking command.

use crate::failure::Failure;
use crate::list::pop;
use keyspace::{Tx, WrongType};
use values::Collection;
use wire::Args;

/// Returns the first of `keys` that holds a `K`. A key of another type before it is an error for a new request, and
/// ignored for a waiting client.
pub(crate) fn first_filled<'a, K: Collection>(tx: &mut Tx, keys: Args<'a>) -> Result<&'a [u8], Failure> {
    first(tx, keys, |tx, key| Ok(tx.value::<K>(key)?.is_some()))
}

/// Like [`first_filled`], for lists and for queues with ready messages.
pub(crate) fn first_filled_list<'a>(tx: &mut Tx, keys: Args<'a>) -> Result<&'a [u8], Failure> {
    first(tx, keys, pop::is_filled)
}

fn first<'a>(
    tx: &mut Tx,
    keys: Args<'a>,
    is_filled: impl Fn(&mut Tx, &[u8]) -> Result<bool, WrongType>,
) -> Result<&'a [u8], Failure> {
    for key in keys {
        if !tx.may_use(key) {
            continue;
        }
        match is_filled(tx, key) {
            Ok(true) => return Ok(key),
            Ok(false) => {}
            Err(_) if tx.is_serving() => {}
            Err(wrong) => return Err(wrong.into()),
        }
    }
    Err(Failure::Nothing)
}
