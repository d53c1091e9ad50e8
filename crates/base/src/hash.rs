//! The keyed hash of key names.
//!
//! SipHash-1-3 under a 128-bit key drawn once per data folder: who does not know the key cannot choose names
//! that meet in one shard. It is part of the file format (it says which shard a record belongs to).

use siphasher::sip::SipHasher13;

/// Keyed hash of byte strings; the same key gives the same hashes for ever.
#[derive(Clone, Copy)]
pub struct KeyHasher {
    sip: SipHasher13,
    key: [u8; 16],
}

impl KeyHasher {
    /// A hasher under `key`.
    pub fn new(key: [u8; 16]) -> Self {
        Self { sip: SipHasher13::new_with_key(&key), key }
    }

    /// A hasher under a fresh random key from the operating system.
    pub fn random() -> Self {
        let mut key = [0; 16];
        getrandom::fill(&mut key).expect("the operating system gives random bytes");
        Self::new(key)
    }

    /// The key, to be kept beside the data.
    pub fn key(&self) -> [u8; 16] {
        self.key
    }

    /// The hash of `name`. O(length).
    pub fn hash(&self, name: &[u8]) -> u64 {
        self.sip.hash(name)
    }
}
