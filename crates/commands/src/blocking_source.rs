//! Finds the source of a blocking command.

use crate::failure::Failure;
use crate::queue::as_list;
use keyspace::Tx;
use values::Collection;
use wire::Args;

/// Returns the first of `keys` that holds a `K`. A key of another type before it is an error for a new request, and
/// ignored for a waiting client.
pub(crate) fn first_filled<'a, K: Collection>(tx: &mut Tx, keys: Args<'a>) -> Result<&'a [u8], Failure> {
    for key in keys {
        if !tx.may_use(key) {
            continue;
        }
        match tx.value::<K>(key).map(|value| value.is_some()) {
            Ok(true) => return Ok(key),
            Ok(false) => {}
            Err(_) if tx.is_serving() => {}
            Err(wrong) => return Err(wrong.into()),
        }
    }
    Err(Failure::Nothing)
}

/// Like [`first_filled`], for lists and for queues with ready messages.
pub(crate) fn first_filled_list<'a>(tx: &mut Tx, keys: Args<'a>) -> Result<&'a [u8], Failure> {
    for key in keys {
        if !tx.may_use(key) {
            continue;
        }
        match tx.list(key).map(|list| list.is_some()) {
            Ok(true) => return Ok(key),
            Ok(false) => {}
            Err(_) => match as_list::is_filled(tx, key) {
                Ok(true) => return Ok(key),
                Ok(false) => {}
                Err(_) if tx.is_serving() => {}
                Err(wrong) => return Err(wrong),
            },
        }
    }
    Err(Failure::Nothing)
}
