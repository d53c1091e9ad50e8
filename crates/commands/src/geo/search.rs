//! GEOSEARCH, GEOSEARCHSTORE, and the older GEORADIUS, GEORADIUSBYMEMBER and their _RO forms: return, or store, members
//! nearby.
//!
//! ```text
//! few members to check   under the locks
//! many, returned         on a clone, in steps as the reply is sent
//! many, stored           on a clone without the locks, before the command runs (again): see `Tx::compute`
//! ```

use super::argument;
use super::look::{write_distance, write_place};
use super::walk::{GeoMatch, GeoQuery, GeoWalk};
use crate::prelude::*;
use crate::sorted::range::put_result;
use base::raw_text;
use blocks::Direction;
use keyspace::{Computation, Pin, Whole};
use values::geo::{Area, Cell, Coordinates, GeoShape};
use values::{Sorted, Value, limits};
use wire::{More, SOURCE_STEP_BYTES, Source};

pub(crate) const COMMANDS: &[CommandSpec] =
    &[GEORADIUS, GEORADIUSBYMEMBER, GEORADIUSBYMEMBER_RO, GEORADIUS_RO, GEOSEARCH, GEOSEARCHSTORE];

const GEOSEARCH: CommandSpec = CommandSpec {
    name: "GEOSEARCH",
    syntax: "key <FROMMEMBER member | FROMLONLAT longitude latitude> <BYRADIUS radius <M | KM | FT | MI> | \
             BYBOX width height <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]] [WITHCOORD] [WITHDIST] [WITHHASH]",
    arity: Arity::AtLeast(7),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[
        Fact::History(&[("7.0.0", "Units may be written in capitals.")]),
        Fact::Arguments(&[
            argument("1", "from", "", ""),
            argument("2", "by", "", ""),
            argument("2.0", "circle", "", ""),
            argument("2.0.1", "unit", "", ""),
            argument("2.1", "box", "", ""),
            argument("3", "order", "", ""),
            argument("4", "count", "", ""),
        ]),
    ],
    group: Group::Geo,
    cost: "O(log(n)+m), n the members of the sorted set, m those in cells that the area reaches into",
    since: "6.2.0",
    brief: "Returns the members within a circle or a rectangle.",
    answer: "array: members; with WITHDIST, WITHHASH or WITHCOORD arrays of the member and these",
    run: Run::Local(|tx, args, reply| search(tx, args, reply, GeoCommand::Search)),
};

const GEOSEARCHSTORE: CommandSpec = CommandSpec {
    name: "GEOSEARCHSTORE",
    syntax: "destination source <FROMMEMBER member | FROMLONLAT longitude latitude> <BYRADIUS radius \
             <M | KM | FT | MI> | BYBOX width height <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]] [STOREDIST]",
    arity: Arity::AtLeast(8),
    keys: &[KeySpec::one(1, "OW UPDATE"), KeySpec::one(2, "RO ACCESS")],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[
        Fact::History(&[("7.0.0", "Units may be written in capitals.")]),
        Fact::Arguments(&[
            argument("2", "from", "", ""),
            argument("3", "by", "", ""),
            argument("3.0", "circle", "", ""),
            argument("3.0.1", "unit", "", ""),
            argument("3.1", "box", "", ""),
            argument("4", "order", "", ""),
            argument("5", "count", "", ""),
        ]),
        Fact::Events(&[EventRule { instead_of: "restore", events: &[(Classes::SORTED, "geosearchstore")] }]),
    ],
    group: Group::Geo,
    cost: "O(log(n)+m*log(m)), n the members of the sorted set, m those in cells that the area reaches into",
    since: "6.2.0",
    brief: "Stores the members within a circle or a rectangle under another key.",
    answer: "int: members stored; 0: the key is removed",
    run: Run::Local(|tx, args, reply| search(tx, args, reply, GeoCommand::SearchStore)),
};

const GEORADIUS: CommandSpec = CommandSpec {
    name: "GEORADIUS",
    syntax: "key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] \
             [ASC | DESC] [STORE key | STOREDIST key]",
    arity: Arity::AtLeast(6),
    keys: &[KeySpec::one(1, "RO ACCESS"), stored("STORE", 6), stored("STOREDIST", 6)],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[
        Fact::History(&[("6.2.0", "Takes `ANY` behind `COUNT`."), ("7.0.0", "Units may be written in capitals.")]),
        Fact::Deprecated { since: "6.2.0", replaced_by: "`GEOSEARCH` and `GEOSEARCHSTORE` with `BYRADIUS`" },
        Fact::Arguments(&[
            argument("4", "unit", "", ""),
            argument("8", "count", "", ""),
            argument("8.1", "", "", "6.2.0"),
            argument("9", "order", "", ""),
            argument("10", "store", "", ""),
        ]),
        Fact::Events(&[EventRule { instead_of: "restore", events: &[(Classes::SORTED, "georadiusstore")] }]),
    ],
    group: Group::Geo,
    cost: "O(log(n)+m), n the members of the sorted set, m those in cells that the area reaches into",
    since: "3.2.0",
    brief: "Returns or stores the members within a circle.",
    answer: "array: as of GEOSEARCH; with STORE or STOREDIST int: as of GEOSEARCHSTORE",
    run: Run::Local(|tx, args, reply| search(tx, args, reply, GeoCommand::Radius { by_member: false, stores: true })),
};

const GEORADIUS_RO: CommandSpec = CommandSpec {
    name: "GEORADIUS_RO",
    syntax: "key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] \
             [ASC | DESC]",
    arity: Arity::AtLeast(6),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[
        Fact::History(&[("6.2.0", "Takes `ANY` behind `COUNT`.")]),
        Fact::Deprecated { since: "6.2.0", replaced_by: "`GEOSEARCH` with `BYRADIUS`" },
        Fact::Arguments(&[
            argument("4", "unit", "", ""),
            argument("8", "count", "", ""),
            argument("8.1", "", "", "6.2.0"),
            argument("9", "order", "", ""),
        ]),
    ],
    group: Group::Geo,
    cost: "O(log(n)+m), n the members of the sorted set, m those in cells that the area reaches into",
    since: "3.2.10",
    brief: "Returns the members within a circle.",
    answer: "array: as of GEOSEARCH",
    run: Run::Local(|tx, args, reply| search(tx, args, reply, GeoCommand::Radius { by_member: false, stores: false })),
};

const GEORADIUSBYMEMBER: CommandSpec = CommandSpec {
    name: "GEORADIUSBYMEMBER",
    syntax: "key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC] \
             [STORE key | STOREDIST key]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::one(1, "RO ACCESS"), stored("STORE", 5), stored("STOREDIST", 5)],
    access: Access::Write { grows: true },
    flags: &[],
    facts: &[
        Fact::History(&[("7.0.0", "Units may be written in capitals.")]),
        Fact::Deprecated {
            since: "6.2.0",
            replaced_by: "`GEOSEARCH` and `GEOSEARCHSTORE` with `BYRADIUS` and `FROMMEMBER`",
        },
        Fact::Arguments(&[
            argument("3", "unit", "", ""),
            argument("7", "count", "", ""),
            argument("8", "order", "", ""),
            argument("9", "store", "", ""),
        ]),
        Fact::Events(&[EventRule { instead_of: "restore", events: &[(Classes::SORTED, "georadiusstore")] }]),
    ],
    group: Group::Geo,
    cost: "O(log(n)+m), n the members of the sorted set, m those in cells that the area reaches into",
    since: "3.2.0",
    brief: "Returns or stores the members within a circle around a member.",
    answer: "array: as of GEOSEARCH; with STORE or STOREDIST int: as of GEOSEARCHSTORE",
    run: Run::Local(|tx, args, reply| search(tx, args, reply, GeoCommand::Radius { by_member: true, stores: true })),
};

const GEORADIUSBYMEMBER_RO: CommandSpec = CommandSpec {
    name: "GEORADIUSBYMEMBER_RO",
    syntax: "key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC | DESC]",
    arity: Arity::AtLeast(5),
    keys: &[KeySpec::one(1, "RO ACCESS")],
    access: Access::Read,
    flags: &[],
    facts: &[
        Fact::Deprecated { since: "6.2.0", replaced_by: "`GEOSEARCH` with `BYRADIUS` and `FROMMEMBER`" },
        Fact::Arguments(&[
            argument("3", "unit", "", ""),
            argument("7", "count", "", ""),
            argument("8", "order", "", ""),
        ]),
    ],
    group: Group::Geo,
    cost: "O(log(n)+m), n the members of the sorted set, m those in cells that the area reaches into",
    since: "3.2.10",
    brief: "Returns the members within a circle around a member.",
    answer: "array: as of GEOSEARCH",
    run: Run::Local(|tx, args, reply| search(tx, args, reply, GeoCommand::Radius { by_member: true, stores: false })),
};

/// Returns the spec of the key after an option that names the destination.
const fn stored(word: &'static str, from: usize) -> KeySpec {
    let counts = &[("COUNT", 1), ("STORE", 1), ("STOREDIST", 1)];
    let begin = Begin::Option { word, from, counts, is_reported: true };
    KeySpec::found(begin, Find::Range { last: 0, step: 1 }, "OW UPDATE")
}

/// The command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GeoCommand {
    Search,
    SearchStore,
    Radius { by_member: bool, stores: bool },
}

/// The fields returned beside a member.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Beside {
    distance: bool,
    hash: bool,
    place: bool,
}

/// The destination, and whether distances become scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Store<'a> {
    key: &'a [u8],
    distances: bool,
}

/// A parsed request.
struct GeoRequest<'a> {
    center: Option<Coordinates>,
    /// A shape around a center.
    around: Option<Area>,
    /// True if the center is a member, but there is no such sorted set.
    is_from_member: bool,
    beside: Beside,
    order: Option<Direction>,
    count: Option<u64>,
    any: bool,
    store: Option<Store<'a>>,
}

const NOWHERE: Coordinates = Coordinates { longitude: 0.0, latitude: 0.0 };

impl<'a> GeoRequest<'a> {
    fn of(sorted: Option<&Sorted>, args: &Args<'a>, verb: GeoCommand) -> Result<Self, Failure> {
        let mut asked = Self {
            center: None,
            around: None,
            is_from_member: false,
            beside: Beside::default(),
            order: None,
            count: None,
            any: false,
            store: None,
        };
        let from = match verb {
            GeoCommand::Search => 2,
            GeoCommand::SearchStore => {
                asked.store = Some(Store { key: args.get(1), distances: false });
                3
            }
            GeoCommand::Radius { by_member: false, .. } => {
                asked.center = Some(argument::place(args, 2)?);
                asked.around = Some(argument::circle(NOWHERE, args, 4)?);
                6
            }
            GeoCommand::Radius { by_member: true, .. } => {
                if sorted.is_some() {
                    asked.read_member(sorted, args.get(2))?;
                    asked.around = Some(argument::circle(NOWHERE, args, 3)?);
                }
                5
            }
        };
        let mut at = from;
        while at < args.len() {
            at += asked.read_option(sorted, args, at, verb)?;
        }
        asked.check(args, verb)?;
        Ok(asked)
    }

    fn read_member(&mut self, sorted: Option<&Sorted>, member: &[u8]) -> Result<(), Failure> {
        self.is_from_member = true;
        if let Some(sorted) = sorted {
            let score = sorted.score(member).ok_or(Failure::text("ERR could not decode requested zset member"))?;
            self.center = Some(Cell::of_score(score).middle());
        }
        Ok(())
    }

    /// Reads the option at `at`. Returns how many arguments it takes.
    fn read_option(
        &mut self,
        sorted: Option<&Sorted>,
        args: &Args<'a>,
        at: usize,
        verb: GeoCommand,
    ) -> Result<usize, Failure> {
        let (word, left) = (args.get(at), args.len() - at - 1);
        let is_search = matches!(verb, GeoCommand::Search | GeoCommand::SearchStore);
        let stores = matches!(verb, GeoCommand::Radius { stores: true, .. });
        let is = |name| parse::is(word, name);
        Ok(match () {
            () if is("WITHDIST") => set(&mut self.beside.distance),
            () if is("WITHHASH") => set(&mut self.beside.hash),
            () if is("WITHCOORD") => set(&mut self.beside.place),
            () if is("ANY") => set(&mut self.any),
            () if is("ASC") => {
                self.order = Some(Direction::Forward);
                1
            }
            () if is("DESC") => {
                self.order = Some(Direction::Backward);
                1
            }
            () if is("COUNT") && left >= 1 => {
                let count = parse::int(args.get(at + 1))?;
                let count = u64::try_from(count).ok().filter(|count| *count > 0);
                self.count = Some(count.ok_or(Failure::text("ERR COUNT must be > 0"))?);
                2
            }
            () if stores && left >= 1 && (is("STORE") || is("STOREDIST")) => {
                self.store = Some(Store { key: args.get(at + 1), distances: is("STOREDIST") });
                2
            }
            () if is_search && left >= 1 && is("FROMMEMBER") && (self.is_from_member || self.center.is_none()) => {
                self.read_member(sorted, args.get(at + 1))?;
                2
            }
            () if is_search && left >= 2 && is("FROMLONLAT") && !self.is_from_member => {
                self.center = Some(argument::place(args, at + 1)?);
                3
            }
            () if is_search && left >= 2 && is("BYRADIUS") && !self.is_by(is_rectangle) => {
                self.around = Some(argument::circle(NOWHERE, args, at + 1)?);
                3
            }
            () if is_search && left >= 3 && is("BYBOX") && !self.is_by(|form| !is_rectangle(form)) => {
                self.around = Some(argument::rectangle(NOWHERE, args, at + 1)?);
                4
            }
            () if verb == GeoCommand::SearchStore && is("STOREDIST") => match &mut self.store {
                Some(store) => set(&mut store.distances),
                None => 1,
            },
            () => return Err(Failure::Syntax),
        })
    }

    fn is_by(&self, is_form: impl Fn(GeoShape) -> bool) -> bool {
        self.around.is_some_and(|around| is_form(around.form))
    }

    fn check(&self, args: &Args, verb: GeoCommand) -> Result<(), Failure> {
        let is_search = matches!(verb, GeoCommand::Search | GeoCommand::SearchStore);
        let name = || raw_text::from_bytes(args.name()).into_owned();
        if self.store.is_some() && self.beside != Beside::default() {
            let what = if is_search { "GEOSEARCHSTORE" } else { "STORE option in GEORADIUS" };
            let text = format!("ERR {what} is not compatible with WITHDIST, WITHHASH and WITHCOORD options");
            return Err(Failure::text(text));
        }
        if is_search && self.center.is_none() && !self.is_from_member {
            let text = format!("ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for {}", name());
            return Err(Failure::text(text));
        }
        if is_search && self.around.is_none() {
            let text = format!("ERR exactly one of BYRADIUS and BYBOX can be specified for {}", name());
            return Err(Failure::text(text));
        }
        if self.any && self.count.is_none() {
            return Err(Failure::text("ERR the ANY argument requires COUNT argument"));
        }
        Ok(())
    }

    /// Returns the query for an existing sorted set.
    fn wanted(&self) -> Option<GeoQuery> {
        let area = Area { center: self.center?, ..self.around? };
        // A limited unordered search means the nearest ones, unless ANY is given.
        let order = self.order.or((self.count.is_some() && !self.any).then_some(Direction::Forward));
        Some(GeoQuery { area, order, count: self.count, any: self.any })
    }
}

fn set(what: &mut bool) -> usize {
    *what = true;
    1
}

fn is_rectangle(form: GeoShape) -> bool {
    matches!(form, GeoShape::Rectangle { .. })
}

/// Members examined under the locks, at most: about 200 µs.
const LOCKED_MEMBERS_MAX: u64 = 1024;
/// Storing a member costs as much as examining this many.
const STORED_SHARE: u64 = 4;
/// The approximate maximum of their bytes.
const LOCKED_BYTES_MAX: u64 = 64 << 10;

/// Returns true if this many members can be examined under the locks.
fn is_little(sorted: &Sorted, members: u64) -> bool {
    members <= LOCKED_MEMBERS_MAX && members * (sorted.content_bytes() / sorted.len().max(1)) <= LOCKED_BYTES_MAX
}

fn search(tx: &mut Tx, args: &Args, reply: &mut dyn Reply, verb: GeoCommand) -> Outcome {
    let source = args.get(if verb == GeoCommand::SearchStore { 2 } else { 1 });
    let keyspace = tx.keyspace();
    let sorted = tx.sorted(source)?;
    let asked = GeoRequest::of(sorted, args, verb)?;
    let sorted = sorted.cloned();
    let Some((sorted, wanted)) = sorted.zip(asked.wanted()) else {
        return match asked.store {
            Some(store) => put_result(tx, store.key, Sorted::default(), reply),
            None => {
                reply.array(0);
                Ok(())
            }
        };
    };
    if let Some(store) = asked.store {
        return put(tx, args, sorted, wanted, store, reply);
    }
    let walk = GeoWalk::new(sorted.clone(), wanted);
    let is_little = is_little(&sorted, walk.left());
    let mut results = GeoSearchReply { walk, has_begun: false, beside: asked.beside, pin: None };
    if is_little {
        while results.next(reply) == More::Follows {}
    } else {
        results.pin = Some(keyspace.pin(source));
        reply.stream(Box::new(results));
    }
    Ok(())
}

/// A search in progress, then its results, which are sent.
struct GeoSearchReply {
    walk: GeoWalk,
    /// True once sending has begun.
    has_begun: bool,
    beside: Beside,
    /// Set once it continues without the lock.
    pin: Option<Pin>,
}

/// The approximate size of a member's distance, hash, and coordinates, in bytes.
const BESIDE_BYTES: usize = 100;

impl GeoSearchReply {
    fn write(&self, found: GeoMatch, reply: &mut dyn Reply) -> usize {
        let Beside { distance, hash, place } = self.beside;
        let more = [distance, hash, place].into_iter().filter(|is_wanted| *is_wanted).count();
        let bytes = self.walk.sorted().get(found.rank, |score, member| {
            if more > 0 {
                reply.array(1 + more);
            }
            reply.bulk(member);
            let cell = Cell::of_score(score);
            if distance {
                write_distance(reply, found.distance_m / self.walk.unit_m());
            }
            if hash {
                reply.int(score as i64);
            }
            if place {
                write_place(reply, cell.middle());
            }
            member.len() + BESIDE_BYTES
        });
        bytes.unwrap_or_default()
    }
}

impl Source for GeoSearchReply {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        if !self.has_begun {
            if !self.walk.step() {
                return More::Follows;
            }
            self.has_begun = true;
            reply.array(self.walk.len() as usize);
        }
        let mut bytes = 0;
        while bytes < SOURCE_STEP_BYTES {
            let Some(found) = self.walk.next() else { return More::Done };
            bytes += self.write(found, reply);
        }
        More::Follows
    }

    fn pinned_bytes(&self) -> u64 {
        let of_clone = self.pin.as_ref().map_or(0, |pin| pin.bytes(self.walk.sorted().heap_bytes()));
        of_clone + self.walk.heap_bytes()
    }
}

/// Stores the result under a key, replacing its value.
fn put(tx: &mut Tx, args: &Args, sorted: Sorted, wanted: GeoQuery, store: Store, reply: &mut dyn Reply) -> Outcome {
    let distances = store.distances;
    let walk = GeoWalk::new(sorted.clone(), wanted);
    let result = if is_little(&sorted, STORED_SHARE * walk.left()) {
        Storing::new(walk, distances).finished()
    } else {
        let words: Vec<&[u8]> = args.iter().collect();
        tx.compute(&words, vec![Some(Value::Sorted(sorted))], move |values| {
            let sorted = values.into_iter().flatten().find_map(|value| match value {
                Value::Sorted(sorted) => Some(sorted),
                _ => None,
            });
            Box::new(Storing::new(GeoWalk::new(sorted.unwrap_or_default(), wanted), distances))
        })?
    };
    let Some(value) = result else { return put_result(tx, store.key, Sorted::default(), reply) };
    let len = if let Value::Sorted(sorted) = &value { sorted.len() } else { 0 };
    tx.put_whole(tx.database(), store.key, &Whole::plain(value, None))?;
    reply.int(len as i64);
    Ok(())
}

/// A search, then building a sorted set from its results.
struct Storing {
    walk: GeoWalk,
    distances: bool,
    is_found: bool,
    result: Sorted,
}

/// Members stored per step: about 50 µs.
const STEP_MEMBERS: usize = 32;

impl Storing {
    fn new(walk: GeoWalk, distances: bool) -> Self {
        Self { walk, distances, is_found: false, result: Sorted::default() }
    }

    fn finished(mut self) -> Option<Value> {
        while !self.step() {}
        self.result()
    }

    fn put(&mut self, found: GeoMatch, may_be_small: bool) {
        let Self { walk, result, .. } = self;
        let distance = found.distance_m / walk.unit_m();
        let is_long = walk.sorted().get(found.rank, |score, member| {
            result.put(if self.distances { distance } else { score }, member);
            member.len() as u64 > limits::SORTED_MEMBER_BYTES.get()
        });
        if !may_be_small || is_long == Some(true) {
            result.grow();
        }
    }
}

impl Computation for Storing {
    fn step(&mut self) -> bool {
        if !self.is_found {
            self.is_found = self.walk.step();
            return false;
        }
        let may_be_small = self.walk.len() + self.result.len() <= limits::SORTED_ENTRIES.get();
        for _ in 0..STEP_MEMBERS {
            let Some(found) = self.walk.next() else { return true };
            self.put(found, may_be_small);
        }
        false
    }

    fn result(&self) -> Option<Value> {
        Some(&self.result).filter(|sorted| !sorted.is_empty()).map(|sorted| Value::Sorted(sorted.clone()))
    }
}
