//! File names, and the kinds of files in a folder.

use crate::SegmentKind;

/// Reserve for a commit on a full disk.
pub(crate) const RESERVE: &str = "reserve";

/// Returns the name of manifest `number`.
pub(crate) fn manifest(number: u32) -> String {
    format!("manifest-{number:010}")
}

/// Returns its name while it is being written.
pub(crate) fn manifest_new(number: u32) -> String {
    format!("manifest-{number:010}.new")
}

/// Returns the name of a segment.
pub(crate) fn segment(number: u32, kind: SegmentKind) -> String {
    format!("{number:010}.{}", suffix(kind))
}

fn suffix(kind: SegmentKind) -> &'static str {
    match kind {
        SegmentKind::Runs => "runs",
        SegmentKind::Blocks => "blocks",
    }
}

/// The contents of a store's folder; files with other names are left alone.
#[derive(Debug, Default)]
pub(crate) struct Inventory {
    pub(crate) manifests: Vec<u32>,
    /// Manifests never finished.
    pub(crate) unfinished: Vec<u32>,
    pub(crate) segments: Vec<(u32, SegmentKind)>,
}

impl Inventory {
    pub(crate) fn of(names: &[String]) -> Self {
        let mut inventory = Self::default();
        for name in names {
            if let Some(rest) = name.strip_prefix("manifest-") {
                inventory.manifests.extend(digits(rest));
                inventory.unfinished.extend(rest.strip_suffix(".new").and_then(digits));
            }
            for kind in [SegmentKind::Runs, SegmentKind::Blocks] {
                let stem = name.strip_suffix(suffix(kind)).and_then(|stem| stem.strip_suffix('.'));
                inventory.segments.extend(stem.and_then(digits).map(|number| (number, kind)));
            }
        }
        inventory.manifests.sort_unstable();
        inventory.segments.sort_unstable();
        inventory
    }

    /// Returns the highest manifest number, finished or not; 0 if there is none.
    pub(crate) fn highest_manifest(&self) -> u32 {
        self.manifests.iter().chain(&self.unfinished).copied().max().unwrap_or(0)
    }
}

fn digits(text: &str) -> Option<u32> {
    let plain = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_file_names_are_listed() {
        let names = [
            segment(7, SegmentKind::Blocks),
            segment(42, SegmentKind::Runs),
            manifest(3),
            manifest_new(4),
            "reserve".into(),
            "42.runs".into(),
            "000000+001.runs".into(),
            "9999999999.runs".into(),
            "manifest-3".into(),
            "0000000001.runs.x".into(),
        ];
        let inventory = Inventory::of(&names);
        assert_eq!(inventory.segments, [(7, SegmentKind::Blocks), (42, SegmentKind::Runs)]);
        assert_eq!((inventory.manifests, inventory.unfinished), (vec![3], vec![4]));
    }
}
