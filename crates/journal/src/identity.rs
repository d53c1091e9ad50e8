//! Who a data folder is: what was drawn once and everything in it depends on.
//!
//! ```text
//! file `identity`, 56 bytes
//!   | magic 8 | version 4 | crc 4 | hash key 16 | shards 4 | blocks 4 | zero 8 | created ms 8 |
//!   0         8           12      16            32         36         40       48             56
//! ```
//!
//! It is written after the first segment is durable. So a folder with an identity has had segments, and frames
//! without an identity have lost it.

use crate::format::{u32_at, u64_at};
use crate::{OpenError, Options};
use base::disk::Disk;
use base::{Ms, checksum};
use std::io;
use std::path::Path;

const NAME: &str = "identity";
const MAGIC: [u8; 8] = *b"bobbinI\n";
const VERSION: u32 = 1;
const BYTES: usize = 56;

/// What was drawn once for a data folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The key under which key names are hashed.
    pub hash_key: [u8; 16],
    /// Shards of the keyspace.
    pub shards: u32,
    /// Format version of the blocks in frames; 0 in folders from before the first.
    pub blocks: u32,
    /// When the folder was made.
    pub created_ms: Ms,
}

impl Identity {
    pub(crate) fn draw(options: &Options) -> Self {
        Self { hash_key: options.drawn[0], shards: options.shards, blocks: options.blocks, created_ms: options.now_ms }
    }

    /// Reads the identity kept in `folder`; `None` if there is none.
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
            remedy: "Restore this file from a backup: it never changes.".into(),
        })
    }

    /// Keeps the identity in `folder`, durably.
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
        bytes[48..].copy_from_slice(&self.created_ms.to_le_bytes());
        let crc = checksum(checksum(0, &bytes[..12]), &bytes[16..]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
        let bytes: &[u8; BYTES] = bytes.try_into().map_err(|_| "the file has a wrong length")?;
        if bytes[..8] != MAGIC {
            return Err("the file is no identity");
        }
        if u32_at(bytes, 12) != checksum(checksum(0, &bytes[..12]), &bytes[16..]) {
            return Err("the checksum does not hold");
        }
        if u32_at(bytes, 8) != VERSION {
            return Err("the file has an unknown format version");
        }
        let mut hash_key = [0; 16];
        hash_key.copy_from_slice(&bytes[16..32]);
        Ok(Self { hash_key, shards: u32_at(bytes, 32), blocks: u32_at(bytes, 36), created_ms: u64_at(bytes, 48) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_wrong_bit_and_any_other_length_is_refused() {
        let identity = Identity { hash_key: [9; 16], shards: 1024, blocks: 3, created_ms: 77 };
        let mut bytes = identity.encode();
        assert_eq!(Identity::decode(&bytes), Ok(identity));
        for bit in 0..BYTES * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(Identity::decode(&bytes).is_err(), "bit {bit}");
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        assert!(Identity::decode(&bytes[..BYTES - 1]).is_err());
        assert!(Identity::decode(&[&bytes[..], &[0]].concat()).is_err());
    }
}
