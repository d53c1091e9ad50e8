//! Item options of a request: conditions, hidden or visible items, and how items are returned.

use super::fault;
use crate::prelude::*;
use values::string::parse_int;
use values::tagged::{Filter, Schema, Shown, Tagged, Term, Test};

/// A condition, independent of a schema.
pub(super) struct ItemCondition<'a> {
    name: &'a [u8],
    test: Test,
}

/// The options after the fixed arguments.
#[derive(Default)]
pub(super) struct TaggedOptions<'a> {
    pub(super) shown: Option<Shown>,
    pub(super) conditions: Vec<ItemCondition<'a>>,
    pub(super) is_backward: bool,
    pub(super) with_attributes: bool,
    pub(super) with_count: bool,
    pub(super) with_cursor: bool,
    pub(super) count: Option<u64>,
    pub(super) limit: Option<(u64, u64)>,
}

/// The options a command accepts.
#[derive(Clone, Copy, Default)]
pub(super) struct Takes {
    pub(super) shown: bool,
    pub(super) backward: bool,
    pub(super) attributes: bool,
    pub(super) totals: bool,
    pub(super) count: bool,
    pub(super) limit: bool,
}

impl<'a> TaggedOptions<'a> {
    /// Parses the options from argument `at` on.
    pub(super) fn of(args: &Args<'a>, mut at: usize, takes: Takes) -> Result<Self, Failure> {
        let mut asked = Self::default();
        while at < args.len() {
            let word = args.get(at);
            at += 1;
            match () {
                () if parse::is(word, "WHERE") => {
                    let from = at;
                    while at < args.len() && args.get(at).iter().any(|sign| b"=<>".contains(sign)) {
                        asked.conditions.push(ItemCondition::of(args.get(at))?);
                        at += 1;
                    }
                    if at == from {
                        return Err(fault::no_condition());
                    }
                }
                () if takes.shown && parse::is(word, "VISIBLE") => asked.shown = Some(Shown::Visible),
                () if takes.shown && parse::is(word, "HIDDEN") => asked.shown = Some(Shown::Hidden),
                () if takes.shown && parse::is(word, "ALL") => asked.shown = Some(Shown::All),
                () if takes.backward && parse::is(word, "REV") => asked.is_backward = true,
                () if takes.attributes && parse::is(word, "WITHATTRS") => asked.with_attributes = true,
                () if takes.totals && parse::is(word, "WITHCOUNT") => asked.with_count = true,
                () if takes.totals && !takes.limit && parse::is(word, "WITHCURSOR") => asked.with_cursor = true,
                () if takes.count && parse::is(word, "COUNT") && at < args.len() => {
                    asked.count = Some(parse::count(args.get(at))?);
                    at += 1;
                }
                () if takes.limit && parse::is(word, "LIMIT") && at + 1 < args.len() => {
                    asked.limit = Some((parse::count(args.get(at))?, parse::count(args.get(at + 1))?));
                    at += 2;
                }
                () => return Err(Failure::Syntax),
            }
        }
        Ok(asked)
    }

    /// Returns the filter for items of `list`, with `shown` unless the request says otherwise; `None` if nothing can
    /// match. `schema` is the list's schema, or a later one.
    pub(super) fn filter(&self, list: &Tagged, schema: &Schema, shown: Shown) -> Result<Option<Filter>, Failure> {
        let mut filter = Filter::of(self.shown.unwrap_or(shown));
        let known = list.schema().attributes().len();
        let mut is_possible = true;
        for ItemCondition { name, test } in &self.conditions {
            let attribute = schema.attribute(name).ok_or_else(|| fault::no_attribute(name))?;
            if attribute < known {
                filter.terms.push(Term { attribute, test: test.clone() });
            } else {
                // It was added later: all items have 0 so far.
                is_possible &= test.takes(0);
            }
        }
        Ok(is_possible.then_some(filter))
    }

    /// Returns true if no later schema is needed: all named attributes are in this one, and not all are to be returned.
    pub(super) fn is_enough(&self, schema: &Schema) -> bool {
        !self.with_attributes && self.conditions.iter().all(|condition| schema.attribute(condition.name).is_some())
    }
}

impl<'a> ItemCondition<'a> {
    fn of(word: &'a [u8]) -> Result<Self, Failure> {
        let at = word.iter().position(|sign| b"!=<>".contains(sign)).filter(|at| *at > 0);
        let (name, rest) = word.split_at(at.ok_or_else(fault::no_condition)?);
        let one = |digits: &[u8]| number(digits).ok_or_else(fault::no_condition);
        let several = |digits: &[u8]| digits.split(|sign| *sign == b'|').map(one).collect::<Result<Vec<_>, _>>();
        // Out of range, so nothing matches.
        let nothing = Test::Within(1, 0);
        let test = match rest {
            [b'!', b'=', numbers @ ..] => Test::None(several(numbers)?),
            [b'=', numbers @ ..] => Test::Any(several(numbers)?),
            [b'<', b'=', digits @ ..] => Test::Within(0, one(digits)?),
            [b'>', b'=', digits @ ..] => Test::Within(one(digits)?, u32::MAX),
            [b'<', digits @ ..] => one(digits)?.checked_sub(1).map_or(nothing, |most| Test::Within(0, most)),
            [b'>', digits @ ..] => one(digits)?.checked_add(1).map_or(nothing, |least| Test::Within(least, u32::MAX)),
            _ => return Err(fault::no_condition()),
        };
        Ok(Self { name, test })
    }
}

/// Parses an attribute's number.
pub(super) fn number(digits: &[u8]) -> Option<u32> {
    parse_int(digits).and_then(|number| u32::try_from(number).ok())
}

/// Parses `name=n`, an item's attribute.
pub(super) fn assignment(word: &[u8]) -> Result<(&[u8], u32), Failure> {
    let at = word.iter().position(|sign| *sign == b'=').ok_or_else(fault::no_assignment)?;
    let number = number(&word[at + 1..]).ok_or_else(fault::no_assignment)?;
    Ok((&word[..at], number))
}

/// Assigns the numbers in words to attributes.
pub(super) fn assign(attributes: &mut Vec<u32>, words: &[&[u8]], schema: &Schema) -> Result<(), Failure> {
    attributes.resize(schema.attributes().len(), 0);
    for word in words {
        let (name, number) = assignment(word)?;
        let attribute = schema.attribute(name).ok_or_else(|| fault::no_attribute(name))?;
        if number > schema.attributes()[attribute].max() {
            return Err(fault::too_large(schema, attribute));
        }
        attributes[attribute] = number;
    }
    Ok(())
}
