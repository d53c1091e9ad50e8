//! A connection of the memcached port: the commands for its requests, and their counters.
//!
//! ```text
//! bytes --> memcache::Decoder --> Request: a command, run like any other
//!                             |-> Say: a line that is due
//!                             `-> Own: version, quit
//! ```
//!
//! If a password is required, the first value set must be it: `set any 0 0 n`, with user and password as the value.

use super::port::{Port, Step};
use crate::client::Client;
use crate::counters::ItemCount;
use crate::prefixes::PrefixMap;
use crate::session::state::Session;
use crate::worker::Worker;
use commands::registry::{self, Command, Lookup};
use commands::{CommandSpec, Fact, ItemRequest, MEMCACHED_VERSION, MEMCACHEQ_VERSION, ReplyMode, Session as _};
use std::rc::Rc;
use std::sync::{Arc, LazyLock};
use wire::memcache::{Dialect, ITEM_BYTES_MAX, MemcacheDecoder, MemcacheStep, Own, Verb};
use wire::resp::{Encoder, Protocol};
use wire::{Args, Mark, Output, Ranges, Reply};

/// The answer before a password was given.
const UNAUTHENTICATED: &str = "CLIENT_ERROR unauthenticated";
const WRONG_PASSWORD: &str = "CLIENT_ERROR authentication failure";
const NO_PASSWORD: &str = "CLIENT_ERROR bad authentication token format";

impl Session {
    /// Creates a connection of the memcached port.
    pub fn of_memcached(worker: Rc<Worker>, client: Arc<Client>) -> Self {
        let settings = worker.settings();
        let database = settings.memcached_database;
        let mut session = Self::new(worker, client);
        session.port = Port::Memcached(Box::new(MemcacheDecoder::new(Dialect::Items, ITEM_BYTES_MAX)));
        session.port.set_authenticated(session.authenticated);
        session.protocol = Protocol::Memcache;
        session.select(database);
        session
    }

    /// Decodes the next request of a memcached-port or queue-port connection, its arguments into `ranges`.
    pub(in crate::session) fn decode_line(&mut self, input: &[u8], ranges: &mut Ranges, output: &mut Output) -> Step {
        if let Some(command) = self.next_step(ranges) {
            return Step::Request(0, Some(command));
        }
        if self.shows_items && !input.is_empty() {
            // As in memcached, input from a watcher is ignored.
            return Step::Done(input.len());
        }
        let is_authenticated = self.authenticated;
        let is_of_queues = matches!(self.port, Port::Queues(_));
        let Some(decoder) = self.port.line_decoder() else { unreachable!("RESP has a decoder of its own") };
        if !is_of_queues {
            decoder.set_item_bytes_max(values::limits::ITEM_BYTES.get() as usize);
        }
        let (used, text) = match decoder.step(input, ranges) {
            MemcacheStep::NeedMore { at_least } => return Step::NeedMore(at_least),
            MemcacheStep::Broken => return Step::Close,
            MemcacheStep::Http => return Step::Http,
            MemcacheStep::Empty { used } => return Step::Done(used),
            MemcacheStep::Request { used, .. } if !is_authenticated => {
                let text = self.take_password(&ranges.args(input));
                (used, text)
            }
            MemcacheStep::Request { used, silent } if is_of_queues => {
                let verb = decoder.verb();
                return self.decode_of_queue(verb, used, silent, input, ranges, output);
            }
            MemcacheStep::Request { used, silent } => {
                let command = row_of(decoder.verb(), &ranges.args(input));
                if silent {
                    self.reply_mode = ReplyMode::Skip;
                }
                return Step::Request(used, Some(command));
            }
            MemcacheStep::Own { used, own: Own::Quit } => {
                self.closing = true;
                return Step::Done(used);
            }
            MemcacheStep::Own { used, .. } if !is_authenticated => (used, UNAUTHENTICATED),
            MemcacheStep::Own { used, own: Own::Version } => {
                let version = if is_of_queues { MEMCACHEQ_VERSION } else { MEMCACHED_VERSION };
                self.say_line(&format!("VERSION {version}"), output);
                return Step::Done(used);
            }
            MemcacheStep::Say { used, text } => (used, text),
        };
        self.say_line(text, output);
        Step::Done(used)
    }

    /// Writes a line that no command writes.
    pub(in crate::session) fn say_line(&mut self, text: &str, output: &mut Output) {
        Encoder::new(output, self.protocol).simple(text);
        self.replies_held += 1;
    }

    /// Skips the rest of a line of keys if the request for one of them failed: the error since `mark` answers the whole
    /// line.
    pub(in crate::session) fn settle_line(&mut self, mark: Mark, output: &Output) {
        let reply = output.since(mark);
        if ["ERROR", "CLIENT_ERROR", "SERVER_ERROR"].iter().any(|word| reply.starts_with(word.as_bytes())) {
            match &mut self.port {
                Port::Resp(_) => {}
                Port::Memcached(decoder) => decoder.end_line(),
                Port::Queues(queues) => queues.end_line(),
            }
        }
    }

    /// Handles `set any 0 0 n` with user and password as the value. Returns the reply line.
    fn take_password(&mut self, args: &Args<'_>) -> &'static str {
        let counters = self.worker.clone();
        let items = &counters.counters().items;
        items[ItemCount::AuthCommands as usize].add(1);
        let value = args.get(args.len() - 1);
        let Some((user, passwords)) = user_and_passwords(value) else { return NO_PASSWORD };
        if !self.try_passwords(user, &passwords) {
            items[ItemCount::AuthErrors as usize].add(1);
            return WRONG_PASSWORD;
        }
        "STORED"
    }

    /// Counts the outcome of a request in memcached's syntax, whose reply begins at `mark`.
    pub(in crate::session) fn count_line(
        &mut self,
        command: &Command,
        args: &Args<'_>,
        mark: Mark,
        output: &mut Output,
    ) {
        match &self.port {
            Port::Queues(_) => self.note_message(command, mark, output),
            Port::Memcached(decoder) if decoder.is_refusing() => {}
            _ => self.count_item(command, args, mark, output),
        }
    }

    fn count_item(&self, command: &Command, args: &Args<'_>, mark: Mark, output: &Output) {
        let reply = output.since(mark);
        let counts = counts_of(item_request(command), args, reply);
        let items = &self.worker.counters().items;
        counts.into_iter().flatten().for_each(|count| items[count as usize].add(1));
        let prefixes = &self.worker.engine.prefixes;
        if prefixes.is_on() && args.len() > 1 {
            count_prefix(prefixes, args.get(1), counts, command.name);
        }
        if self.worker.engine.monitors.any_items() {
            self.log_item(command.name, args, reply);
        }
    }
}

/// Counts a request for its key's prefix.
fn count_prefix(prefixes: &PrefixMap, key: &[u8], counts: [Option<ItemCount>; 4], command: &str) {
    let has = |wanted: &[ItemCount]| u64::from(counts.iter().flatten().any(|count| wanted.contains(count)));
    let gets = has(&[ItemCount::Gets]) | u64::from(matches!(command, "MC.GAT" | "MC.GATS"));
    let hits = has(&[ItemCount::GetHits]) | gets & has(&[ItemCount::TouchHits]);
    let (sets, deletes) = (has(&[ItemCount::Sets]), u64::from(matches!(command, "MC.DELETE" | "MC.MD")));
    if gets + sets + deletes > 0 {
        prefixes.count(key, |counts| {
            counts.gets += gets;
            counts.hits += hits;
            counts.sets += sets;
            counts.deletes += deletes;
        });
    }
}

/// Returns the user at the start of `value`, and two candidate passwords: everything after the blank, since a password
/// may contain blanks, and the next word alone, as memcached reads it.
fn user_and_passwords(value: &[u8]) -> Option<(&[u8], [&[u8]; 2])> {
    let start = value.iter().position(|byte| *byte != b' ')?;
    let blank = start + value[start..].iter().position(|byte| *byte == b' ')?;
    let (user, rest) = (&value[start..blank], &value[blank + 1..]);
    let word = rest.split(|byte| *byte == b' ').find(|word| !word.is_empty())?;
    Some((user, [rest, word]))
}

/// Returns how memcached's statistics count a command.
fn item_request(command: &CommandSpec) -> Option<ItemRequest> {
    command.fact(|fact| if let Fact::Item(request) = fact { Some(request) } else { None })
}

fn either(hit: ItemCount, miss: ItemCount, is_hit: bool, is_miss: bool) -> Option<ItemCount> {
    match (is_hit, is_miss) {
        (true, _) => Some(hit),
        (false, true) => Some(miss),
        (false, false) => None,
    }
}

/// Returns the counters to increment for a reply.
fn counts_of(request: Option<ItemRequest>, args: &Args<'_>, reply: &[u8]) -> [Option<ItemCount>; 4] {
    let Some(request) = request else { return [None; 4] };
    let says = |text: &[u8]| reply.starts_with(text);
    let flags = if request == ItemRequest::MetaStore { args.slice(2, args.len() - 1) } else { args.from(2) };
    let flag = |letter: u8| flags.iter().find(|flag| flag.first() == Some(&letter));
    let is_hit = says(b"VALUE") || says(b"HD") || says(b"VA");
    let is_miss = says(b"NOT_FOUND") || says(b"NF");
    let is_refused = says(b"CLIENT_ERROR") || says(b"SERVER_ERROR");
    let is_stored = says(b"STORED") || says(b"HD") || reply.is_empty();
    let stored = is_stored.then_some(ItemCount::Stored);
    let compared = match () {
        () if is_stored => Some(ItemCount::CasHits),
        () if says(b"EX") => Some(ItemCount::CasDiffers),
        () => Some(ItemCount::CasMisses),
    };
    match request {
        _ if is_refused => [None; 4],
        ItemRequest::MetaGetAndTouch if is_hit && flag(b'T').is_some() => {
            [Some(ItemCount::Touches), Some(ItemCount::TouchHits), Some(ItemCount::Metas), None]
        }
        ItemRequest::Get | ItemRequest::MetaGet | ItemRequest::MetaGetAndTouch => {
            let meta = (request != ItemRequest::Get).then_some(ItemCount::Metas);
            [Some(ItemCount::Gets), either(ItemCount::GetHits, ItemCount::GetMisses, is_hit, true), meta, None]
        }
        ItemRequest::GetAndTouch => {
            let touched = either(ItemCount::TouchHits, ItemCount::TouchMisses, is_hit, true);
            [Some(ItemCount::Touches), touched, None, None]
        }
        ItemRequest::Touch => {
            let touched = either(ItemCount::TouchHits, ItemCount::TouchMisses, says(b"TOUCHED"), is_miss);
            [Some(ItemCount::Touches), touched, None, None]
        }
        ItemRequest::CompareAndSwap => [Some(ItemCount::Sets), compared, stored, None],
        ItemRequest::Store => [Some(ItemCount::Sets), stored, None, None],
        ItemRequest::MetaStore => {
            [Some(ItemCount::Sets), stored, Some(ItemCount::Metas), compared.filter(|_| flag(b'C').is_some())]
        }
        ItemRequest::Delete => {
            [either(ItemCount::DeleteHits, ItemCount::DeleteMisses, says(b"DELETED"), is_miss), None, None, None]
        }
        ItemRequest::MetaDelete => {
            // An item marked stale, or stripped of its value, stays.
            let goes = (is_hit || reply.is_empty()) && flag(b'I').or(flag(b'x')).is_none();
            let deleted = either(ItemCount::DeleteHits, ItemCount::DeleteMisses, goes, is_miss || says(b"EX"));
            [deleted, Some(ItemCount::Metas), None, None]
        }
        ItemRequest::Increment | ItemRequest::Decrement | ItemRequest::MetaArithmetic => {
            let goes_down = request == ItemRequest::Decrement
                || flag(b'M').is_some_and(|mode| matches!(mode, b"MD" | b"Md" | b"M-"));
            let (hit, miss) = match goes_down {
                true => (ItemCount::DecrHits, ItemCount::DecrMisses),
                false => (ItemCount::IncrHits, ItemCount::IncrMisses),
            };
            let meta = (request == ItemRequest::MetaArithmetic).then_some(ItemCount::Metas);
            [either(hit, miss, !is_miss && !says(b"EX"), is_miss), meta, None, None]
        }
        ItemRequest::MetaDebug => [Some(ItemCount::Metas), None, None, None],
        ItemRequest::Flush => [Some(ItemCount::Flushes), None, None, None],
    }
}

/// Flags of mg that a plain read cannot answer.
const TAKING: &[u8] = b"cEhNRT";

/// Returns the command that executes a request.
fn row_of(verb: Verb, args: &Args<'_>) -> Command {
    let takes =
        verb == Verb::Mg && args.from(2).iter().any(|flag| flag.first().is_some_and(|flag| TAKING.contains(flag)));
    let commands = &*ROWS;
    if takes { commands.mgt } else { commands.of_verbs[verb as usize] }
}

struct CacheCommands {
    of_verbs: Vec<Command>,
    mgt: Command,
}

static ROWS: LazyLock<CacheCommands> = LazyLock::new(|| {
    let command = |name: &str| match registry::by_name(name.as_bytes()) {
        Lookup::Command(command) => command,
        _ => unreachable!("each verb has a command: {name}"),
    };
    let of_verbs = Verb::ALL.iter().map(|verb| command(&format!("mc.{}", verb.name()))).collect();
    CacheCommands { of_verbs, mgt: command("mc.mgt") }
});

#[cfg(test)]
mod tests {
    use super::*;
    use wire::OwnedRequest;

    #[test]
    fn passwords_may_contain_spaces() {
        let parts = |value: &'static str| user_and_passwords(value.as_bytes());
        assert_eq!(parts("default pw"), Some((&b"default"[..], [&b"pw"[..], b"pw"])));
        assert_eq!(parts("default correct horse "), Some((&b"default"[..], [&b"correct horse "[..], b"correct"])));
        assert_eq!(parts(" default   pw"), Some((&b"default"[..], [&b"  pw"[..], b"pw"])));
        for value in ["", " ", "default", "default ", "  default   "] {
            assert_eq!(parts(value), None, "{value:?}");
        }
    }

    #[test]
    fn each_verb_has_its_command() {
        for (at, verb) in Verb::ALL.iter().enumerate() {
            assert_eq!(*verb as usize, at);
            let request = OwnedRequest::of(&[verb.name(), "k", "v"]);
            assert_eq!(row_of(*verb, &request.args()).name, format!("MC.{}", verb.name().to_ascii_uppercase()));
        }
        let taking = OwnedRequest::of(&["mg", "k", "v", "T30"]);
        assert_eq!(row_of(Verb::Mg, &taking.args()).name, "MC.MGT");
    }

    #[test]
    fn counters_follow_the_reply() {
        use ItemCount::{
            CasDiffers, CasHits, CasMisses, DecrHits, DecrMisses, DeleteHits, DeleteMisses, GetHits, GetMisses, Gets,
            IncrHits, IncrMisses, Metas, Sets, Stored, TouchHits, Touches,
        };
        let counts = |command: &str, words: &[&str], reply: &str| {
            let request = OwnedRequest::of(words);
            let Lookup::Command(command) = registry::by_name(command.as_bytes()) else { panic!("{command}") };
            counts_of(item_request(&command), &request.args(), reply.as_bytes())
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
        };
        for (command, words, reply, expected) in [
            ("MC.GET", &["get", "k"][..], "VALUE k 0 1\r\n", &[Gets, GetHits][..]),
            ("MC.GET", &["get", "k"], "", &[Gets, GetMisses]),
            ("MC.CAS", &["cas", "k", "0", "0", "1", "x"], "EXISTS\r\n", &[Sets, CasDiffers]),
            ("MC.INCR", &["incr", "k", "1"], "7\r\n", &[IncrHits]),
            ("MC.INCR", &["incr", "k", "1"], "NOT_FOUND\r\n", &[IncrMisses]),
            ("MC.SET", &["set", "k", "0", "0", "x"], "SERVER_ERROR MISCONF\r\n", &[]),
            // As memcached 1.6.18 counts them, except for cmd_meta.
            ("MC.MG", &["mg", "k"], "EN\r\n", &[Gets, GetMisses, Metas]),
            ("MC.MGT", &["mg", "k", "T5"], "HD\r\n", &[Touches, TouchHits, Metas]),
            ("MC.MGT", &["mg", "k", "T5"], "EN\r\n", &[Gets, GetMisses, Metas]),
            ("MC.MS", &["ms", "k", "C5"], "HD\r\n", &[Sets, Stored, Metas]),
            ("MC.MS", &["ms", "k", "C5", "q", "x"], "", &[Sets, Stored, Metas, CasHits]),
            ("MC.MS", &["ms", "k", "C5", "x"], "EX\r\n", &[Sets, Metas, CasDiffers]),
            ("MC.MS", &["ms", "k", "C5", "x"], "NF\r\n", &[Sets, Metas, CasMisses]),
            ("MC.MA", &["ma", "k", "q"], "", &[IncrHits, Metas]),
            ("MC.MA", &["ma", "k"], "NF\r\n", &[IncrMisses, Metas]),
            ("MC.MA", &["ma", "k", "MD", "v"], "VA 1\r\n", &[DecrHits, Metas]),
            ("MC.MA", &["ma", "k", "M-"], "NF\r\n", &[DecrMisses, Metas]),
            ("MC.MD", &["md", "k"], "HD\r\n", &[DeleteHits, Metas]),
            ("MC.MD", &["md", "k", "I", "T5"], "HD\r\n", &[Metas]),
            ("MC.MD", &["md", "k", "C5"], "EX\r\n", &[DeleteMisses, Metas]),
        ] {
            assert_eq!(counts(command, words, reply), expected, "{words:?}: {reply}");
        }
    }
}
