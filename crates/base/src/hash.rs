//! The keyed hash of key names, and the hash that orders the elements of a value.
//!
//! Keys: SipHash-1-3 under a 128-bit key drawn once per data folder: without the key nobody can choose names that
//! collide in one shard. It is part of the file format (it determines a record's shard).
//!
//! Fields and members: [`order`], the same on every machine, since values are stored in its order. Provoking a
//! collision gains nothing: the bytes decide then.

use siphasher::sip::SipHasher13;

/// Keyed hash of byte strings; permanent for a given key.
#[derive(Clone, Copy)]
pub struct KeyHasher {
    sip: SipHasher13,
    key: [u8; 16],
}

impl KeyHasher {
    /// Creates a hasher under `key`.
    pub fn new(key: [u8; 16]) -> Self {
        Self { sip: SipHasher13::new_with_key(&key), key }
    }

    /// Creates a hasher under a fresh random key from the operating system.
    pub fn random() -> Self {
        let mut key = [0; 16];
        getrandom::fill(&mut key).expect("the operating system gives random bytes");
        Self::new(key)
    }

    /// Returns the key, to be stored with the data.
    pub fn key(&self) -> [u8; 16] {
        self.key
    }

    /// Returns the hash of `name`. O(length).
    pub fn hash(&self, name: &[u8]) -> u64 {
        self.sip.hash(name)
    }
}

/// Returns unpredictable bytes from the operating system.
pub fn secret_bytes(count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    getrandom::fill(&mut bytes).expect("the operating system gives random bytes");
    bytes
}

/// The hash by which fields and members are ordered (XXH3, 64 bits, no seed): frozen, it is part of the file format.
#[inline]
pub fn order(bytes: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(bytes)
}

/// [`order`] of bytes supplied piece by piece.
#[derive(Clone, Default)]
pub struct Digest(xxhash_rust::xxh3::Xxh3);

impl Digest {
    /// Adds a piece. O(length).
    pub fn add(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// Returns the hash of all pieces so far.
    pub fn hash(&self) -> u64 {
        self.0.digest()
    }
}

#[cfg(test)]
mod tests {
    /// The hash does not depend on how the bytes are cut.
    #[test]
    fn hashing_in_pieces_equals_hashing_the_whole() {
        let bytes: Vec<u8> = (0..20_000u32).map(|at| (at * at % 251) as u8).collect();
        for (length, cut) in [(0, 1), (3, 1), (17, 5), (240, 7), (241, 100), (1024, 255), (20_000, 4080), (20_000, 333)]
        {
            let mut digest = super::Digest::default();
            bytes[..length].chunks(cut).for_each(|piece| digest.add(piece));
            assert_eq!(digest.hash(), super::order(&bytes[..length]), "{length} bytes by {cut}");
        }
    }

    /// The values are those of other implementations of XXH3.
    #[test]
    fn the_order_hash_equals_known_xxh3_values() {
        assert_eq!(super::order(b""), 0x2d06_8005_38d3_94c2);
        assert_eq!(super::order(b"abc"), 0x78af_5f94_892f_3950);
        assert_eq!(super::order(b"a"), 0xe6c6_32b6_1e96_4e1f);
    }
}
