//! The result of a check, in words.

use super::{Facts, Findings, Repair};
use engine::Mended;
use journal::Loss;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// Writes to standard output.
pub(super) fn print(text: &str) {
    // A reader that closed the pipe has read what it wanted.
    let _ = std::io::stdout().write_all(text.as_bytes());
}

pub(super) fn found(folder: &Path, found: &Findings) -> String {
    let mut text = format!("data folder {}\n", folder.display());
    if let Some(facts) = &found.facts {
        text += &facts_of(facts);
    }
    found.notes.iter().for_each(|note| line(&mut text, "note", note));
    found.damages.iter().for_each(|damage| line(&mut text, "damage", damage));
    match &found.repair {
        None => text += "sound\n",
        Some(Err(why)) => line(&mut text, "damaged beyond repair", why),
        Some(Ok(repair)) => {
            text += &loss(repair, "would leave");
            text += "damaged; --repair can fix it\n";
        }
    }
    text
}

pub(super) fn repaired(repair: &Repair) -> String {
    let mut text = loss(repair, "has left");
    repair.kept_as.iter().for_each(|file| line(&mut text, "kept aside", &file.display().to_string()));
    for (torn, file) in
        repair.facts.journal.torn.iter().flat_map(|torn| torn.kept_as.iter().map(move |kept| (torn, kept)))
    {
        line(&mut text, "kept aside", &torn.file.with_file_name(file).display().to_string());
    }
    text + "repaired; checked again:\n"
}

fn line(text: &mut String, what: &str, of: &str) {
    let _ = writeln!(text, "{what}: {of}");
}

fn facts_of(facts: &Facts) -> String {
    let Facts { keys, journal, journal_from, store } = facts;
    let mut text = format!("  keys     {keys}\n");
    let _ = writeln!(
        text,
        "  journal  from position {journal_from} to {}: {} frames beyond the store; bytes read: {}, segments: {}",
        journal.end, journal.frames, journal.bytes, journal.segments
    );
    let _ = writeln!(
        text,
        "  store    commit {}, as of position {} or later: {} records in {} runs, {} blocks; bytes: {}, segments: {}",
        store.commit, store.least_position, store.records, store.runs, store.blocks, store.bytes, store.segments
    );
    if let Some(torn) = &journal.torn {
        let (file, offset, bytes, why) = (torn.file.display(), torn.offset, torn.bytes, &torn.why);
        let torn = format!(
            "torn tail, as after a crash: {file} is valid up to byte {offset} ({why}); {bytes} bytes that were \
             never acknowledged as durable are kept aside by a start or a repair"
        );
        line(&mut text, "note", &torn);
    }
    if let Some(torn) = &store.torn {
        let (file, offset, bytes, why) = (torn.file.display(), torn.offset, torn.bytes, &torn.why);
        let torn = format!(
            "incomplete checkpoint: {file} is valid up to byte {offset} ({why}), followed by {bytes} bytes; the \
             journal has all of its data"
        );
        line(&mut text, "note", &torn);
    }
    text
}

fn loss(repair: &Repair, left: &str) -> String {
    let mut text = String::new();
    for Mended { shard, keys_stored, keys_left, changes_lost } in &repair.mended {
        let stored = format!(
            "a repair {left} {keys_left} of {keys_stored} stored keys in shard {shard}, some perhaps in an older \
             state; journal changes that cannot be applied: {changes_lost}"
        );
        line(&mut text, "loss", &stored);
    }
    if let Some(lost) = &repair.facts.journal.loss {
        line(&mut text, "loss", &of_journal(lost, repair, left));
    } else if repair.mended.is_empty() {
        line(&mut text, "loss", "none: the damaged data is unused or also in the journal");
    }
    let keys = repair.facts.keys;
    line(&mut text, "keys", &format!("a repair {left} {keys} in all databases"));
    text
}

/// Describes the loss by a repair of a damaged journal.
fn of_journal(lost: &Loss, repair: &Repair, left: &str) -> String {
    let Loss { why, whole_until, has_gap } = lost;
    let journal = &repair.facts.journal;
    let aside = match journal.torn.as_ref().map_or(0, |torn| torn.bytes) {
        0 => "there are no bytes to keep aside".to_owned(),
        bytes => format!("{bytes} bytes are kept aside"),
    };
    let mut text = format!(
        "the journal cannot be read from position {whole_until} on ({why}); a repair {left} what was written before, \
         but no later write that only the journal had; {aside}"
    );
    if *has_gap {
        let _ = write!(
            text,
            "; the store has some shards as of up to position {}, others in an older state; all are rewritten as of \
             that position",
            journal.end
        );
    }
    text
}
