//! The guard of a set.

use crate::effect::{Effect, Items, RunWriter, SetChange};
use crate::tx::{Abandon, Before, Tx};
use base::varint;
use smallvec::SmallVec;
use std::collections::HashSet;
use values::Set;
use values::set::{SetForm, SetLimits};

/// Maximum bytes of a record, excluding key and members.
const FIELDS_BYTES_MAX: u64 = 64;

/// A mutable set under a key. The key is created with the first member and removed with the last.
pub struct SetMut<'t, 'k> {
    tx: &'t mut Tx<'k>,
    key: &'t [u8],
    before: Before,
}

impl<'t, 'k> SetMut<'t, 'k> {
    pub(crate) fn new(tx: &'t mut Tx<'k>, key: &'t [u8], there: bool) -> Self {
        Self { tx, key, before: if there { Before::Settled } else { Before::Unknown } }
    }

    /// Returns the current set; `None` if the key is absent.
    pub fn set(&mut self) -> Option<&Set> {
        self.tx.set(self.key).expect("its kind was checked when the guard was made")
    }

    fn len(&mut self) -> u64 {
        self.set().map_or(0, Set::len)
    }

    /// Adds members. Returns how many are new. O(members log n).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn add(&mut self, members: &[&[u8]]) -> Result<u64, Abandon> {
        let limits = SetLimits::now();
        let none = Set::new();
        let set = self.set().unwrap_or(&none);
        if let [member] = members {
            if set.contains(member) {
                return Ok(0);
            }
            let form = set.form_with(member, 1, limits);
            self.change(SetChange::Add { form, members: Items::Slices(members) });
            return Ok(1);
        }
        let (len_before, runs) = (set.len(), runs_of(set, members, limits));
        if runs.len() > 1 {
            let new = runs.iter().flat_map(|(_, members)| members);
            self.need_room(new, runs.len())?;
        }
        for (form, members) in &runs {
            self.change(SetChange::Add { form: *form, members: Items::Slices(members) });
        }
        Ok(if runs.is_empty() { 0 } else { self.len() - len_before })
    }

    /// Removes members. Returns how many existed. O(members log n).
    pub fn remove(&mut self, members: &[&[u8]]) -> u64 {
        let Some(set) = self.set() else { return 0 };
        let mut there: SmallVec<[&[u8]; 8]> = members.iter().copied().filter(|member| set.contains(member)).collect();
        let len = set.len();
        if there.len() > 1 {
            let mut seen = HashSet::with_capacity(there.len());
            there.retain(|member| seen.insert(*member));
        }
        let count = there.len() as u64;
        if count == len {
            self.remove_all();
        } else if count > 0 {
            self.change(SetChange::Remove { members: Items::Slices(&there) });
        }
        count
    }

    /// Removes the members at these runs of places in its order, given as first and count, ascending and non-adjacent.
    /// O(runs log n), for very many runs O(members).
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn remove_at(&mut self, runs: &[(u64, u64)]) -> Result<(), Abandon> {
        let count = runs.iter().map(|(_, count)| count).sum();
        if count == self.len() {
            self.remove_all();
            return Ok(());
        }
        let (mut writer, mut encoded) = (RunWriter::default(), Vec::new());
        runs.iter().for_each(|run| writer.put(&mut encoded, *run));
        self.tx.need_room((encoded.len() + self.key.len()) as u64 + FIELDS_BYTES_MAX)?;
        self.change(SetChange::RemoveAt { count, runs: &encoded });
        Ok(())
    }

    fn remove_all(&mut self) {
        self.tx.change(self.key, &Effect::Remove, Before::Settled);
        self.before = Before::Unknown;
    }

    /// Requires room for several records: each has the key.
    fn need_room<'m>(&self, members: impl Iterator<Item = &'m &'m [u8]>, records: usize) -> Result<(), Abandon> {
        let members_bytes: u64 = members.map(|member| (member.len() + varint::BYTES_MAX) as u64).sum();
        self.tx.need_room(members_bytes + (1 + records as u64) * (self.key.len() as u64 + FIELDS_BYTES_MAX))
    }

    fn change(&mut self, change: SetChange<'_>) {
        let before = std::mem::replace(&mut self.before, Before::Settled);
        self.tx.change(self.key, &Effect::Set(change), before);
    }
}

/// Members of one record, and the form in which the set takes them.
type Run<'a> = (SetForm, Vec<&'a [u8]>);

/// Returns the new members, in their order. A form that only some of them need is not taken before those come: the
/// order of a listed set depends on that.
fn runs_of<'a>(set: &Set, members: &[&'a [u8]], limits: SetLimits) -> Vec<Run<'a>> {
    let mut runs: Vec<Run<'a>> = Vec::new();
    let mut members = members.iter().copied();
    let count = members.len() as u64;
    let mut after = set.clone();
    // On a copy, which is small.
    while after.is_empty() || after.form() != SetForm::Hashed {
        let Some(member) = members.next() else { return runs };
        if !after.contains(member) {
            let form = after.form_with(member, count, limits);
            after.add(member, form);
            match runs.last_mut() {
                Some((last, run)) if *last == form => run.push(member),
                _ => runs.push((form, vec![member])),
            }
        }
    }
    let rest = members.filter(|member| !set.contains(member));
    match runs.last_mut() {
        Some((SetForm::Hashed, run)) => run.extend(rest),
        _ => {
            let rest: Vec<&[u8]> = rest.collect();
            if !rest.is_empty() {
                runs.push((SetForm::Hashed, rest));
            }
        }
    }
    runs
}
