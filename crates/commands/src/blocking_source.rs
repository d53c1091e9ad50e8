//! Finding what a blocking command takes from.

use crate::failure::Failure;
use crate::queue::as_list;
use keyspace::Tx;
use values::Collection;
use wire::Args;

/// The first of `keys` that holds a `K`. Another kind before it is an error when the client asks, and nothing to a
/// client that waits.
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

/// As [`first_filled`], of lists and of queues with something ready.
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
