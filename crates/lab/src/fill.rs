//! Fillers: data put into a server as quickly as it takes it.
//!
//! ```text
//!  make batch 2 | send 2 | await 1 | make 3 | send 3 | await 2      one batch is under way while the next is made
//! ```

use crate::calls::template::Template;
use crate::contents::{Contents, Items, below, mixed, shuffled};
use crate::protocol::Protocol;
use crate::resp::{Client, encode};
use crate::scenario::{Data, Scores};
use std::io;

/// Commands are sent when they have grown to this.
const BATCH_BYTES: usize = 64 * 1024;
pub(crate) const ITEMS_PER_PUSH: u64 = 500;
/// Times to live are spread over this many seconds from this on: none ends while we look.
const TIME_TO_LIVE_S: u64 = 1_000_000;
/// Random scores that are integers are below this.
const SCORES_END: u64 = 1_000_000;
/// The first entry of a stream, and how many milliseconds each has to itself.
const ENTRIES_FROM_MS: u64 = 1_700_000_000_000;
const ENTRY_MS: u64 = 3;

/// Commands on their way to a server.
pub(crate) struct Pipe<'a> {
    client: &'a mut Client,
    out: Vec<u8>,
    /// Commands in `out`.
    ready: usize,
    /// Commands sent and not yet answered.
    under_way: usize,
}

impl<'a> Pipe<'a> {
    pub(crate) fn new(client: &'a mut Client) -> Self {
        Self { client, out: Vec::with_capacity(2 * BATCH_BYTES), ready: 0, under_way: 0 }
    }

    pub(crate) fn command(&mut self, words: &[&[u8]]) -> io::Result<()> {
        self.append(|out| encode(out, words))
    }

    /// Adds a command that `put` appends in its wire form.
    fn append(&mut self, put: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        put(&mut self.out);
        self.ready += 1;
        if self.out.len() < BATCH_BYTES { Ok(()) } else { self.send() }
    }

    fn send(&mut self) -> io::Result<()> {
        self.client.send(&self.out)?;
        self.out.clear();
        self.client.skip_replies(self.under_way)?;
        self.under_way = std::mem::take(&mut self.ready);
        Ok(())
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.send()?;
        self.client.skip_replies(self.under_way)
    }
}

/// Loads the strings `key:000000000000` and on.
///
/// # Errors
/// The connection broke or a reply is an error.
pub(crate) fn fill_strings(client: &mut Client, count: u64, value_bytes: usize) -> io::Result<()> {
    let value = vec![b'x'; value_bytes];
    let mut pipe = Pipe::new(client);
    for index in 0..count {
        pipe.command(&[b"SET", key(index).as_bytes(), &value])?;
    }
    pipe.finish()
}

/// Pushes the next `count` items to a list, many a command, with `verb`.
///
/// # Errors
/// The connection broke or a reply is an error.
pub(crate) fn push_items(
    client: &mut Client,
    verb: &str,
    key: &str,
    items: &mut Items,
    count: u64,
) -> io::Result<Filled> {
    let mut pipe = Pipe::new(client);
    let mut filled = Filled::default();
    let mut room = vec![Vec::new(); ITEMS_PER_PUSH as usize];
    let mut left = count;
    while left > 0 {
        let taken = left.min(ITEMS_PER_PUSH);
        left -= taken;
        let taken = &mut room[..taken as usize];
        taken.iter_mut().for_each(|item| items.next_into(item));
        let mut words = vec![verb.as_bytes(), key.as_bytes()];
        words.extend(taken.iter().map(Vec::as_slice));
        pipe.command(&words)?;
        filled.commands += 1;
        filled.content_bytes += taken.iter().map(|item| item.len() as u64).sum::<u64>();
    }
    pipe.finish()?;
    Ok(filled)
}

/// Sends `say` with new numbers, as calls have them, until there are `count` items by the first number that `length`
/// answers.
///
/// # Errors
/// The connection broke or a reply is an error.
pub(crate) fn grow(client: &mut Client, say: &str, length: &str, count: u64) -> io::Result<()> {
    let answer = client.call(length)?;
    let first = answer.split_whitespace().next().and_then(|word| word.parse::<u64>().ok());
    let present = first.ok_or_else(|| io::Error::other(format!("{length} answered `{answer}`, no number")))?;
    let template = Template::new(Protocol::Resp, say, None, count.max(1));
    let mut pipe = Pipe::new(client);
    for number in present..count {
        pipe.append(|out| template.append(out, number, &[]))?;
    }
    pipe.finish()
}

/// Adds the names of the keys that [`Data::Keys`] has, in its order, to a sorted set.
///
/// # Errors
/// The connection broke or a reply is an error.
pub(crate) fn add_names(client: &mut Client, set: &str, count: u64) -> io::Result<()> {
    let mut pipe = Pipe::new(client);
    let mut done = 0;
    while done < count {
        let taken = ITEMS_PER_PUSH.min(count - done);
        let names: Vec<String> = (done..done + taken).map(|position| key(shuffled(position, count))).collect();
        let mut words = vec![&b"ZADD"[..], set.as_bytes()];
        names.iter().for_each(|name| words.extend([&b"0"[..], name.as_bytes()]));
        pipe.command(&words)?;
        done += taken;
    }
    pipe.finish()
}

/// The amount of data put into a server.
#[derive(Default)]
pub(crate) struct Filled {
    pub(crate) commands: u64,
    /// Bytes of the keys (of lists: of the items alone) and values.
    pub(crate) content_bytes: u64,
}

/// Data loaded in stages.
pub(crate) struct Filler {
    data: Data,
    items: Items,
    done: u64,
    /// The number of items or keys at the end.
    most: u64,
}

impl Filler {
    /// Creates a filler of nothing yet, and `most` in the end.
    pub(crate) fn new(data: Data, most: u64) -> Self {
        let items = match data {
            Data::List { contents, item_bytes } | Data::Lists { contents, item_bytes, .. } => {
                Items::new(contents, item_bytes)
            }
            Data::Keys { contents, value_bytes, .. } => Items::new(contents, value_bytes),
            Data::Set { contents, item_bytes } | Data::Sorted { contents, item_bytes, .. } => {
                Items::new(contents, item_bytes)
            }
            // The parts of an element are one item, split.
            Data::Hash { contents, name_bytes, value_bytes } => Items::new(contents, name_bytes + value_bytes),
            Data::Hashes { fields, contents, value_bytes } => Items::new(contents, fields as usize * value_bytes),
            Data::Stream { value_bytes } => Items::new(Contents::Digits, 2 * value_bytes),
        };
        Self { data, items, done: 0, most }
    }

    /// Loads until there are `count`.
    ///
    /// # Errors
    /// The connection broke or a reply is an error.
    pub(crate) fn fill_to(&mut self, client: &mut Client, count: u64) -> io::Result<Filled> {
        let from = std::mem::replace(&mut self.done, count);
        match self.data {
            Data::List { .. } => push_items(client, "LPUSH", "list", &mut self.items, count - from),
            Data::Keys { expiring, .. } => self.set_keys(client, from..count, expiring),
            Data::Lists { items, .. } => self.push_side_by_side(client, from..count, items),
            _ => self.add_elements(client, from..count),
        }
    }

    fn add_elements(&mut self, client: &mut Client, range: std::ops::Range<u64>) -> io::Result<Filled> {
        let mut pipe = Pipe::new(client);
        let mut filled = Filled::default();
        let mut item = Vec::new();
        for position in range {
            self.items.next_into(&mut item);
            let words = addition(self.data, position, self.most, &item);
            let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
            pipe.command(&words)?;
            filled.commands += 1;
            let content = if let Data::Hashes { .. } = self.data { &words[1..] } else { &words[2..] };
            filled.content_bytes += content.iter().map(|word| word.len() as u64).sum::<u64>();
        }
        pipe.finish()?;
        Ok(filled)
    }

    fn set_keys(&mut self, client: &mut Client, range: std::ops::Range<u64>, expiring: bool) -> io::Result<Filled> {
        let mut pipe = Pipe::new(client);
        let mut filled = Filled::default();
        let mut value = Vec::new();
        for position in range {
            self.items.next_into(&mut value);
            let key = key(shuffled(position, self.most));
            let time_s = (TIME_TO_LIVE_S + below(mixed(position), TIME_TO_LIVE_S)).to_string();
            let words: [&[u8]; 5] = [b"SET", key.as_bytes(), &value, b"EX", time_s.as_bytes()];
            pipe.command(if expiring { &words } else { &words[..3] })?;
            filled.commands += 1;
            filled.content_bytes += (key.len() + value.len()) as u64;
        }
        pipe.finish()?;
        Ok(filled)
    }

    fn push_side_by_side(
        &mut self,
        client: &mut Client,
        range: std::ops::Range<u64>,
        items: u64,
    ) -> io::Result<Filled> {
        let mut pipe = Pipe::new(client);
        let mut filled = Filled::default();
        let mut item = Vec::new();
        for list in (0..items).flat_map(|_| range.clone()) {
            self.items.next_into(&mut item);
            pipe.command(&[b"RPUSH", format!("list:{list:012}").as_bytes(), &item])?;
            filled.commands += 1;
            filled.content_bytes += item.len() as u64;
        }
        pipe.finish()?;
        Ok(filled)
    }
}

/// The command that adds the element of a position, made of an item: of a collection one element, of hashes a whole
/// one.
fn addition(data: Data, position: u64, most: u64, item: &[u8]) -> Vec<Vec<u8>> {
    let words = |words: &[&[u8]]| words.iter().map(|word| word.to_vec()).collect();
    match data {
        Data::Set { .. } => words(&[b"SADD", b"set", item]),
        Data::Hash { name_bytes, .. } => words(&[b"HSET", b"hash", &item[..name_bytes], &item[name_bytes..]]),
        Data::Hashes { value_bytes, .. } => {
            let mut all = vec![b"HSET".to_vec(), format!("hash:{:012}", shuffled(position, most)).into_bytes()];
            for (number, value) in item.chunks(value_bytes).enumerate() {
                all.extend([format!("field{number}").into_bytes(), value.to_vec()]);
            }
            all
        }
        Data::Sorted { scores, .. } => {
            let random = mixed(!position);
            let score = match scores {
                Scores::Doubles => ((random >> 11) as f64 / (1_u64 << 53) as f64).to_string(),
                Scores::Integers => below(random, SCORES_END).to_string(),
                Scores::Rising => position.to_string(),
            };
            words(&[b"ZADD", b"sorted", score.as_bytes(), item])
        }
        Data::Stream { value_bytes } => {
            let ms = ENTRIES_FROM_MS + position * ENTRY_MS + below(mixed(position), ENTRY_MS);
            let (sensor, temperature) = item.split_at(value_bytes);
            words(&[b"XADD", b"stream", format!("{ms}-0").as_bytes(), b"sensor", sensor, b"temperature", temperature])
        }
        Data::List { .. } | Data::Keys { .. } | Data::Lists { .. } => unreachable!("they have fillers of their own"),
    }
}

/// Removes a part of data of this kind, spread evenly: deletes keys (or whole lists); of the one list, pops items at
/// its older end. Returns the number of commands.
///
/// # Errors
/// The connection broke, a reply is an error, or the data is a collection, from which nothing can be removed.
pub(crate) fn drop_part(client: &mut Client, data: Data, count: u64, percent: u64) -> io::Result<u64> {
    let mut pipe = Pipe::new(client);
    let mut commands = 0;
    let prefix = match data {
        Data::List { .. } => {
            let mut left = count * percent / 100;
            while left > 0 {
                let taken = left.min(ITEMS_PER_PUSH);
                left -= taken;
                commands += 1;
                pipe.command(&[b"RPOP", b"list", taken.to_string().as_bytes()])?;
            }
            return pipe.finish().map(|()| commands);
        }
        Data::Keys { .. } => "key",
        Data::Lists { .. } => "list",
        Data::Hashes { .. } => "hash",
        _ => return Err(io::Error::new(io::ErrorKind::Unsupported, "of one collection nothing is dropped")),
    };
    for index in (0..count).filter(|index| index % 100 < percent) {
        commands += 1;
        pipe.command(&[b"DEL", format!("{prefix}:{index:012}").as_bytes()])?;
    }
    pipe.finish()?;
    Ok(commands)
}

/// Writes `keys` keys with values of 16 to 511 bytes, again with other sizes in each further round, then deletes all
/// but every tenth. The content bytes returned are those left.
///
/// # Errors
/// The connection broke or a reply is an error.
pub(crate) fn churn(client: &mut Client, keys: u64, rounds: u64) -> io::Result<Filled> {
    let room = [b'x'; 512];
    let name = |index: u64| format!("churn:{index:012}");
    let mut pipe = Pipe::new(client);
    for round in 0..rounds {
        for index in 0..keys {
            pipe.command(&[b"SET", name(index).as_bytes(), &room[..churned_bytes(index, round)]])?;
        }
    }
    for index in (0..keys).filter(|index| index % 10 != 0) {
        pipe.command(&[b"DEL", name(index).as_bytes()])?;
    }
    pipe.finish()?;
    let left = (0..keys).step_by(10).map(|index| name(index).len() + churned_bytes(index, rounds - 1));
    let content_bytes = left.map(|bytes| bytes as u64).sum();
    Ok(Filled { commands: keys * rounds + keys - keys.div_ceil(10), content_bytes })
}

/// The names that redis-benchmark asks for.
pub(crate) fn key(index: u64) -> String {
    format!("key:{index:012}")
}

/// Sizes that differ from key to key and from round to round, the same in every run.
fn churned_bytes(index: u64, round: u64) -> usize {
    let mixed = (index ^ (round << 40)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    16 + (mixed >> 40) as usize % 496
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Server;
    use testing::program_or_skip;

    fn server() -> Option<(tempfile::TempDir, Server)> {
        let redis = program_or_skip("lab::fill", "redis-server")?;
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(&redis, &["--save".to_owned(), String::new()], data.path()).unwrap();
        Some((data, server))
    }

    #[test]
    fn strings_and_lists_are_loaded_in_order() {
        let Some((_data, server)) = server() else { return };
        let mut client = server.client().unwrap();
        fill_strings(&mut client, 130, 3).unwrap();
        assert_eq!(client.call("DBSIZE").unwrap(), "130");
        assert_eq!(client.call("GET key:000000000129").unwrap(), "xxx");

        let mut items = Items::new(Contents::Consecutive, 6);
        let filled = push_items(&mut client, "RPUSH", "numbers", &mut items, 1001).unwrap();
        assert_eq!((filled.commands, filled.content_bytes), (3, 6006));
        assert_eq!(client.call("LLEN numbers").unwrap(), "1001");
        assert_eq!(client.call("LRANGE numbers -2 -1").unwrap(), "000999 001000");
    }

    #[test]
    fn data_grows_in_stages() {
        let Some((_data, server)) = server() else { return };
        let mut client = server.client().unwrap();
        let contents = Contents::Consecutive;
        let mut list = Filler::new(Data::List { contents, item_bytes: 12 }, 1400);
        list.fill_to(&mut client, 700).unwrap();
        assert_eq!(client.call("LINDEX list 0").unwrap(), "000000000699");
        list.fill_to(&mut client, 1400).unwrap();
        assert_eq!(client.call("LRANGE list 699 700").unwrap(), "000000000700 000000000699");

        client.call("FLUSHALL").unwrap();
        let mut keys = Filler::new(Data::Keys { contents, value_bytes: 8, expiring: true }, 140);
        keys.fill_to(&mut client, 100).unwrap();
        assert_eq!(client.call("DBSIZE").unwrap(), "100");
        keys.fill_to(&mut client, 140).unwrap();
        assert_eq!(client.call("DBSIZE").unwrap(), "140");
        let time_s: u64 = client.call("TTL key:000000000139").unwrap().parse().unwrap();
        assert!((TIME_TO_LIVE_S - 100..2 * TIME_TO_LIVE_S).contains(&time_s));

        client.call("FLUSHALL").unwrap();
        let mut lists = Filler::new(Data::Lists { items: 3, contents, item_bytes: 2 }, 4);
        let filled = lists.fill_to(&mut client, 4).unwrap();
        assert_eq!((filled.commands, filled.content_bytes), (12, 24));
        assert_eq!(client.call("LRANGE list:000000000001 0 -1").unwrap(), "01 05 09");
    }

    #[test]
    fn collections_grow_an_element_at_a_time() {
        let Some((_data, server)) = server() else { return };
        let mut client = server.client().unwrap();
        let mut ask = |data: Data, questions: [&str; 2]| {
            client.call("FLUSHALL").unwrap();
            let mut filler = Filler::new(data, 1400);
            let first = filler.fill_to(&mut client, 700).unwrap();
            let second = filler.fill_to(&mut client, 1400).unwrap();
            assert_eq!((first.commands, second.commands), (700, 700));
            let answers = questions.map(|question| client.call(question).unwrap());
            (answers, first.content_bytes)
        };
        let contents = Contents::Consecutive;
        let (answers, bytes) = ask(Data::Set { contents, item_bytes: 6 }, ["SCARD set", "SISMEMBER set 001399"]);
        assert_eq!((answers, bytes), (["1400", "1"].map(str::to_owned), 700 * 6));

        let hash = |contents| Data::Hash { contents, name_bytes: 10, value_bytes: 2 };
        let (answers, bytes) = ask(hash(Contents::Hex), ["HLEN hash", "HGET hash none"]);
        assert_eq!((answers, bytes), (["1400", "(nil)"].map(str::to_owned), 700 * 12));
        let (answers, _) = ask(hash(contents), ["HLEN hash", "HGET hash 0000000013"]);
        assert_eq!(answers, ["14", "99"]);

        let hashes = Data::Hashes { fields: 2, contents, value_bytes: 3 };
        let (answers, bytes) = ask(hashes, ["DBSIZE", "HLEN hash:000000001399"]);
        assert_eq!((answers, bytes), (["1400", "2"].map(str::to_owned), 700 * (17 + 2 * (6 + 3))));

        let sorted = |scores| Data::Sorted { contents, item_bytes: 6, scores };
        let (answers, _) = ask(sorted(Scores::Rising), ["ZCARD sorted", "ZSCORE sorted 001399"]);
        assert_eq!(answers, ["1400", "1399"]);
        let (answers, _) = ask(sorted(Scores::Integers), ["ZCOUNT sorted 0 (1000000", "ZCOUNT sorted 0 500000"]);
        assert_eq!(answers[0], "1400");
        assert!((600..800).contains(&answers[1].parse::<u32>().unwrap()), "{answers:?}");
        let (answers, _) = ask(sorted(Scores::Doubles), ["ZCOUNT sorted 0 (1", "ZCOUNT sorted 0 0.5"]);
        assert_eq!(answers[0], "1400");
        assert!((600..800).contains(&answers[1].parse::<u32>().unwrap()), "{answers:?}");

        let (answers, bytes) = ask(Data::Stream { value_bytes: 2 }, ["XLEN stream", "XRANGE stream - + COUNT 1"]);
        assert_eq!((answers[0].as_str(), bytes), ("1400", 700 * (15 + 6 + 11 + 4)));
        assert!(answers[1].starts_with("17000000000"), "{answers:?}");
    }

    #[test]
    fn a_part_of_any_data_can_be_dropped() {
        let Some((_data, server)) = server() else { return };
        let mut client = server.client().unwrap();
        let contents = Contents::Consecutive;
        let mut dropped = |data, percent| {
            client.call("FLUSHALL").unwrap();
            Filler::new(data, 1200).fill_to(&mut client, 1200).unwrap();
            let commands = drop_part(&mut client, data, 1200, percent).unwrap();
            (commands, client.call("DBSIZE").unwrap(), client.call("LINDEX list -1"))
        };
        let list = Data::List { contents, item_bytes: 6 };
        let (commands, keys, last) = dropped(list, 60);
        assert_eq!((commands, keys.as_str(), last.unwrap().as_str()), (2, "1", "000720"));
        assert_eq!(dropped(list, 100).1, "0");
        let keys = Data::Keys { contents, value_bytes: 6, expiring: false };
        assert_eq!(dropped(keys, 90).1, "120");
        assert_eq!(dropped(Data::Lists { items: 2, contents, item_bytes: 6 }, 25).1, "900");
        assert_eq!(dropped(Data::Hashes { fields: 2, contents, value_bytes: 3 }, 25).1, "900");
        let set = Data::Set { contents, item_bytes: 6 };
        drop_part(&mut server.client().unwrap(), set, 10, 50).unwrap_err();
    }

    #[test]
    fn a_churn_leaves_every_tenth_key_as_last_written() {
        let Some((_data, server)) = server() else { return };
        let mut client = server.client().unwrap();
        let churned = churn(&mut client, 95, 2).unwrap();
        assert_eq!(client.call("DBSIZE").unwrap(), "10");
        assert_eq!(churned.commands, 95 * 2 + 85);
        let last: u64 = client.call("STRLEN churn:000000000090").unwrap().parse().unwrap();
        assert_eq!(last, churned_bytes(90, 1) as u64);
        assert!(churned.content_bytes > 10 * (18 + 16));
    }

    #[test]
    fn an_error_reply_fails_a_filler() {
        let Some((_data, server)) = server() else { return };
        let mut client = server.client().unwrap();
        client.call("SET list text").unwrap();
        let mut items = Items::new(Contents::Hex, 12);
        push_items(&mut client, "RPUSH", "list", &mut items, 5).err().unwrap();
    }
}
