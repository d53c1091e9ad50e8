//! The guard of a hash.

use crate::effect::{Effect, HashChange, Items};
use crate::tx::{Abandon, Before, FIELDS_AT_ONCE, Tx};
use base::{Ms, varint};
use std::collections::HashSet;
use values::hash::{FieldPlace, HashFigures};
use values::{Hash, limits};

/// Records per method, at most.
const RECORDS_MAX: u64 = 5;
/// Maximum bytes of a record, excluding key and items.
const FIELDS_BYTES_MAX: u64 = 64;

/// A mutable hash under a key. The key is created with the first field and removed with the last.
pub struct HashMut<'t, 'k> {
    tx: &'t mut Tx<'k>,
    key: &'t [u8],
    before: Before,
}

/// The treatment of a field's deadline when the field is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldExpiry {
    /// Kept.
    Keep,
    /// Cleared.
    Clear,
    /// Set to this, in milliseconds since the epoch.
    At(Ms),
}

impl<'t, 'k> HashMut<'t, 'k> {
    pub(crate) fn new(tx: &'t mut Tx<'k>, key: &'t [u8], there: bool) -> Self {
        Self { tx, key, before: if there { Before::Settled } else { Before::Unknown } }
    }

    /// Returns the current hash; `None` if the key is absent.
    pub fn hash(&mut self) -> Option<&Hash> {
        self.tx.hash(self.key).expect("its kind was checked when the guard was made")
    }

    /// Puts pairs of field and value. Returns how many fields are new. O(fields log n).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn put(&mut self, pairs: &[&[u8]], expiry: FieldExpiry) -> Result<u64, Abandon> {
        self.put_found(pairs, expiry, None)
    }

    /// As [`HashMut::put`]; with the place of the only field, if it is known.
    ///
    /// # Errors
    /// As of [`HashMut::put`].
    pub fn put_found(
        &mut self,
        pairs: &[&[u8]],
        expiry: FieldExpiry,
        place: Option<&FieldPlace>,
    ) -> Result<u64, Abandon> {
        assert!(pairs.len().is_multiple_of(2));
        let now = self.tx.now();
        let (figures, items_before) =
            self.hash().map_or_else(Default::default, |hash| (hash.figures(now), hash.items_len()));
        let HashFigures { live_len: len_before, expired_count, mut is_large, has_deadlines } = figures;
        // A bound for the usual case, in which a command's claim suffices; and one for all records that may follow.
        let may_grow = !is_large && must_grow(self.hash(), pairs);
        if expired_count > 0 || may_grow || matches!(expiry, FieldExpiry::At(_)) {
            self.need_room(pairs)?;
        } else {
            self.need_room_for(1, 2, pairs)?;
        }
        if expired_count > 0 {
            self.expire();
            is_large = self.hash().is_some_and(Hash::is_large);
        }
        if expiry == FieldExpiry::Keep && expired_count > FIELDS_AT_ONCE {
            self.forget_expired(pairs);
        }
        let must_grow = may_grow && !is_large && must_grow(self.hash(), pairs);
        let is_unchanged = expired_count == 0 && !must_grow && self.before == Before::Settled;
        let place = place.filter(|_| is_unchanged && pairs.len() == 2);
        let put = |pairs| match Items::Slices(pairs) {
            pairs if expiry == FieldExpiry::Keep => HashChange::PutKeeping { pairs, place },
            pairs => HashChange::Put { pairs },
        };
        let mut rest = pairs;
        if must_grow && self.before == Before::Unknown {
            // Only an existing hash turns large, and many fields are put into a large one.
            self.change(put(&pairs[..2]));
            rest = &pairs[2..];
        }
        if must_grow {
            self.change(HashChange::Grow);
        }
        if !rest.is_empty() {
            self.change(put(rest));
        }
        if let FieldExpiry::At(expires_at_ms) = expiry {
            let fields: Vec<&[u8]> = fields(pairs).collect();
            self.change(HashChange::ExpiryPut { expires_at_ms, fields: Items::Slices(&fields) });
        }
        let hash = self.hash();
        if items_before > 0 && !has_deadlines && !matches!(expiry, FieldExpiry::At(_)) {
            return Ok(hash.map_or(0, |hash| hash.items_len() - items_before));
        }
        let len = hash.map_or(0, |hash| hash.figures(now).live_len);
        Ok(len - len_before)
    }

    /// Sets or clears the deadline of existing fields. O(fields log n).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn set_expiry(&mut self, fields: &[&[u8]], expires_at_ms: Option<Ms>) -> Result<(), Abandon> {
        self.need_room_for(1, 2, fields)?;
        if !fields.is_empty() {
            self.expire();
            let fields = Items::Slices(fields);
            self.change(match expires_at_ms {
                Some(expires_at_ms) => HashChange::ExpiryPut { expires_at_ms, fields },
                None => HashChange::ExpiryClear { fields },
            });
        }
        Ok(())
    }

    /// Removes fields. Returns how many existed. O(fields log n).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn remove(&mut self, fields: &[&[u8]]) -> Result<u64, Abandon> {
        let now = self.tx.now();
        let Some(hash) = self.hash() else { return Ok(0) };
        let len = hash.live_len(now);
        let mut seen = HashSet::new();
        let there = fields.iter().copied().filter(|field| hash.get(field, now, |_| ()).is_some());
        let fields: Vec<&[u8]> = there.filter(|field| seen.insert(*field)).collect();
        let count = fields.len() as u64;
        self.need_room_for(1, 2, &fields)?;
        if count == len {
            self.tx.change(self.key, &Effect::Remove, Before::Settled);
            self.before = Before::Unknown;
        } else if count > 0 {
            self.expire();
            self.change(HashChange::Remove { fields: Items::Slices(&fields) });
        }
        Ok(count)
    }

    /// Removes some expired fields, on behalf of the writer that meets them.
    fn expire(&mut self) {
        let now = self.tx.now();
        let count = self.hash().map_or(0, |hash| hash.expired_count(now).min(FIELDS_AT_ONCE));
        if count > 0 {
            self.change(HashChange::Expire { count });
        }
    }

    /// Removes expired fields about to be put: their deadlines must not be kept.
    fn forget_expired(&mut self, pairs: &[&[u8]]) {
        let now = self.tx.now();
        let Some(hash) = self.hash() else { return };
        let is_expired = |field: &&[u8]| hash.expires_at_ms(field).flatten().is_some_and(|at_ms| at_ms <= now);
        let expired: Vec<&[u8]> = fields(pairs).filter(is_expired).collect();
        if !expired.is_empty() {
            self.change(HashChange::Remove { fields: Items::Slices(&expired) });
        }
    }

    /// Requires room for all records of one method: each has the key, and two the fields.
    fn need_room(&self, items: &[&[u8]]) -> Result<(), Abandon> {
        self.need_room_for(2, RECORDS_MAX, items)
    }

    /// Requires room for so many records, of which `with_items` have the items.
    fn need_room_for(&self, with_items: u64, records: u64, items: &[&[u8]]) -> Result<(), Abandon> {
        let items_bytes: u64 = items.iter().map(|item| (item.len() + varint::BYTES_MAX) as u64).sum();
        self.tx.need_room(with_items * items_bytes + records * (self.key.len() as u64 + FIELDS_BYTES_MAX))
    }

    fn change(&mut self, change: HashChange<'_>) {
        let before = std::mem::replace(&mut self.before, Before::Settled);
        self.tx.change(self.key, &Effect::Hash(change), before);
    }
}

fn fields<'a>(pairs: &[&'a [u8]]) -> impl Iterator<Item = &'a [u8]> {
    pairs.iter().step_by(2).copied()
}

/// Returns true if putting these pairs into a small hash exceeds its limits.
fn must_grow(hash: Option<&Hash>, pairs: &[&[u8]]) -> bool {
    let (entries_max, bytes_max) = (limits::HASH_ENTRIES.get(), limits::HASH_VALUE_BYTES.get());
    if pairs.iter().any(|item| item.len() as u64 > bytes_max) {
        return true;
    }
    let len = hash.map_or(0, Hash::len);
    if len + pairs.len() as u64 / 2 <= entries_max {
        return false;
    }
    let mut new = HashSet::new();
    fields(pairs).any(|field| {
        if hash.is_none_or(|hash| hash.expires_at_ms(field).is_none()) {
            new.insert(field);
        }
        len + new.len() as u64 > entries_max
    })
}
