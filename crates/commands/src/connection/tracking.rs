//! CLIENT TRACKING CACHING GETREDIR TRACKINGINFO: client-side caching.

use crate::prelude::*;
use crate::session::{Session, TrackWhen, Tracking};
use base::cost;
use base::raw_text;

pub(crate) const COMMANDS: &[CommandSpec] = &[CACHING, GETREDIR, TRACKING, TRACKINGINFO];

const TRACKING: CommandSpec = CommandSpec {
    name: "CLIENT TRACKING",
    syntax: "<ON | OFF> [REDIRECT client-id] [PREFIX prefix [PREFIX prefix ...]] [BCAST] [OPTIN] [OPTOUT] [NOLOOP]",
    arity: Arity::AtLeast(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[Fact::Arguments(&[argument("0", "status", "", "")])],
    group: Group::Connection,
    cost: "O(n*log(n)), n the prefixes",
    since: "6.0.0",
    brief: "Sends invalidations of keys that the client has read, or of prefixes.",
    answer: "simple: OK",
    run: Run::Session(track),
};

const CACHING: CommandSpec = CommandSpec {
    name: "CLIENT CACHING",
    syntax: "<YES | NO>",
    arity: Arity::Exactly(3),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[Fact::Arguments(&[argument("0", "mode", "", "")])],
    group: Group::Connection,
    cost: "O(1)",
    since: "6.0.0",
    brief: "Sets whether the next request's reads are tracked.",
    answer: "simple: OK",
    run: Run::Session(caching),
};

const GETREDIR: CommandSpec = CommandSpec {
    name: "CLIENT GETREDIR",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[],
    group: Group::Connection,
    cost: "O(1)",
    since: "6.0.0",
    brief: "Returns the connection that receives this one's invalidations.",
    answer: "int: its number; 0: this one itself; -1: reads are not tracked",
    run: Run::Session(|session, _, reply| {
        reply.int(session.tracking().map_or(-1, |tracking| tracking.redirect as i64));
        Ok(())
    }),
};

const TRACKINGINFO: CommandSpec = CommandSpec {
    name: "CLIENT TRACKINGINFO",
    syntax: "",
    arity: Arity::Exactly(2),
    keys: &[],
    access: Access::None,
    flags: &[Flag::NoScript, Flag::Loading, Flag::Stale, Flag::OfClient],
    facts: &[],
    group: Group::Connection,
    cost: "O(1)",
    since: "6.2.0",
    brief: "Returns how the connection's reads are tracked.",
    answer: "map: flags, redirect, prefixes",
    run: Run::Session(info),
};

fn track(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let asked = parsed(session, args)?;
    if parse::is(args.get(2), "ON") {
        session.track(checked(asked, session.tracking())?);
    } else if parse::is(args.get(2), "OFF") {
        session.untrack();
    } else {
        return Err(Failure::Syntax);
    }
    reply.ok();
    Ok(())
}

/// The options after ON or OFF.
struct TrackingRequest {
    tracking: Tracking,
    opts_in: bool,
    opts_out: bool,
}

fn parsed(session: &dyn Session, args: &Args) -> Result<TrackingRequest, Failure> {
    let mut asked = TrackingRequest { tracking: Tracking::default(), opts_in: false, opts_out: false };
    let mut words = args.from(3).iter();
    while let Some(word) = words.next() {
        if parse::is(word, "BCAST") {
            asked.tracking.is_broadcast = true;
        } else if parse::is(word, "OPTIN") {
            asked.opts_in = true;
        } else if parse::is(word, "OPTOUT") {
            asked.opts_out = true;
        } else if parse::is(word, "NOLOOP") {
            asked.tracking.no_loop = true;
        } else if parse::is(word, "PREFIX") {
            asked.tracking.prefixes.push(words.next().ok_or(Failure::Syntax)?.to_vec());
        } else if parse::is(word, "REDIRECT") {
            let id = words.next().ok_or(Failure::Syntax)?;
            if asked.tracking.redirect != 0 {
                return Err(Failure::text("ERR A client can only redirect to a single other client"));
            }
            let id = u64::try_from(parse::int(id)?).ok().filter(|id| session.has_client(*id));
            asked.tracking.redirect =
                id.ok_or(Failure::text("ERR The client ID you want redirect to does not exist"))?;
        } else {
            return Err(Failure::Syntax);
        }
    }
    Ok(asked)
}

/// Validates a request against the current tracking.
fn checked(asked: TrackingRequest, before: Option<Tracking>) -> Result<Tracking, Failure> {
    let TrackingRequest { mut tracking, opts_in, opts_out } = asked;
    if !tracking.is_broadcast && !tracking.prefixes.is_empty() {
        return Err(Failure::text("ERR PREFIX option requires BCAST mode to be enabled"));
    }
    if before.as_ref().is_some_and(|before| before.is_broadcast != tracking.is_broadcast) {
        return Err(Failure::text(
            "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then re-enabling it with \
             a different mode.",
        ));
    }
    if tracking.is_broadcast && (opts_in || opts_out) {
        return Err(Failure::text("ERR OPTIN and OPTOUT are not compatible with BCAST"));
    }
    tracking.when = match (opts_in, opts_out) {
        (true, true) => return Err(Failure::text("ERR You can't specify both OPTIN mode and OPTOUT mode")),
        (true, false) => TrackWhen::OptIn,
        (false, true) => TrackWhen::OptOut,
        (false, false) => TrackWhen::Always,
    };
    let is_other = |before: TrackWhen| {
        [(TrackWhen::OptIn, TrackWhen::OptOut), (TrackWhen::OptOut, TrackWhen::OptIn)]
            .contains(&(before, tracking.when))
    };
    if before.as_ref().is_some_and(|before| is_other(before.when)) {
        return Err(Failure::text(
            "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then re-enabling it with \
             a different mode.",
        ));
    }
    let before = before.unwrap_or_default();
    check_prefixes(&tracking.prefixes, &before.prefixes)?;
    if tracking.is_broadcast && tracking.prefixes.is_empty() {
        tracking.prefixes.push(Vec::new());
    }
    tracking.prefixes.extend(before.prefixes);
    tracking.is_caching_said = before.is_caching_said;
    Ok(tracking)
}

/// Checks that no two prefixes of a connection overlap. The error names the first requested prefix that overlaps with
/// another, and the first that it overlaps with. O(n log n).
fn check_prefixes(asked: &[Vec<u8>], before: &[Vec<u8>]) -> Result<(), Failure> {
    let mut all: Vec<(&[u8], Option<usize>)> =
        asked.iter().enumerate().map(|(at, prefix)| (&prefix[..], Some(at))).collect();
    all.extend(before.iter().map(|prefix| (&prefix[..], None)));
    all.sort_unstable();
    // Strings with a prefix sort right after it, so any overlap is with a neighbour, or with the latest prefix that has
    // no shorter one.
    let mut first: Option<usize> = None;
    let mut note = |at: Option<usize>| first = first.into_iter().chain(at).min();
    let mut root = None::<(&[u8], Option<usize>)>;
    for (prefix, at) in all {
        match root {
            Some((shorter, of)) if starts_with(prefix, shorter) => {
                note(at);
                note(of);
            }
            _ => root = Some((prefix, at)),
        }
    }
    let Some(first) = first else { return Ok(()) };
    let prefix = &asked[first];
    let overlaps = |other: &&Vec<u8>| starts_with(prefix, other) || starts_with(other, prefix);
    let existing = before.iter().find(overlaps).map(|other| ("an existing", other));
    let (which, other) = existing
        .or_else(|| asked[first + 1..].iter().find(overlaps).map(|other| ("another provided", other)))
        .expect("it overlaps with one of them");
    let (one, other) = (raw_text::from_bytes(prefix), raw_text::from_bytes(other));
    Err(Failure::text(format!(
        "ERR Prefix '{one}' overlaps with {which} prefix '{other}'. Prefixes for a single client must not overlap."
    )))
}

fn starts_with(text: &[u8], prefix: &[u8]) -> bool {
    cost::count(cost::Work::Names, 1);
    text.starts_with(prefix)
}

fn caching(session: &mut dyn Session, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let Some(mut tracking) = session.tracking() else {
        return Err(Failure::text(
            "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled",
        ));
    };
    let (when, refused) = if parse::is(args.get(2), "YES") {
        (TrackWhen::OptIn, "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.")
    } else if parse::is(args.get(2), "NO") {
        (TrackWhen::OptOut, "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.")
    } else {
        return Err(Failure::Syntax);
    };
    if tracking.when != when {
        return Err(Failure::text(refused));
    }
    tracking.is_caching_said = true;
    session.track(tracking);
    reply.ok();
    Ok(())
}

fn info(session: &mut dyn Session, _: &Args, reply: &mut dyn Reply) -> Outcome {
    let tracking = session.tracking();
    let flags = tracking.as_ref().map_or_else(|| vec!["off"], flags);
    reply.map(3);
    reply.bulk(b"flags");
    reply.set(flags.len());
    flags.iter().for_each(|flag| reply.bulk(flag.as_bytes()));
    reply.bulk(b"redirect");
    reply.int(tracking.as_ref().map_or(-1, |tracking| tracking.redirect as i64));
    let prefixes = tracking.map_or_else(Vec::new, |tracking| tracking.prefixes);
    reply.bulk(b"prefixes");
    reply.array(prefixes.len());
    prefixes.iter().for_each(|prefix| reply.bulk(prefix));
    Ok(())
}

fn flags(tracking: &Tracking) -> Vec<&'static str> {
    let (opts_in, opts_out) = (tracking.when == TrackWhen::OptIn, tracking.when == TrackWhen::OptOut);
    let all = [
        (true, "on"),
        (tracking.is_broadcast, "bcast"),
        (opts_in, "optin"),
        (opts_in && tracking.is_caching_said, "caching-yes"),
        (opts_out, "optout"),
        (opts_out && tracking.is_caching_said, "caching-no"),
        (tracking.no_loop, "noloop"),
        (tracking.is_broken, "broken_redirect"),
    ];
    all.into_iter().filter_map(|(is, flag)| is.then_some(flag)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Checks as Redis does: each prefix with all existing ones, then with all after it.
    fn plainly_checked(asked: &[Vec<u8>], before: &[Vec<u8>]) -> Option<String> {
        let overlaps = |one: &[u8], other: &[u8]| one.starts_with(other) || other.starts_with(one);
        let text = |one: &[u8], which: &str, other: &[u8]| {
            let [one, other] = [one, other].map(raw_text::from_bytes);
            Some(format!(
                "ERR Prefix '{one}' overlaps with {which} prefix '{other}'. Prefixes for a single client must not overlap."
            ))
        };
        for (at, prefix) in asked.iter().enumerate() {
            if let Some(other) = before.iter().find(|other| overlaps(prefix, other)) {
                return text(prefix, "an existing", other);
            }
            if let Some(other) = asked[at + 1..].iter().find(|other| overlaps(prefix, other)) {
                return text(prefix, "another provided", other);
            }
        }
        None
    }

    fn prefixes(count: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
        proptest::collection::vec(proptest::collection::vec(proptest::sample::select(b"abc".to_vec()), 0..6), 0..count)
    }

    proptest! {
        #[test]
        fn the_reported_overlap_matches_redis(asked in prefixes(6), mut before in prefixes(6)) {
            before.sort();
            before.dedup_by(|next, last| next.starts_with(last));
            let found = check_prefixes(&asked, &before).err().map(|failure| failure.to_string());
            prop_assert_eq!(found, plainly_checked(&asked, &before));
        }
    }

    #[test]
    fn checking_a_prefix_compares_it_with_few_others() {
        let all: Vec<Vec<u8>> = (0..100_000).map(|nth| format!("{nth}:").into_bytes()).collect();
        let (asked, before) = all.split_at(50_000);
        cost::take();
        assert!(check_prefixes(asked, before).is_ok());
        let again = [asked, &[before[7].clone()]].concat();
        assert!(check_prefixes(&again, before).is_err());
        let compared = cost::take().names;
        assert!(compared <= 10 * all.len() as u64, "{compared} comparisons");
    }
}
