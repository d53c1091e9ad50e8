//! What more than one target needs.

pub mod store_world;

use base::disk::{Disk, FakeDisk};
use std::path::Path;

/// Files that grow on only take time, and each change may double one.
const FILE_BYTES_MAX: usize = 16 << 10;

/// Changes one file; `mend` makes checksums hold again. Whether they can still tell.
pub fn alter(disk: &FakeDisk, path: &Path, what: u8, offset: usize, value: u8, mend: fn(&mut [u8])) -> bool {
    let mut file = disk.open(path).expect("the file is there");
    let mut bytes = vec![0; file.bytes().expect("a length") as usize];
    file.read_at(&mut bytes, 0).expect("its bytes");
    if bytes.is_empty() {
        return true;
    }
    let offset = offset % bytes.len();
    match what % 5 {
        0 => bytes[offset] ^= value,
        1 => bytes.truncate(offset),
        2 => bytes[offset..].iter_mut().take(usize::from(value)).for_each(|byte| *byte = 0),
        3 => {
            bytes.extend_from_within(offset..);
            bytes.truncate(FILE_BYTES_MAX);
        }
        _ => {
            bytes[offset] ^= value;
            mend(&mut bytes);
        }
    }
    file.truncate(0).expect("cut");
    file.write_at(&bytes, 0).expect("written");
    what % 5 != 4
}
