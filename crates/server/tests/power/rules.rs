//! The rules of durability, checked on a trace.
//!
//! ```text
//! reply      its frames, and all before them, were written; then a sync of each file began and returned; the names of
//!            those files were synced likewise; then the reply's first byte left
//! start      what was recovered is synced, then the new segment gets its name, synced and whole, then comes the
//!            identity of a new folder, all before the first reply; folders that were made are synced in their parents
//! torn tail  its copy is durable before the original is cut
//! segment    its room was filled and synced before it became a segment
//! clean stop all is durable, then the last mark says so, then that is synced too
//! ```

use crate::power::talk::{Id, Reply, marks, replies};
use crate::power::trace::{Call, Event, NEVER};
use journal::{Kind, MARK_BYTES, Record};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// The result of checking a trace.
pub(crate) struct Verdict {
    /// Each breach of a rule, in words.
    pub(crate) faults: Vec<String>,
    /// Replies that had to wait for a sync.
    pub(crate) replies: Vec<Reply>,
    /// Segments begun.
    pub(crate) segments: usize,
    /// Torn tails kept aside.
    pub(crate) torn: usize,
    /// Marks of a clean stop.
    pub(crate) stops: usize,
}

/// One file under all its names.
#[derive(Default)]
struct File {
    writes: Vec<Span>,
    syncs: Vec<Span>,
    resizes: Vec<Span>,
    /// When it got the name it has.
    named: Option<Span>,
}

/// Lines at which a call began and returned.
#[derive(Clone, Copy)]
struct Span {
    begin: usize,
    end: usize,
}

/// A thing that must last, once something is acknowledged that was written after it.
struct Link {
    line: usize,
    /// The line at which it, and all before it, was durable.
    durable: usize,
    what: String,
}

struct History {
    files: Vec<File>,
    /// The file that has each name at the end.
    names: BTreeMap<PathBuf, usize>,
    folder_syncs: HashMap<PathBuf, Vec<Span>>,
    runs: Vec<Run>,
}

/// One life of the server.
struct Run {
    begin: usize,
    always: bool,
    first_reply: usize,
    folders: Vec<(PathBuf, Span)>,
    /// Segments that were there when it began.
    found: Vec<(PathBuf, usize)>,
    /// Names given, in order.
    renames: Vec<(PathBuf, PathBuf, usize, Span)>,
    /// Files made.
    made: Vec<(PathBuf, usize, Span)>,
    /// Writes into segments: file, where it began, the event's number.
    segment_writes: Vec<(usize, Span, usize)>,
}

/// Checks all rules.
pub(crate) fn check(events: &[Event]) -> Verdict {
    let history = History::of(events);
    let mut verdict = Verdict { faults: Vec::new(), replies: Vec::new(), segments: 0, torn: 0, stops: 0 };
    let mut replies = replies(events);
    let mut written = HashMap::new();
    for (index, run) in history.runs.iter().enumerate() {
        let until = history.runs.get(index + 1).map_or(NEVER, |next| next.begin);
        let chain = history.chain(run);
        note_written(&mut written, events, run, &chain);
        let mine: Vec<Reply> = replies.extract_if(.., |reply| reply.line < until).collect();
        if run.always {
            verdict.faults.extend(mine.iter().flat_map(|reply| reply_faults(reply, &written)));
            verdict.replies.extend(mine);
        }
        verdict.segments += run.new_segments().count();
        verdict.torn += run.torn().count();
        verdict.faults.extend(history.start_faults(run));
        verdict.faults.extend(history.torn_faults(run));
        verdict.faults.extend(history.segment_faults(run));
        if let Some(stop) = run.clean_stop(events) {
            verdict.stops += 1;
            verdict.faults.extend(history.stop_faults(stop, &chain));
        }
    }
    verdict
}

/// Records where each marked value was first written, and when everything up to there was durable.
fn note_written(written: &mut HashMap<Id, (usize, String)>, events: &[Event], run: &Run, chain: &[Link]) {
    for &(_, span, event) in &run.segment_writes {
        let Call::Write { bytes, .. } = &events[event].call else { unreachable!("only writes are noted") };
        let link = &chain[chain.partition_point(|link| link.line <= span.begin) - 1];
        for id in marks(bytes) {
            written.entry(id).or_insert_with(|| (link.durable, link.what.clone()));
        }
    }
}

fn reply_faults(reply: &Reply, written: &HashMap<Id, (usize, String)>) -> Vec<String> {
    let line = reply.line;
    let fault = |id: &Id| match written.get(id) {
        None => Some(format!("line {line}: a reply reports value {id}, which no segment has")),
        Some((durable, what)) if *durable >= line => {
            let when = if *durable == NEVER { "never".into() } else { format!("at line {durable}") };
            Some(format!("line {line}: a reply reports value {id}, but {what} was durable {when}"))
        }
        Some(_) => None,
    };
    reply.ids.iter().filter_map(fault).collect()
}

fn is_segment(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "log")
        && path.file_stem().is_some_and(|stem| stem.as_encoded_bytes().iter().all(u8::is_ascii_digit))
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// When what happened by `span` was durable by one of `syncs`.
fn durable_at(span: Span, syncs: &[Span]) -> usize {
    let later = &syncs[syncs.partition_point(|sync| sync.begin <= span.end)..];
    later.iter().map(|sync| sync.end).min().unwrap_or(NEVER)
}

impl Run {
    fn new_segments(&self) -> impl Iterator<Item = &(PathBuf, PathBuf, usize, Span)> {
        self.renames.iter().filter(|(_, to, ..)| is_segment(to))
    }

    fn torn(&self) -> impl Iterator<Item = &(PathBuf, usize, Span)> {
        self.made.iter().filter(|(path, ..)| name_of(path).starts_with("torn-"))
    }

    /// The mark of a clean stop, and the file it is in.
    fn clean_stop(&self, events: &[Event]) -> Option<(usize, Span)> {
        let is_mark = |event: usize| {
            let Call::Write { bytes, .. } = &events[event].call else { unreachable!("only writes are noted") };
            let record = Record::glance(bytes).filter(|_| bytes.len() == MARK_BYTES);
            record.is_some_and(|record| record.head.kind == Kind::CleanStop)
        };
        self.segment_writes.iter().find(|write| is_mark(write.2)).map(|&(file, span, _)| (file, span))
    }
}

impl History {
    fn of(events: &[Event]) -> Self {
        let mut history =
            Self { files: Vec::new(), names: BTreeMap::new(), folder_syncs: HashMap::new(), runs: Vec::new() };
        for (number, event) in events.iter().enumerate() {
            history.note(number, event);
        }
        history
    }

    fn note(&mut self, number: usize, event: &Event) {
        let span = Span { begin: event.begin, end: event.end };
        match &event.call {
            Call::Start { always } => self.start(span.begin, *always),
            Call::MakeFolder { path } => self.run().folders.push((path.clone(), span)),
            Call::Create { path } => {
                if !self.names.contains_key(path) {
                    self.files.push(File { named: Some(span), ..File::default() });
                    let file = self.files.len() - 1;
                    self.names.insert(path.clone(), file);
                    self.run().made.push((path.clone(), file, span));
                }
            }
            Call::Write { path, .. } => {
                let file = self.names[path];
                self.files[file].writes.push(span);
                if is_segment(path) {
                    self.run().segment_writes.push((file, span, number));
                }
            }
            Call::Resize { path, .. } => {
                let file = self.names[path];
                self.files[file].resizes.push(span);
            }
            Call::Sync { path } => match self.names.get(path) {
                Some(&file) => self.files[file].syncs.push(span),
                None => self.folder_syncs.entry(path.clone()).or_default().push(span),
            },
            Call::Rename { from, to } => {
                let file = self.names.remove(from).expect("a file that was made is renamed");
                self.files[file].named = Some(span);
                self.names.insert(to.clone(), file);
                self.run().renames.push((from.clone(), to.clone(), file, span));
            }
            Call::Remove { path } => {
                self.names.remove(path);
            }
            Call::Sent { .. } => self.run().first_reply = self.run().first_reply.min(span.begin),
            Call::Received { .. } => {}
        }
    }

    fn start(&mut self, begin: usize, always: bool) {
        let segments = self.names.iter().filter(|(path, _)| is_segment(path));
        self.runs.push(Run {
            begin,
            always,
            first_reply: NEVER,
            folders: Vec::new(),
            found: segments.map(|(path, file)| (path.clone(), *file)).collect(),
            renames: Vec::new(),
            made: Vec::new(),
            segment_writes: Vec::new(),
        });
    }

    fn run(&mut self) -> &mut Run {
        self.runs.last_mut().expect("a trace begins with a start")
    }

    fn folder_durable_at(&self, folder: Option<&Path>, span: Span) -> usize {
        let syncs = folder.and_then(|folder| self.folder_syncs.get(folder));
        syncs.map_or(NEVER, |syncs| durable_at(span, syncs))
    }

    /// The names and writes that make up the journal of one run, in order.
    fn chain(&self, run: &Run) -> Vec<Link> {
        let mut links = Vec::new();
        for (from, to, file, span) in run.new_segments() {
            let (from, to_name) = (name_of(from), name_of(to));
            let named = self.folder_durable_at(to.parent(), *span);
            links.push(Link { line: span.begin, durable: named, what: format!("the name {to_name}") });
            let file = &self.files[*file];
            for write in file.writes.iter().filter(|write| write.begin < span.begin) {
                let what = format!("what {to_name} held as {from}");
                links.push(Link { line: span.begin, durable: durable_at(*write, &file.syncs), what });
            }
        }
        for (file, span, _) in &run.segment_writes {
            let durable = durable_at(*span, &self.files[*file].syncs);
            links.push(Link { line: span.begin, durable, what: format!("the write at line {}", span.begin) });
        }
        links.sort_by_key(|link| link.line);
        for index in 1..links.len() {
            let (before, from) = links.split_at_mut(index);
            let (last, link) = (&before[index - 1], &mut from[0]);
            if last.durable > link.durable {
                (link.durable, link.what) = (last.durable, last.what.clone());
            }
        }
        links
    }

    /// Checks what a start must have made durable.
    fn start_faults(&self, run: &Run) -> Vec<String> {
        let mut faults = Vec::new();
        let mut must = |what: String, durable: usize, before: usize, then: &str| {
            if durable >= before && before != NEVER {
                faults.push(format!("run at line {}: {what} is not durable before {then}, line {before}", run.begin));
            }
        };
        let reply = "the first reply";
        for (path, span) in &run.folders {
            let durable = self.folder_durable_at(path.parent(), *span);
            must(format!("the name of folder {}", path.display()), durable, run.first_reply, reply);
        }
        let Some((_, new, file, named)) = run.new_segments().next() else { return faults };
        let segment = format!("the new segment {}", name_of(new));
        let start = Span { begin: run.begin, end: run.begin };
        let mut aside = run.renames.iter().filter(|rename| rename.3.begin < named.begin).map(|rename| rename.3);
        let last_aside = aside.next_back().unwrap_or(start);
        for (path, file) in run.found.iter().filter(|(path, file)| self.names.get(path) == Some(file)) {
            let durable = durable_at(start, &self.files[*file].syncs);
            must(format!("the recovered {}", name_of(path)), durable, named.begin, &segment);
        }
        let durable = self.folder_durable_at(new.parent(), last_aside);
        must("the recovered folder".into(), durable, named.begin, &segment);
        let file = &self.files[*file];
        for write in file.writes.iter().filter(|write| write.begin < named.begin) {
            must(format!("the content of {segment}"), durable_at(*write, &file.syncs), named.begin, "its name");
        }
        let name_durable = self.folder_durable_at(new.parent(), *named);
        must(format!("the name of {segment}"), name_durable, run.first_reply, reply);
        let Some((_, path, identity, renamed)) = run.renames.iter().find(|rename| name_of(&rename.1) == "identity")
        else {
            return faults;
        };
        must(format!("the name of {segment}"), name_durable, renamed.begin, "the identity");
        let identity = &self.files[*identity];
        let content = identity.writes.iter().map(|write| durable_at(*write, &identity.syncs)).max();
        must("the identity".into(), content.unwrap_or(NEVER), renamed.begin, "its name");
        must("the identity's name".into(), self.folder_durable_at(path.parent(), *renamed), run.first_reply, reply);
        faults
    }

    /// A copy of torn bytes is durable before the original is cut off.
    fn torn_faults(&self, run: &Run) -> Vec<String> {
        let resizes = run.found.iter().flat_map(|(_, file)| &self.files[*file].resizes);
        let cut = resizes.map(|resize| resize.begin).filter(|&line| line > run.begin).min().unwrap_or(NEVER);
        let mut faults = Vec::new();
        for (path, file, made) in run.torn() {
            let file = &self.files[*file];
            let content = file.writes.iter().map(|write| durable_at(*write, &file.syncs)).max().unwrap_or(NEVER);
            if content.max(self.folder_durable_at(path.parent(), *made)) >= cut {
                faults.push(format!("line {cut}: a torn tail is cut off before {} is durable", name_of(path)));
            }
        }
        faults
    }

    /// The room of a segment was durable before it became one; only its head may come later.
    fn segment_faults(&self, run: &Run) -> Vec<String> {
        let mut faults = Vec::new();
        for (_, to, file, named) in run.new_segments() {
            let file = &self.files[*file];
            let writes: Vec<Span> = file.writes.iter().copied().filter(|write| write.begin < named.begin).collect();
            let Some((_, room)) = writes.split_last() else { continue };
            if room.iter().any(|write| durable_at(*write, &file.syncs) >= named.begin) {
                faults.push(format!("line {}: {} is begun before its room is durable", named.begin, name_of(to)));
            }
        }
        faults
    }

    /// The mark of a clean stop is true, and durable.
    fn stop_faults(&self, (file, mark): (usize, Span), chain: &[Link]) -> Vec<String> {
        let mut faults = Vec::new();
        let before = &chain[..chain.partition_point(|link| link.line < mark.begin)];
        if let Some(link) = before.last().filter(|link| link.durable >= mark.begin) {
            let durable = link.durable;
            faults.push(format!(
                "line {}: the clean stop is marked before {} is durable ({durable})",
                mark.begin, link.what
            ));
        }
        let file = &self.files[file];
        let last = file.resizes.iter().copied().rfind(|resize| resize.begin > mark.end).unwrap_or(mark);
        if durable_at(last, &file.syncs) == NEVER {
            faults.push(format!("line {}: the mark of the clean stop is never durable", mark.begin));
        }
        faults
    }
}
