//! The identity of a data folder: random values drawn once, on which everything in it depends.
//!
//! ```text
//! file `identity`, 72 bytes
//!   | magic 8 | version 4 | crc 4 | hash key 16 | shards 4 | blocks 4 | zero 8 | created ms 8 | seal key 16 |
//!   0         8           12      16            32         36         40       48             56            72
//! ```
//!
//! It is written once the first segment is durable. So a folder with an identity has had segments, and frames without
//! an identity have lost it. Version 1 ends before the seal key; the first start that finds version 1 draws the key,
//! and writes the file in version 2 before anything sealed.

use crate::format::{u32_at, u64_at};
use crate::seal::Seal;
use crate::{OpenError, Options};
use base::disk::Disk;
use base::{Ms, checksum};
use std::io;
use std::path::Path;

pub(crate) const NAME: &str = "identity";
const MAGIC: [u8; 8] = *b"bobbinI\n";
const VERSION: u32 = 2;
const BYTES: usize = 72;
/// Without the seal key.
const VERSION_PLAIN: u32 = 1;
const BYTES_PLAIN: usize = 56;
/// The remedy for a missing or damaged identity.
pub const REMEDY: &str = "Restore this file from a backup made since this version or a later one first started on \
     the folder: it has not changed since then. Without it keys cannot be assigned to shards, nor records verified; \
     if there is no such backup, restore the whole data folder from an older one, or begin with an empty folder.";

/// The identity of a data folder, drawn once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Key of the hash of key names.
    pub hash_key: [u8; 16],
    /// Number of shards of the keyspace.
    pub shards: u32,
    /// Format version of the blocks in frames; 0 in folders older than the first version.
    pub blocks: u32,
    /// Creation time of the folder.
    pub created_ms: Ms,
    /// The seal key; `None` if not yet drawn.
    seal_key: Option<[u8; 16]>,
}

/// Omits the keys.
impl std::fmt::Debug for Identity {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { shards, blocks, created_ms, .. } = self;
        write!(out, "Identity {{ shards: {shards}, blocks: {blocks}, created_ms: {created_ms} }}")
    }
}

impl Identity {
    pub(crate) fn draw(options: &Options) -> Self {
        Self {
            hash_key: options.drawn[0],
            shards: options.shards,
            blocks: options.blocks,
            created_ms: options.now_ms,
            seal_key: Some(options.drawn[2]),
        }
    }

    /// Draws the seal key if there is none. Returns true if it drew one.
    pub(crate) fn draw_seal_key(&mut self, options: &Options) -> bool {
        let is_old = self.seal_key.is_none();
        self.seal_key.get_or_insert(options.drawn[2]);
        is_old
    }

    /// Returns the folder's sealer. A folder without a key has no seals either: its key is zeros.
    pub(crate) fn seal(&self) -> Seal {
        Seal::new(self.seal_key.unwrap_or_default())
    }

    /// Reads the identity of `folder`; `None` if there is none.
    pub(crate) fn read(disk: &dyn Disk, folder: &Path) -> Result<Option<Self>, OpenError> {
        let path = folder.join(NAME);
        let file = match disk.open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(OpenError::Io { file: path, error }),
        };
        let mut bytes = [0; BYTES + 1];
        let count = file.read_at(&mut bytes, 0).map_err(OpenError::io(&path))?;
        Self::decode(&bytes[..count]).map(Some).map_err(|why| OpenError::Damaged {
            file: path,
            offset: 0,
            why: why.into(),
            remedy: REMEDY.into(),
        })
    }

    /// Writes the identity to `folder`, durably.
    pub(crate) fn write(&self, disk: &dyn Disk, folder: &Path) -> Result<(), OpenError> {
        let (path, making) = (folder.join(NAME), folder.join("identity.tmp"));
        let write = || {
            match disk.remove(&making) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = disk.create(&making)?;
            file.write_at(&self.encode(), 0)?;
            file.sync()?;
            disk.rename(&making, &path)?;
            disk.sync_folder(folder)
        };
        write().map_err(OpenError::io(&path))
    }

    fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
        bytes[16..32].copy_from_slice(&self.hash_key);
        bytes[32..36].copy_from_slice(&self.shards.to_le_bytes());
        bytes[36..40].copy_from_slice(&self.blocks.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.created_ms.to_le_bytes());
        bytes[56..].copy_from_slice(&self.seal_key.expect("it is drawn before it is kept"));
        let crc = checksum(checksum(0, &bytes[..12]), &bytes[16..]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
        if ![BYTES, BYTES_PLAIN].contains(&bytes.len()) {
            return Err("the file has a wrong length");
        }
        if bytes[..8] != MAGIC {
            return Err("the file is not an identity");
        }
        if u32_at(bytes, 12) != checksum(checksum(0, &bytes[..12]), &bytes[16..]) {
            return Err("checksum mismatch");
        }
        let seal_key = match (u32_at(bytes, 8), bytes.len()) {
            (VERSION_PLAIN, BYTES_PLAIN) => None,
            (VERSION, BYTES) => bytes.last_chunk().copied(),
            _ => return Err("the file has an unknown format version"),
        };
        let hash_key = bytes[16..].first_chunk().copied().unwrap_or_default();
        let (shards, blocks, created_ms) = (u32_at(bytes, 32), u32_at(bytes, 36), u64_at(bytes, 48));
        Ok(Self { hash_key, shards, blocks, created_ms, seal_key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const IDENTITY: Identity =
        Identity { hash_key: [9; 16], shards: 1024, blocks: 3, created_ms: 77, seal_key: Some([5; 16]) };

    /// Returns the bytes of version 1.
    fn plain() -> Vec<u8> {
        let mut bytes = IDENTITY.encode()[..BYTES_PLAIN].to_vec();
        bytes[8] = VERSION_PLAIN as u8;
        let crc = checksum(checksum(0, &bytes[..12]), &bytes[16..]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    #[test]
    fn a_flipped_bit_or_wrong_length_is_rejected() {
        let old = Identity { seal_key: None, ..IDENTITY };
        for (mut bytes, identity) in [(IDENTITY.encode().to_vec(), IDENTITY), (plain(), old)] {
            assert!(Identity::decode(&bytes) == Ok(identity));
            for bit in 0..bytes.len() * 8 {
                bytes[bit / 8] ^= 1 << (bit % 8);
                assert!(Identity::decode(&bytes).is_err(), "bit {bit}");
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            assert!(Identity::decode(&bytes[..bytes.len() - 1]).is_err());
            assert!(Identity::decode(&[&bytes[..], &[0]].concat()).is_err());
        }
    }

    #[test]
    fn debug_output_contains_no_keys() {
        let output = format!("{IDENTITY:?} {:?}", IDENTITY.seal());
        assert_eq!(output, "Identity { shards: 1024, blocks: 3, created_ms: 77 } Seal");
    }
}
