//! The filters of CLIENT LIST and CLIENT KILL.

use crate::failure::Failure;
use crate::parse;
use crate::session::ClientFilter;
use wire::{Args, ArgsIter};

/// Parses `CLIENT LIST [TYPE type] [ID id ...]`.
pub(super) fn of_list(args: &Args<'_>) -> Result<ClientFilter, Failure> {
    let mut filter = ClientFilter::default();
    let mut words = args.from(2).iter();
    match words.next() {
        None => {}
        Some(word) if parse::is(word, "TYPE") && words.len() == 1 => {
            filter.kind = Some(kind(next(&mut words)?)?);
        }
        Some(word) if parse::is(word, "ID") && words.len() > 0 => {
            let id = |id| parse::int(id).map_err(|_| Failure::text("ERR Invalid client ID"));
            // No connection has a number below 1: it matches none.
            filter.ids = words.map(|word| Ok(u64::try_from(id(word)?).unwrap_or(0))).collect::<Result<_, Failure>>()?;
            filter.ids.sort_unstable();
        }
        Some(_) => return Err(Failure::Syntax),
    }
    Ok(filter)
}

/// Parses `CLIENT KILL filter value [filter value ...]`.
pub(super) fn of_kill(args: &Args<'_>) -> Result<ClientFilter, Failure> {
    let mut filter = ClientFilter { skip_me: true, ..ClientFilter::default() };
    let mut words = args.from(2).iter();
    while let Some(word) = words.next() {
        let value = next(&mut words)?;
        let text = || Some(String::from_utf8_lossy(value).into_owned());
        if parse::is(word, "ID") {
            filter.ids = vec![id(value)?];
        } else if parse::is(word, "TYPE") {
            filter.kind = Some(kind(value)?);
        } else if parse::is(word, "ADDR") {
            filter.address = text();
        } else if parse::is(word, "LADDR") {
            filter.local_address = text();
        } else if parse::is(word, "USER") {
            filter.user = Some(user(value)?);
        } else if parse::is(word, "MAXAGE") {
            filter.age_s_min = Some(age(value)?);
        } else if parse::is(word, "SKIPME") {
            filter.skip_me = yes_or_no(value)?;
        } else {
            return Err(Failure::Syntax);
        }
    }
    Ok(filter)
}

fn next<'a>(words: &mut ArgsIter<'a>) -> Result<&'a [u8], Failure> {
    words.next().ok_or(Failure::Syntax)
}

fn id(value: &[u8]) -> Result<u64, Failure> {
    let id = parse::int(value).ok().filter(|&id| id > 0);
    id.map(|id| id as u64).ok_or_else(|| Failure::text("ERR client-id should be greater than 0"))
}

fn kind(value: &[u8]) -> Result<String, Failure> {
    let kind = value.to_ascii_lowercase();
    match kind.as_slice() {
        b"normal" | b"master" | b"replica" | b"pubsub" => Ok(String::from_utf8_lossy(&kind).into_owned()),
        b"slave" => Ok("replica".to_owned()),
        _ => Err(Failure::text(format!("ERR Unknown client type '{}'", parse::repeated(value)))),
    }
}

/// There is only one user.
fn user(value: &[u8]) -> Result<String, Failure> {
    if value == b"default" {
        return Ok("default".to_owned());
    }
    Err(Failure::text(format!("ERR No such user '{}'", parse::repeated(value))))
}

fn age(value: &[u8]) -> Result<u64, Failure> {
    let age_s = parse::int(value).map_err(|_| Failure::text("ERR maxage is not an integer or out of range"))?;
    match u64::try_from(age_s) {
        Ok(age_s) if age_s > 0 => Ok(age_s),
        _ => Err(Failure::text("ERR maxage should be greater than 0")),
    }
}

fn yes_or_no(value: &[u8]) -> Result<bool, Failure> {
    let yes = parse::is(value, "YES");
    if yes || parse::is(value, "NO") { Ok(yes) } else { Err(Failure::Syntax) }
}
