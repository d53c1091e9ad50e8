//! Texts for memcached's protocol: with flags and versions.

use super::{Abandon, Before, Tx};
use crate::effect::Effect;
use crate::guard::{Expiry, Whole};
use crate::{ShardState, shard_of};
use base::Ms;
use table::Extras;
use values::{LongString, Value, string};

impl Tx<'_> {
    /// Puts a text with extras under `key`, replacing any value, with an optional deadline.
    pub fn put_item(&mut self, key: &[u8], bytes: &[u8], expires_at_ms: Option<Ms>, extras: Extras) {
        if bytes.len() > string::INLINE_BYTES_MAX
            && let Some(string) = self.cuts.and_then(|cuts| cuts.find(bytes))
        {
            let put = self.put_long_item(key, string.clone(), expires_at_ms, extras);
            return put.expect("a command is admitted with its arguments");
        }
        self.change(key, &Effect::ItemPut { expires_at_ms, extras, bytes }, Before::Settled);
        self.note_deadline(key, expires_at_ms.map_or(Expiry::Clear, Expiry::At));
    }

    /// As [`Tx::put_item`], for a text that is cut.
    ///
    /// # Errors
    /// If its frame needs more journal room than is claimed; nothing has changed then.
    pub fn put_long_item(
        &mut self,
        key: &[u8],
        string: LongString,
        expires_at_ms: Option<Ms>,
        extras: Extras,
    ) -> Result<(), Abandon> {
        self.put_long(key, Whole { value: Value::Text(string), expires_at_ms, extras: Some(extras) })?;
        self.note_deadline(key, expires_at_ms.map_or(Expiry::Clear, Expiry::At));
        Ok(())
    }

    /// Sets the extras of the existing text under `key`.
    ///
    /// # Panics
    /// If `key` is absent or holds another type.
    pub fn put_extras(&mut self, key: &[u8], extras: Extras) {
        self.change(key, &Effect::ExtrasPut(extras), Before::Settled);
    }

    /// Returns a CAS number for the text under `key` that no key of its shard has had, but as clients chose it.
    pub fn next_cas(&mut self, key: &[u8]) -> u64 {
        let now = self.now;
        self.state_of(key).next_cas(now)
    }

    /// Returns the highest CAS number that a key of its shard has had.
    pub(crate) fn cas_max(&mut self, key: &[u8]) -> u64 {
        self.state_of(key).cas_max()
    }

    fn state_of(&mut self, key: &[u8]) -> &ShardState {
        self.held.state(shard_of(self.held.hash(key)))
    }
}
