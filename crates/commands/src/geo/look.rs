//! GEOPOS GEODIST GEOHASH: return the locations of members.

use super::argument;
use crate::prelude::*;
use values::geo::{Cell, Coordinates, distance_m, geohash};

pub(crate) const COMMANDS: &[CommandSpec] = &[GEODIST, GEOHASH, GEOPOS];

const GEOPOS: CommandSpec = CommandSpec {
    name: "GEOPOS",
    syntax: "key [member [member ...]]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Geo,
    cost: "O(m*log(n)), m the members given, n those of the sorted set",
    since: "3.2.0",
    brief: "Returns the longitude and latitude of members.",
    answer: "array: a pair of doubles for each, null for one that is not there",
    run: Run::Local(|tx, args, reply| {
        for_each_place(tx, args, reply, |reply, place| match place {
            Some(place) => write_place(reply, place),
            None => reply.null_array(),
        })
    }),
};

const GEOHASH: CommandSpec = CommandSpec {
    name: "GEOHASH",
    syntax: "key [member [member ...]]",
    arity: Arity::AtLeast(2),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[],
    group: Group::Geo,
    cost: "O(m*log(n)), m the members given, n those of the sorted set",
    since: "3.2.0",
    brief: "Returns the geohashes of members, of eleven characters.",
    answer: "array: bulks, null for a member that is not there",
    run: Run::Local(|tx, args, reply| {
        for_each_place(tx, args, reply, |reply, place| match place {
            Some(place) => reply.bulk(&geohash(place)),
            None => reply.null(),
        })
    }),
};

const GEODIST: CommandSpec = CommandSpec {
    name: "GEODIST",
    syntax: "key member1 member2 [M | KM | FT | MI]",
    arity: Arity::AtLeast(4),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[Fact::Arguments(&[argument("3", "unit", "", "")])],
    group: Group::Geo,
    cost: "O(log(n)), n the members of the sorted set",
    since: "3.2.0",
    brief: "Returns the distance between two members.",
    answer: "bulk: the distance with four decimals, in meters if no unit is given; or null: one is not there",
    run: Run::Local(distance),
};

fn for_each_place(
    tx: &mut Tx,
    args: &Args,
    reply: &mut dyn Reply,
    mut write: impl FnMut(&mut dyn Reply, Option<Coordinates>),
) -> Outcome {
    let sorted = tx.sorted(args.get(1))?;
    reply.array(args.len() - 2);
    for member in args.from(2) {
        let score = sorted.and_then(|sorted| sorted.score(member));
        write(reply, score.map(|score| Cell::of_score(score).middle()));
    }
    Ok(())
}

fn distance(tx: &mut Tx, args: &Args, reply: &mut dyn Reply) -> Outcome {
    let unit_m = match args.len() {
        4 => 1.0,
        5 => argument::unit_m(args.get(4))?,
        _ => return Err(Failure::Syntax),
    };
    let sorted = tx.sorted(args.get(1))?;
    let place = |at| sorted.and_then(|sorted| sorted.score(args.get(at))).map(|score| Cell::of_score(score).middle());
    match (place(2), place(3)) {
        (Some(from), Some(to)) => write_distance(reply, distance_m(from, to) / unit_m),
        _ => reply.null(),
    }
    Ok(())
}

/// Replies with coordinates, with up to seventeen digits after the point.
pub(super) fn write_place(reply: &mut dyn Reply, Coordinates { longitude, latitude }: Coordinates) {
    reply.array(2);
    for degrees in [longitude, latitude] {
        let digits = format!("{degrees:.17}");
        reply.double_as(degrees, digits.trim_end_matches('0').trim_end_matches('.'));
    }
}

pub(super) fn write_distance(reply: &mut dyn Reply, distance: f64) {
    reply.bulk(format!("{distance:.4}").as_bytes());
}
