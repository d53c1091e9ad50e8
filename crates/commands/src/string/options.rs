//! The options of SET, MSETEX and GETEX: one grammar, each command using a part.

use super::compare::ValueCondition;
use crate::prelude::*;
use base::Ms;
use parse::{Time, Unit};

/// The parsed options.
#[derive(Clone, Copy, Debug)]
pub(super) struct SetOptions<'a> {
    /// The condition on the current value.
    pub(super) condition: Option<ValueCondition<'a>>,
    /// GET: reply with the old string.
    pub(super) get: bool,
    /// The effect on the deadline.
    pub(super) life: Life<'a>,
}

/// The effect on a key's deadline.
#[derive(Clone, Copy, Debug)]
pub(super) enum Life<'a> {
    /// The command's default.
    Default,
    /// KEEPTTL.
    Keep,
    /// PERSIST.
    Persist,
    /// EX, PX, EXAT, PXAT.
    Until(Time<'a>),
}

impl Life<'_> {
    /// Returns the deadline effect for a string being set; the instant may have passed.
    pub(super) fn expiry(self, now: Ms, args: &Args<'_>) -> Result<Expiry, Failure> {
        Ok(match self {
            Life::Until(time) => Expiry::At(time.instant(now, args)?),
            Life::Keep => Expiry::Keep,
            Life::Default | Life::Persist => Expiry::Clear,
        })
    }
}

/// Reads the options of SET, from argument 3 on.
pub(super) fn of_set<'a>(args: &Args<'a>) -> Result<SetOptions<'a>, Failure> {
    of_puts(args, 3, true)
}

/// Reads the options of MSETEX, from argument `at` on: those of SET that do not depend on one key's string.
pub(super) fn of_msetex<'a>(args: &Args<'a>, at: usize) -> Result<SetOptions<'a>, Failure> {
    of_puts(args, at, false)
}

fn of_puts<'a>(args: &Args<'a>, mut at: usize, looks: bool) -> Result<SetOptions<'a>, Failure> {
    let mut options = SetOptions { condition: None, get: false, life: Life::Default };
    while at < args.len() {
        let word = args.get(at);
        if let Some(condition) = ValueCondition::at(args, at).filter(|condition| looks || !condition.compares()) {
            if options.condition.replace(condition).is_some_and(|before| !before.goes_with(&condition)) {
                return Err(Failure::Syntax);
            }
            at += condition.words_count() - 1;
        } else if looks && parse::is(word, "GET") {
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

/// Reads the time option at argument `at`. It may be repeated, but not combined with another.
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
