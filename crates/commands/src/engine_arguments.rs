//! Arguments of commands that the engine runs itself, and timeouts of blocking commands.

use crate::double;
use crate::failure::Failure;
use crate::help::wrong_count;
use crate::parse;
use crate::queue::reserve;
use crate::spec::{TimeoutAt, streams_at};
use base::Ms;
use wire::Args;

/// Returns the timeout of a blocking command in milliseconds, rounded up; `None`: no timeout.
///
/// # Errors
/// If the argument is not a number, negative or too large.
pub fn timeout_ms(args: &Args<'_>, at: TimeoutAt) -> Result<Option<Ms>, Failure> {
    let argument = match at {
        TimeoutAt::First => args.get(1),
        TimeoutAt::Last => args.get(args.len() - 1),
        TimeoutAt::Block => return block_ms(args),
        TimeoutAt::LastBlock => return Ok(reserve::ReserveOptions::of(args)?.block_ms.filter(|ms| *ms > 0)),
    };
    let not_a_float = || Failure::text("ERR timeout is not a float or out of range");
    let seconds: Option<f64> = std::str::from_utf8(argument).ok().and_then(double::parse);
    let seconds = seconds.filter(|seconds| !seconds.is_nan()).ok_or_else(not_a_float)?;
    let ms = (seconds * 1000.0).ceil();
    if ms >= i64::MAX as f64 {
        return Err(Failure::text("ERR timeout is out of range"));
    }
    if ms < 0.0 {
        return Err(Failure::text("ERR timeout is negative"));
    }
    Ok((ms > 0.0).then_some(ms as Ms))
}

/// Returns the value of the last BLOCK before STREAMS; without one there is no timeout, and no waiting.
fn block_ms(args: &Args<'_>) -> Result<Option<Ms>, Failure> {
    let options = args.slice(1, streams_at(args).unwrap_or(args.len()));
    let mut timeout = None;
    let mut words = options.iter();
    while let Some(word) = words.next() {
        let values = if parse::is(word, "GROUP") { 2 } else { usize::from(!parse::is(word, "NOACK")) };
        let value = words.by_ref().take(values).last();
        timeout = value.filter(|_| parse::is(word, "BLOCK")).or(timeout);
    }
    let Some(argument) = timeout else { return Ok(None) };
    let not_an_int = Failure::text("ERR timeout is not an integer or out of range");
    let ms = values::string::parse_int(argument).ok_or(not_an_int)?;
    let ms = Ms::try_from(ms).map_err(|_| Failure::text("ERR timeout is negative"))?;
    Ok((ms > 0).then_some(ms))
}

/// CLIENT PAUSE: returns the duration in milliseconds, and whether only commands that write wait.
///
/// # Errors
/// If the time is not a number or negative, the mode is neither WRITE nor ALL, or there are more arguments.
pub fn pause_arguments(args: &Args<'_>) -> Result<(Ms, bool), Failure> {
    let writes_only = match args.len() {
        3 => false,
        4 if parse::is(args.get(3), "WRITE") => true,
        4 if parse::is(args.get(3), "ALL") => false,
        4 => return Err(Failure::text("ERR CLIENT PAUSE mode must be WRITE or ALL")),
        _ => return Err(wrong_count(args)),
    };
    let span =
        values::string::parse_int(args.get(2)).ok_or(Failure::text("ERR timeout is not an integer or out of range"))?;
    let span = Ms::try_from(span).map_err(|_| Failure::text("ERR timeout is negative"))?;
    Ok((span, writes_only))
}

/// WAITAOF: returns whether to wait for the local disk, whether for any replica, and the timeout in milliseconds;
/// `None`: no timeout.
///
/// # Errors
/// If one of them is not a number or out of range.
pub fn wait_arguments(args: &Args<'_>) -> Result<(bool, bool, Option<Ms>), Failure> {
    let local = parse::int_within(args.get(1), 0, 1)?;
    let replicas = parse::count(args.get(2))?;
    let timeout = values::string::parse_int(args.get(3));
    let timeout = timeout.ok_or(Failure::text("ERR timeout is not an integer or out of range"))?;
    let timeout = Ms::try_from(timeout).map_err(|_| Failure::text("ERR timeout is negative"))?;
    Ok((local == 1, replicas > 0, (timeout > 0).then_some(timeout)))
}

/// DEBUG SLEEP: returns the duration in milliseconds.
///
/// # Errors
/// If the argument is not a number of seconds.
pub fn sleep_ms(args: &Args<'_>) -> Result<Ms, Failure> {
    // Redis ignores what follows the number.
    let seconds: Option<f64> = std::str::from_utf8(args.get(2)).ok().and_then(|text| double::parse(text.trim()));
    let seconds = seconds.filter(|seconds| (0.0..1e9).contains(seconds)).ok_or(Failure::NotAFloat)?;
    Ok((seconds * 1000.0) as Ms)
}

/// SHUTDOWN: checks its options. All have the same effect here: the journal is synced and closed.
///
/// # Errors
/// For unknown or contradictory options, and for ABORT, since a shutdown never waits here.
pub fn shutdown_arguments(args: &Args<'_>) -> Result<(), Failure> {
    let words = args.from(1);
    let has = |word: &str| words.iter().any(|argument| parse::is(argument, word));
    let known =
        |argument: &[u8]| ["NOSAVE", "SAVE", "NOW", "FORCE", "ABORT"].iter().any(|word| parse::is(argument, word));
    let contradicts = (has("SAVE") && has("NOSAVE")) || (has("ABORT") && words.len() > 1);
    if contradicts || !words.iter().all(known) {
        return Err(Failure::Syntax);
    }
    if has("ABORT") {
        return Err(Failure::text("ERR No shutdown in progress."));
    }
    Ok(())
}
