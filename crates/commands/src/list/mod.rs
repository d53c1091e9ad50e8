//! Lists.

pub(crate) mod blocking;
pub(crate) mod edit;
pub(crate) mod find;
pub(crate) mod pop;
pub(crate) mod push;
pub(crate) mod range;
pub(crate) mod transfer;

use crate::prelude::*;
use blocks::End;
use keyspace::{ListLike, ListLikeMut, ListMut};
use values::List;

/// Why a queue is refused by commands that address or move single elements.
const KEEPS_POSITIONS: &str = "WRONGTYPE The list is a queue, whose messages keep their positions: take them with LPOP \
                               or Q.RESERVE, or turn it back into a list with Q.DROP";

/// Returns the list under `key`.
///
/// # Errors
/// If it holds another type, or a queue.
fn plain<'t>(tx: &'t mut Tx, key: &[u8]) -> Result<Option<&'t List>, Failure> {
    match tx.list_like(key)? {
        Some(ListLike::List(list)) => Ok(Some(list)),
        Some(ListLike::Queue(_)) => Err(Failure::text(KEEPS_POSITIONS)),
        None => Ok(None),
    }
}

/// Returns the list under `key`, if there is one, for changes.
///
/// # Errors
/// If it holds another type, or a queue.
fn plain_mut<'t, 'k>(tx: &'t mut Tx<'k>, key: &'t [u8]) -> Result<Option<ListMut<'t, 'k>>, Failure> {
    match tx.list_like_mut(key, Absent::Leave)? {
        Some(ListLikeMut::List(list)) => Ok(Some(list)),
        Some(ListLikeMut::Queue(_)) => Err(Failure::text(KEEPS_POSITIONS)),
        None => Ok(None),
    }
}

/// LEFT or RIGHT.
fn end(argument: &[u8]) -> Result<End, Failure> {
    if parse::is(argument, "LEFT") {
        Ok(End::Head)
    } else if parse::is(argument, "RIGHT") {
        Ok(End::Tail)
    } else {
        Err(Failure::Syntax)
    }
}
