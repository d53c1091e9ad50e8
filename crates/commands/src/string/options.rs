//! The options of SET and GETEX: one grammar, of which each command has its part.

use crate::prelude::*;
use parse::{Time, Unit};

/// What the options say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Options<'a> {
    /// XX: only if the key is there (true); NX: only if it is not (false).
    pub(super) only_if: Option<bool>,
    /// GET: reply the old text.
    pub(super) get: bool,
    /// What becomes of the deadline.
    pub(super) life: Life<'a>,
}

/// What becomes of a key's deadline.
#[derive(Clone, Copy, Debug)]
pub(super) enum Life<'a> {
    /// What the command does if not told otherwise.
    Default,
    /// KEEPTTL.
    Keep,
    /// PERSIST.
    Persist,
    /// EX, PX, EXAT, PXAT.
    Until(Time<'a>),
}

/// Reads the options of SET, from argument 3 on.
pub(super) fn of_set<'a>(args: &Args<'a>) -> Result<Options<'a>, Failure> {
    let mut options = Options { only_if: None, get: false, life: Life::Default };
    let mut at = 3;
    while at < args.len() {
        let word = args.get(at);
        if parse::is(word, "NX") && options.only_if != Some(true) {
            options.only_if = Some(false);
        } else if parse::is(word, "XX") && options.only_if != Some(false) {
            options.only_if = Some(true);
        } else if parse::is(word, "GET") {
            options.get = true;
        } else if parse::is(word, "KEEPTTL") && matches!(options.life, Life::Default | Life::Keep) {
            options.life = Life::Keep;
        } else {
            options.life = until(args, at, options.life)?;
            at += 1;
        }
        at += 1;
    }
    Ok(options)
}

/// Reads the options of GETEX, from argument 2 on.
pub(super) fn of_getex<'a>(args: &Args<'a>) -> Result<Life<'a>, Failure> {
    let mut life = Life::Default;
    let mut at = 2;
    while at < args.len() {
        if parse::is(args.get(at), "PERSIST") && matches!(life, Life::Default | Life::Persist) {
            life = Life::Persist;
        } else {
            life = until(args, at, life)?;
            at += 1;
        }
        at += 1;
    }
    Ok(life)
}

/// The time option at argument `at`. It may be given again, but not beside another.
fn until<'a>(args: &Args<'a>, at: usize, before: Life<'a>) -> Result<Life<'a>, Failure> {
    const WORDS: [(&str, Unit, bool); 4] = [
        ("EX", Unit::Seconds, true),
        ("PX", Unit::Milliseconds, true),
        ("EXAT", Unit::Seconds, false),
        ("PXAT", Unit::Milliseconds, false),
    ];
    let known = WORDS.iter().find(|(word, ..)| parse::is(args.get(at), word));
    let Some(&(_, unit, from_now)) = known.filter(|_| at + 1 < args.len()) else { return Err(Failure::Syntax) };
    match before {
        Life::Default => {}
        Life::Until(time) if time.unit == unit && time.from_now == from_now => {}
        _ => return Err(Failure::Syntax),
    }
    Ok(Life::Until(Time { argument: args.get(at + 1), unit, from_now }))
}
