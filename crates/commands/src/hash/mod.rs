//! Hashes.

pub(crate) mod all;
pub(crate) mod count;
pub(crate) mod delete;
pub(crate) mod expire;
pub(crate) mod get;
pub(crate) mod life;
pub(crate) mod random;
pub(crate) mod scan;
pub(crate) mod set;
pub(crate) mod time_left;

use crate::prelude::*;
use base::Ms;
use parse::Unit;

/// The latest instant at which a field may expire, in milliseconds since the epoch: in the year 4199, as in Redis.
const FIELD_EXPIRES_MAX_MS: i64 = 0x3fff_ffff_ffff;

/// The error for an invalid field count.
const NO_COUNT: &str = "ERR Number of fields must be a positive integer";

/// Reads the fields of `FIELDS numfields field [field ...]` from argument `at` on; `no_count` is the error for an
/// invalid count.
fn fields<'a>(args: &Args<'a>, at: usize, no_count: &'static str) -> Result<Args<'a>, Failure> {
    if at >= args.len() || !parse::is(args.get(at), "FIELDS") {
        return Err(Failure::text("ERR Mandatory argument FIELDS is missing or not at the right position"));
    }
    if at + 1 >= args.len() {
        return Err(Failure::arity(args));
    }
    let count = parse::int_or(args.get(at + 1), 1, i64::MAX, no_count)?;
    if count as usize != args.len() - at - 2 {
        return Err(Failure::text("ERR The `numfields` parameter must match the number of arguments"));
    }
    Ok(args.from(at + 2))
}

/// Returns the instant of `argument`, relative to `base`; it may have passed.
fn instant(args: &Args, argument: &[u8], unit: Unit, base: Ms) -> Result<Ms, Failure> {
    let number = parse::int(argument)?;
    if number < 0 {
        return Err(Failure::text("ERR invalid expire time, must be >= 0"));
    }
    let at_ms = unit.ms(number).and_then(|ms| ms.checked_add(base as i64));
    let at_ms = at_ms.filter(|at_ms| *at_ms <= FIELD_EXPIRES_MAX_MS).ok_or_else(|| Failure::expire_time(args))?;
    Ok(at_ms as Ms)
}
