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
