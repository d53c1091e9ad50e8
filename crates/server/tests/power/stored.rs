//! The rules of the store, checked on a trace.
//!
//! ```text
//! commit     all segments of the store are durable, with their names; then a record is written into the manifest
//! manifest   a new one is whole and durable before it gets its name
//! removal    the newest manifest is durable, with its name, before any segment or manifest goes
//! ```

use crate::power::trace::{Call, Event, NEVER};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The result of checking a trace.
#[derive(Default)]
pub(crate) struct Verdict {
    /// Each breach of a rule, in words.
    pub(crate) faults: Vec<String>,
    /// Records written into manifests.
    pub(crate) commits: usize,
    /// Segments removed.
    pub(crate) removed: usize,
}

/// A file that is there.
#[derive(Default)]
struct File {
    /// The lines at which each write since the last sync, and its naming, returned.
    unsynced: Vec<usize>,
    /// The line at which it was named, if its folder was not synced since.
    unnamed: Option<usize>,
}

impl File {
    fn lasts(&self) -> bool {
        self.unsynced.is_empty() && self.unnamed.is_none()
    }
}

/// The store's files as a trace goes by. Syncs count from where they return, for what had returned when they began.
#[derive(Default)]
struct Walk {
    files: BTreeMap<PathBuf, File>,
    verdict: Verdict,
}

/// Checks all rules.
pub(crate) fn check(events: &[Event]) -> Verdict {
    let mut walk = Walk::default();
    // A sync that has not returned yet has done nothing.
    let at = |event: &Event| if matches!(event.call, Call::Sync { .. }) { event.end } else { event.begin };
    let mut ordered: Vec<&Event> = events.iter().filter(|event| at(event) != NEVER).collect();
    ordered.sort_by_key(|event| at(event));
    ordered.into_iter().for_each(|event| walk.note(event));
    walk.verdict
}

impl Walk {
    fn note(&mut self, event: &Event) {
        match &event.call {
            // The rest of an interrupted commit: no record names it.
            Call::Start { .. } => self.files.retain(|path, file| !is_segment(path) || file.lasts()),
            Call::Create { path } if is_stored(path) => {
                self.files.entry(path.clone()).or_default().unnamed = Some(event.end);
            }
            // A mark of durability need not itself be durable.
            Call::Write { path, bytes, .. } if is_manifest(path) && is_mark(bytes) => {}
            Call::Write { path, .. } if is_stored(path) => {
                if is_manifest(path) && path.extension().is_none() {
                    self.verdict.commits += 1;
                    self.must_last(event.begin, is_segment, "a record is written into the manifest");
                }
                self.files.entry(path.clone()).or_default().unsynced.push(event.end);
            }
            Call::Rename { from, to } if is_stored(from) => {
                self.must_last(event.begin, is_segment, "a manifest gets its name");
                let mut file = self.files.remove(from).unwrap_or_default();
                self.must(event.begin, file.unsynced.is_empty(), from, "it gets its name");
                file.unnamed = Some(event.end);
                self.files.insert(to.clone(), file);
            }
            Call::Remove { path } if is_stored(path) => {
                self.verdict.removed += usize::from(is_segment(path));
                let newest = self.files.keys().rfind(|path| is_manifest(path) && path.extension().is_none()).cloned();
                let is_newest = |path: &Path| Some(path) == newest.as_deref();
                if path.extension().is_none_or(|extension| extension != "new") {
                    self.must_last(event.begin, is_newest, "a file is removed");
                }
                self.files.remove(path);
            }
            Call::Sync { path } => self.sync(path, event.begin),
            _ => {}
        }
    }

    fn sync(&mut self, path: &Path, began: usize) {
        if let Some(file) = self.files.get_mut(path) {
            file.unsynced.retain(|&end| end > began);
        }
        for (_, file) in self.files.iter_mut().filter(|(name, _)| name.parent() == Some(path)) {
            file.unnamed = file.unnamed.filter(|&end| end > began);
        }
    }

    fn must_last(&mut self, line: usize, which: impl Fn(&Path) -> bool, then: &str) {
        let weak = self.files.iter().find(|(path, file)| which(path) && !file.lasts());
        if let Some((path, _)) = weak {
            self.must(line, false, &path.clone(), then);
        }
    }

    fn must(&mut self, line: usize, holds: bool, path: &Path, then: &str) {
        if !holds {
            self.verdict.faults.push(format!("line {line}: {} is not durable before {then}", path.display()));
        }
    }
}

/// Returns true for the record of a manifest that marks the previous one as synced.
fn is_mark(bytes: &[u8]) -> bool {
    bytes.get(8..12) == Some(b"bob\x03")
}

fn is_stored(path: &Path) -> bool {
    is_segment(path) || is_manifest(path)
}

fn is_segment(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "runs" || extension == "blocks")
}

fn is_manifest(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("manifest-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::power::trace::parse;

    const COMMIT: &str = r#"
1 openat(AT_FDCWD</x>, "/d/store/0000000001.runs", O_RDWR|O_CREAT|O_EXCL, 0666) = 5</d/store/0000000001.runs>
1 pwrite64(5</d/store/0000000001.runs>, "page", 4, 0) = 4
1 fdatasync(5</d/store/0000000001.runs>) = 0
1 fsync(4</d/store>) = 0
1 openat(AT_FDCWD</x>, "/d/store/manifest-0000000001.new", O_RDWR|O_CREAT|O_EXCL, 0666) = 6</d/store/m>
1 pwrite64(6</d/store/manifest-0000000001.new>, "head", 4, 0) = 4
1 fdatasync(6</d/store/manifest-0000000001.new>) = 0
1 rename("/d/store/manifest-0000000001.new", "/d/store/manifest-0000000001") = 0
1 fsync(4</d/store>) = 0
1 pwrite64(6</d/store/manifest-0000000001>, "record", 6, 4) = 6
1 fdatasync(6</d/store/manifest-0000000001>) = 0
1 unlink("/d/store/0000000001.runs") = 0
"#;

    fn faults(lines: &[&str]) -> usize {
        check(&parse(lines.join("\n").as_bytes(), Path::new("/d"), 0).unwrap()).faults.len()
    }

    #[test]
    fn each_sync_of_a_commit_is_needed() {
        let lines: Vec<&str> = COMMIT.trim().lines().collect();
        assert_eq!(faults(&lines), 0);
        let syncs = (0..lines.len()).filter(|&line| lines[line].contains("sync("));
        for sync in syncs {
            let rest = [&lines[..sync], &lines[sync + 1..]].concat();
            assert!(faults(&rest) > 0, "without {}", lines[sync]);
        }
    }
}
