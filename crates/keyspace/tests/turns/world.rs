//! A keyspace with a journal and a naive store, run one step at a time.

use crate::turns::store::{Content, Contents, Store, Stored, contents, name, named};
use base::hash::KeyHasher;
use base::limits::SHARDS;
use blocks::{Direction, End};
use keyspace::{
    Abandon, Absent, Batch, CutStep, CutTail, Expiry, FieldExpiry, Held, Inline, Keyspace, Log, OffLockJobs,
    SearchQuery, TableId, TurnMemory, Turned, Tx, Unread, named_by, shard_of,
};
use std::collections::{BTreeMap, BTreeSet};
use std::mem::{Discriminant, discriminant};
use std::sync::OnceLock;

pub(crate) const DATABASES: u32 = 3;
/// Long enough that two of them overflow the names that a shard keeps.
const LONG_KEY_BYTES: usize = 33_000;

/// Keys by number, many in few shards.
pub(crate) struct Keys {
    pub(crate) names: Vec<Vec<u8>>,
    pub(crate) shards: Vec<usize>,
}

pub(crate) fn hasher() -> KeyHasher {
    KeyHasher::new([7; 16])
}

pub(crate) fn keys() -> &'static Keys {
    static KEYS: OnceLock<Keys> = OnceLock::new();
    KEYS.get_or_init(|| {
        let shard = |name: &[u8]| shard_of(hasher().hash(name));
        let mut seen = BTreeMap::new();
        let long = (0..).find_map(|number: u32| {
            let mut name = number.to_string().into_bytes();
            name.resize(LONG_KEY_BYTES, b'l');
            seen.insert(shard(&name), name.clone()).map(|other| (other, name))
        });
        let (one, other) = long.expect("there are more names than shards");
        let crowded = shard(&one);
        let shards = vec![crowded, (crowded + 1) % SHARDS, (crowded + 2) % SHARDS];
        let short =
            (0..).map(|number: u32| number.to_string().into_bytes()).filter(|name| shards.contains(&shard(name)));
        let mut names: Vec<_> = short.take(20).collect();
        names.extend([one, other]);
        Keys { names, shards }
    })
}

/// A change made by a tx.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Put(Vec<u8>, Option<u64>),
    Replace(Vec<u8>),
    Append(Vec<u8>),
    Overwrite(usize, Vec<u8>),
    Remove,
    Expiry(Option<u64>),
    Push(End, u8, usize, usize),
    Pop(End, u64),
    Set(u64, Vec<u8>),
    Insert(u64, Vec<u8>),
    Cut(u64, u64),
    Without(u8),
    /// Puts hash fields: first number, count, bytes of each value, and delay of the deadline, if any.
    Fields(u64, u64, usize, Option<u64>),
    /// Puts hash fields and keeps their deadlines: first number, count, bytes of each value.
    Keep(u64, u64, usize),
    Forget(u64, u64),
    FieldExpiry(u64, u64, Option<u64>),
    /// Adds set members: first number, count, and bytes of padding; integers if 0.
    Add(u64, u64, usize),
    /// Removes set members; parameters as for `Add`.
    Leave(u64, u64, usize),
    /// Removes set members by index: first index and count.
    Draw(u64, u64),
    /// Copies to a key of a database; if true, the source is removed.
    Copy(usize, u32, bool),
    Flush,
    Swap(u32),
}

#[derive(Clone, Debug)]
pub(crate) enum Happening {
    /// Changes by database and key; if true, they are undone.
    Changes(Vec<(u32, usize, Change)>, bool),
    /// This much time passes, in milliseconds; then expired keys are removed.
    Expire(u64),
    Turn(usize, bool),
    Take(usize, usize),
    Commit(usize),
    Fail(usize),
    CommitMap,
    Merge(usize),
    /// Tables that no database names are dropped.
    Housekeep,
    /// Loads a keyspace from the store and the journal; if true, the world continues with it.
    Restart(bool),
    /// The whole journal is replayed in place of the present keys.
    Reload,
}

/// A turn that is not committed.
struct Open {
    turned: Turned,
    /// The shard's contents when it turned.
    before: Contents,
    records: Vec<Vec<u8>>,
    is_over: bool,
}

pub(crate) struct World {
    keyspace: Keyspace,
    journal: Vec<(u64, Vec<u8>)>,
    position: u64,
    now: u64,
    store: Store,
    open: BTreeMap<usize, Open>,
    /// Values that the last restart left unread.
    unread: Vec<Unread>,
    /// The rare cases that occurred.
    pub(crate) seen: BTreeSet<&'static str>,
}

impl World {
    pub(crate) fn new() -> Self {
        let keyspace = Keyspace::new(hasher(), DATABASES);
        keyspace.keep_marks();
        let seen = BTreeSet::new();
        Self {
            keyspace,
            journal: vec![],
            position: 0,
            now: 1_000_000,
            store: Store::default(),
            open: BTreeMap::new(),
            unread: Vec::new(),
            seen,
        }
    }

    pub(crate) fn run(&mut self, happening: &Happening) {
        self.read(|unread| match happening {
            Happening::Changes(changes, _) => changes.iter().any(|(_, key, change)| {
                let to = if let Change::Copy(to, ..) = change { *to } else { *key };
                [*key, to].iter().any(|key| hasher().hash(&keys().names[*key]) == unread.hash())
            }),
            Happening::Expire(_) | Happening::Housekeep | Happening::CommitMap | Happening::Merge(_) => false,
            // Unread values are read before a turn writes them.
            Happening::Turn(shard, _)
            | Happening::Take(shard, _)
            | Happening::Commit(shard)
            | Happening::Fail(shard) => keys().shards[*shard] == unread.shard(),
            Happening::Restart(_) | Happening::Reload => true,
        });
        match happening {
            Happening::Changes(changes, is_undone) => self.change(changes, *is_undone),
            Happening::Expire(passed) => {
                self.now += passed;
                self.expire();
            }
            Happening::Turn(shard, whole) => self.turn(keys().shards[*shard], *whole),
            Happening::Take(shard, entries) => self.take(keys().shards[*shard], *entries),
            Happening::Commit(shard) => self.commit(keys().shards[*shard]),
            Happening::Fail(shard) => self.fail(keys().shards[*shard]),
            Happening::CommitMap => self.store.map = Some((self.position, self.keyspace.map().state())),
            Happening::Merge(shard) => {
                self.store.shards.entry(keys().shards[*shard]).or_default().merge();
            }
            Happening::Housekeep => {
                for shard in &keys().shards {
                    drop(self.keyspace.take_dead_sections(*shard).expect("nobody holds it"));
                }
            }
            Happening::Restart(goes_on) => self.restart(*goes_on),
            Happening::Reload => self.reload(),
        }
    }

    /// Reads the unread values that `are_wanted`, in some order.
    fn read(&mut self, are_wanted: impl Fn(&Unread) -> bool) {
        let (mut wanted, rest): (Vec<_>, _) = std::mem::take(&mut self.unread).into_iter().partition(are_wanted);
        if self.position.is_multiple_of(3) {
            wanted.reverse();
        }
        if !wanted.is_empty() && !rest.is_empty() {
            self.seen.insert("read one by one");
        }
        self.unread = rest;
        for unread in wanted {
            let value = unread.read(&mut self.store.elsewhere).unwrap();
            let mut state = self.keyspace.shard(unread.shard()).try_write().unwrap();
            if unread.end(value, &mut state).is_some() {
                self.seen.insert("gone before it was read");
            }
        }
    }

    /// Runs a tx over all shards; its frame goes into the journal.
    fn tx(&mut self, is_undone: bool, run: impl Fn(&mut Tx<'_>) -> Result<(), Abandon>) {
        let mut searches = OffLockJobs::default();
        loop {
            let mut log = Log::default();
            let held = Held::under_gate(&self.keyspace);
            let mut tx = Tx::new(&self.keyspace, held, 0, self.now, &mut log, u64::MAX);
            tx.keep_old();
            tx.set_jobs(&searches);
            match run(&mut tx) {
                Err(Abandon::Compute(wanted)) => {
                    tx.abandon();
                    drop(searches.begin(*wanted));
                    while !searches.step() {}
                    self.seen.insert("searched");
                    continue;
                }
                Err(Abandon::Room(_) | Abandon::Speculate) => unreachable!("there is room, and little to do"),
                Ok(()) if is_undone => return tx.abandon(),
                Ok(()) => {}
            }
            drop(tx.take_garbage());
            let payload = tx.end().payload_mut().to_vec();
            if !payload.is_empty() {
                self.journal.push((self.position, payload));
                // Frames have headers.
                self.position += 20 + self.journal.last().unwrap().1.len() as u64;
            }
            return;
        }
    }

    fn change(&mut self, changes: &[(u32, usize, Change)], is_undone: bool) {
        self.tx(is_undone, |tx| {
            changes.iter().try_for_each(|(database, key, change)| {
                tx.use_database(*database);
                apply(tx, *database, *key, change)
            })
        });
    }

    fn expire(&mut self) {
        let tables: Vec<_> = (0..DATABASES).map(|database| self.keyspace.map().table(database)).collect();
        self.tx(false, |tx| {
            for shard in &keys().shards {
                tables.iter().for_each(|table| while tx.expire(*shard, *table, 100) {});
            }
            Ok(())
        });
    }

    fn turn(&mut self, shard: usize, whole: bool) {
        if self.open.contains_key(&shard) {
            return;
        }
        let whole = whole || self.store.shards.get(&shard).is_none_or(|stored| !stored.has_base);
        let mut state = self.keyspace.shard(shard).try_write().unwrap();
        let before = named(&self.keyspace, &state);
        let turned = state
            .turn(&self.keyspace, whole, &mut TurnMemory::default(), || self.position)
            .expect("there are few entries to clear");
        assert!(turned.is_whole || !whole);
        for count in &turned.tables {
            let mine = before.iter().filter(|((table, _), _)| *table == count.table);
            assert_eq!(mine.clone().count() as u64, count.keys);
            assert_eq!(mine.filter(|(_, (_, at))| at.is_some()).count() as u64, count.expiring);
        }
        assert_eq!(turned.tables.iter().map(|count| count.keys).sum::<u64>(), before.len() as u64);
        if turned.is_whole && !whole {
            self.seen.insert("whole by itself");
        }
        self.seen.insert(if turned.is_unchanged { "unchanged" } else { "changed" });
        let is_over = turned.is_unchanged;
        self.open.insert(shard, Open { turned, before, records: Vec::new(), is_over });
    }

    fn take(&mut self, shard: usize, entries: usize) {
        let Some(open) = self.open.get_mut(&shard).filter(|open| !open.is_over) else { return };
        let mut batch = Batch::default();
        let step = self.keyspace.shard(shard).try_write().unwrap().take(&self.keyspace, entries, &mut batch);
        let (taken, mut records) = (batch.records_count(), Vec::new());
        let mut keep = |record: &[u8]| {
            records.push(record.to_vec());
            Ok(())
        };
        while !batch.encode(&mut self.store.elsewhere, &mut keep).unwrap() {}
        assert_eq!(records.len(), taken);
        let state = self.keyspace.shard(shard).try_write().unwrap();
        for (table, key, value) in std::mem::take(&mut self.store.elsewhere.done) {
            if let Some(now) = state.version_beside(&self.keyspace, table, &key, &value) {
                now.learn_places(&value);
                self.seen.insert("changed before it was stored");
            }
        }
        drop(state);
        assert!(records.iter().all(|record| self.keyspace.map().names(name(record).0)), "nobody reads what is dead");
        open.records.append(&mut records);
        assert_ne!(step, CutStep::Lost);
        open.is_over = step == CutStep::Over;
    }

    /// Commits a turn, having taken what is left of it, and reads the shard back.
    fn commit(&mut self, shard: usize) {
        while self.open.get(&shard).is_some_and(|open| !open.is_over) {
            self.take(shard, 7);
        }
        let Some(Open { turned, before, records, .. }) = self.open.remove(&shard) else { return };
        let puts: Vec<_> = records.iter().filter(|record| record[0] != 1).map(|record| name(record)).collect();
        assert_eq!(puts.iter().collect::<BTreeSet<_>>().len(), puts.len(), "each entry is written once");
        if records.iter().any(|record| record[0] >= 128) {
            self.seen.insert("stored elsewhere");
        }
        assert!(!turned.is_whole || puts.len() == records.len(), "a base has no removals");
        let tables = turned.tables.clone();
        let stored = self.store.shards.entry(shard).or_default();
        stored.commit(turned, records);
        let mut named: BTreeSet<u64> = self.store.shards.values().flat_map(Stored::named).collect();
        for record in self.open.values().flat_map(|open| &open.records) {
            named_by(record, |leaf| named.extend([leaf.place.number()])).unwrap();
        }
        self.store.elsewhere.keep_only(&named);

        let is_named = |table| self.keyspace.map().names(table);
        let alive = self.keyspace.map().alive();
        let other = self.keyspace.empty_like();
        other.keep_marks();
        let mut loading = other.load(shard, &alive);
        self.store.shards[&shard].load(&mut loading, &mut self.store.elsewhere, u64::MAX);
        assert!(loading.tables().iter().eq(tables.iter().filter(|count| is_named(count.table))));
        let mut state = other.shard(shard).try_write().unwrap();
        loading.end(&mut state);
        let expected: Contents = before.into_iter().filter(|((table, _), _)| is_named(*table)).collect();
        assert_eq!(contents(&state, |_| true), expected, "shard {shard} at its turn");
    }

    fn fail(&mut self, shard: usize) {
        if let Some(open) = self.open.remove(&shard) {
            let mut state = self.keyspace.shard(shard).try_write().unwrap();
            drop(state.abandon_turn());
            if !open.is_over {
                self.seen.insert("failed amid");
                assert_eq!(state.take(&self.keyspace, 1, &mut Batch::default()), CutStep::Lost);
            }
        }
    }

    fn restart(&mut self, goes_on: bool) {
        let mut other = self.keyspace.empty_like();
        let (map_from, map) = self.store.map.clone().unwrap_or_else(|| (0, other.map().state()));
        other.map().restore(&map);
        other.shut();
        let mut shards_from = vec![0; SHARDS];
        self.store.shards.iter().for_each(|(shard, stored)| shards_from[*shard] = stored.position);
        let tail = CutTail::new(map_from, shards_from);
        let mut effects = vec![Vec::new(); SHARDS];
        for (begin, payload) in &self.journal {
            let note = |shard: usize, effect: &[u8]| effects[shard].extend_from_slice(effect);
            tail.split(&other, *begin, payload, note).unwrap();
        }
        let alive = other.map().alive();
        let mut all_unread = Vec::new();
        for (shard, effects) in effects.iter().enumerate() {
            let mut loading = other.load(shard, &alive);
            match self.store.shards.get(&shard) {
                Some(stored) => stored.load(&mut loading, &mut self.store.elsewhere, UNREAD_BYTES),
                None => loading.settle(&mut Inline).unwrap(),
            }
            loading.replay(effects).unwrap();
            let unread = loading.take_unread();
            all_unread.extend(unread);
            assert!(other.shard(shard).is_shut() && other.shard(shard).try_read().is_none());
            loading.end(&mut other.shard(shard).open());
        }
        if goes_on {
            self.compare(&other, outline);
            (self.unread, self.keyspace) = (all_unread, other);
            self.open.clear();
            return;
        }
        for unread in all_unread {
            let value = unread.read(&mut self.store.elsewhere).unwrap();
            let mut state = other.shard(unread.shard()).try_write().unwrap();
            assert!(unread.end(value, &mut state).is_none(), "its key is there");
        }
        self.compare(&other, |contents| contents);
    }

    /// Compares the keyspace with `other`, loaded by a restart.
    fn compare<T: PartialEq + std::fmt::Debug>(&self, other: &Keyspace, look: fn(Contents) -> T) {
        // Table ids assigned by an undone tx are assigned again.
        assert_eq!(other.map().state().changed, self.keyspace.map().state().changed);
        for shard in &keys().shards {
            let (mine, theirs) = (self.keyspace.shard(*shard), other.shard(*shard));
            let mine = look(named(&self.keyspace, &mine.try_read().unwrap()));
            let theirs = theirs.try_read().unwrap();
            assert_eq!(look(named(other, &theirs)), mine, "shard {shard} after a restart");
            assert_eq!(look(contents(&theirs, |_| true)), mine, "shard {shard}: nothing dead is read or replayed");
        }
    }

    fn reload(&mut self) {
        let other = self.keyspace.empty_like();
        // The entries then have marks of their own, independent of the turns here.
        other.keep_marks();
        self.journal.iter().for_each(|(_, payload)| other.replay(payload).unwrap());
        self.keyspace.exchange(&other);
        for shard in std::mem::take(&mut self.open).into_keys() {
            let mut state = self.keyspace.shard(shard).try_write().unwrap();
            assert_eq!(state.take(&self.keyspace, 1, &mut Batch::default()), CutStep::Lost);
        }
    }
}

/// A restart leaves larger values unread: most values stored outside their record.
const UNREAD_BYTES: u64 = 3_000;

type Outline = (Discriminant<Content>, Option<u64>);

/// Returns the parts of a shard that are correct while values are unread: names, types, deadlines.
fn outline(contents: Contents) -> BTreeMap<(TableId, Vec<u8>), Outline> {
    let outline = |(content, at): (Content, _)| (discriminant(&content), at);
    contents.into_iter().map(|(name, held)| (name, outline(held))).collect()
}

fn apply(tx: &mut Tx<'_>, database: u32, key: usize, change: &Change) -> Result<(), Abandon> {
    let key = &keys().names[key][..];
    let at = |delay: &Option<u64>| delay.map(|delay| 1_000_000 + delay);
    match change {
        Change::Put(bytes, delay) => tx.put_string(key, bytes, at(delay).map_or(Expiry::Clear, Expiry::At)),
        Change::Replace(bytes) => tx.put_string(key, bytes, Expiry::Keep),
        Change::Append(bytes) => {
            if let Ok(Some(mut text)) = tx.string_mut(key, Absent::Create) {
                text.append(bytes);
            }
        }
        Change::Overwrite(offset, bytes) => {
            if let Ok(Some(mut text)) = tx.string_mut(key, Absent::Create) {
                text.overwrite(*offset, bytes);
            }
        }
        Change::Remove => drop(tx.remove(key)),
        Change::Expiry(delay) => drop(tx.set_expiry(key, at(delay))),
        Change::Copy(to, to_database, moves) => {
            if let Some(whole) = tx.whole(key) {
                if *moves {
                    tx.remove(key);
                }
                tx.put_whole(*to_database, &keys().names[*to], &whole)?;
            }
        }
        Change::Flush => {
            let fresh = tx.keyspace().map().fresh();
            tx.put_map(database, fresh);
        }
        Change::Swap(other) => {
            let (mine, theirs) = (tx.keyspace().map().table(database), tx.keyspace().map().table(*other));
            tx.put_map(database, theirs);
            tx.put_map(*other, mine);
        }
        Change::Fields(..) | Change::Keep(..) | Change::Forget(..) | Change::FieldExpiry(..) => {
            return apply_to_hash(tx, key, change);
        }
        Change::Add(..) | Change::Leave(..) | Change::Draw(..) => return apply_to_set(tx, key, change),
        of_list => return apply_to_list(tx, key, of_list),
    }
    Ok(())
}

fn apply_to_hash(tx: &mut Tx<'_>, key: &[u8], change: &Change) -> Result<(), Abandon> {
    let makes = matches!(change, Change::Fields(..) | Change::Keep(..));
    let (now, absent) = (tx.now(), if makes { Absent::Create } else { Absent::Leave });
    let Ok(Some(mut hash)) = tx.hash_mut(key, absent) else { return Ok(()) };
    let names = |first: u64, count: u64| -> Vec<_> {
        (first..first + count).map(|number| format!("field {}", number % 4_000).into_bytes()).collect()
    };
    let at = |delay: &Option<u64>| delay.map(|delay| now + delay);
    match change {
        Change::Fields(first, count, bytes, _) | Change::Keep(first, count, bytes) => {
            let (names, value) = (names(*first, *count), vec![(*first % 7) as u8; *bytes]);
            let pairs: Vec<_> = names.iter().flat_map(|name| [&name[..], &value]).collect();
            let expiry = match change {
                Change::Fields(.., delay) => at(delay).map_or(FieldExpiry::Clear, FieldExpiry::At),
                _ => FieldExpiry::Keep,
            };
            hash.put(&pairs, expiry)?;
        }
        Change::Forget(first, count) => {
            hash.remove(&names(*first, *count).iter().map(|name| &name[..]).collect::<Vec<_>>())?;
        }
        Change::FieldExpiry(first, count, delay) => {
            let names = names(*first, *count);
            let there = hash.hash().unwrap();
            let is_there = |name: &&[u8]| there.get(name, now, |_| ()).is_some();
            let fields: Vec<_> = names.iter().map(|name| &name[..]).filter(is_there).collect();
            hash.set_expiry(&fields, at(delay))?;
        }
        _ => unreachable!("it is of a hash"),
    }
    Ok(())
}

fn apply_to_set(tx: &mut Tx<'_>, key: &[u8], change: &Change) -> Result<(), Abandon> {
    let absent = if matches!(change, Change::Add(..)) { Absent::Create } else { Absent::Leave };
    let Ok(Some(mut set)) = tx.set_mut(key, absent) else { return Ok(()) };
    let members = |first: u64, count: u64, bytes: usize| -> Vec<_> {
        let numbers = (first..first + count).map(|number| (number % 6_000).to_string().into_bytes());
        numbers.map(|number| if bytes == 0 { number } else { [&number[..], &vec![b'm'; bytes]].concat() }).collect()
    };
    match *change {
        Change::Add(first, count, bytes) => {
            let members = members(first, count, bytes);
            set.add(&members.iter().map(|member| &member[..]).collect::<Vec<_>>())?;
        }
        Change::Leave(first, count, bytes) => {
            let members = members(first, count, bytes);
            set.remove(&members.iter().map(|member| &member[..]).collect::<Vec<_>>());
        }
        Change::Draw(first, count) => {
            let len = set.set().unwrap().len();
            let start = first % len;
            set.remove_at(&[(start, count.min(len - start))])?;
        }
        _ => unreachable!("it is of a set"),
    }
    Ok(())
}

fn apply_to_list(tx: &mut Tx<'_>, key: &[u8], change: &Change) -> Result<(), Abandon> {
    let absent = if matches!(change, Change::Push(..)) { Absent::Create } else { Absent::Leave };
    if let Change::Without(byte) = change
        && tx.list(key).is_ok_and(|list| list.is_some())
    {
        let aim = SearchQuery { needle: vec![*byte], direction: Direction::Forward, limit: u64::MAX, removes: true };
        let finding = tx.search(key, &aim)?;
        let mut list = tx.list_mut(key, Absent::Leave).unwrap().unwrap();
        list.remove_found(&finding)?;
        return Ok(());
    }
    let Ok(Some(mut list)) = tx.list_mut(key, absent) else { return Ok(()) };
    let len = list.len();
    match change {
        Change::Push(end, byte, count, bytes) => {
            let items: Vec<_> = (0..*count).map(|at| vec![byte.wrapping_add((at % 3) as u8); *bytes]).collect();
            list.push(*end, &items.iter().map(|item| &item[..]).collect::<Vec<_>>());
        }
        Change::Pop(end, count) => list.pop(*end, *count, |_| ()),
        Change::Set(index, item) if len > 0 => list.set(index % len, item),
        Change::Insert(index, item) => list.insert(index % (len + 1), item),
        Change::Cut(start, count) if len > 0 => {
            let start = start % len;
            list.remove(start, 1 + count % (len - start));
        }
        _ => {}
    }
    Ok(())
}
