//! A board: threads with a kind, a grade and a mark, a tenth of them hidden. As one tagged list, and as applications
//! keep it in Redis today: a list of the visible threads, and sorted sets, one of all and one for each query.

use crate::contents::{Contents, Items, below, mixed, shuffled};
use crate::fill::{ITEMS_PER_PUSH, Pipe};
use crate::resp::Client;
use serde::{Deserialize, Serialize};
use std::io;

/// Bytes of a thread's name.
const NAME_BYTES: usize = 12;
/// Grades, and their shares in thousandths; all other threads have none.
const GRADES: [(u32, u64); 4] = [(5, 1), (4, 100), (3, 10), (2, 20)];

/// A board to be put into a server.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Board {
    pub(crate) key: String,
    pub(crate) count: String,
    /// Names are numbers of twelve digits, in an order without pattern; else random bytes.
    #[serde(default)]
    pub(crate) named: bool,
    /// As sorted sets and a list.
    #[serde(default)]
    pub(crate) apart: bool,
}

/// A thread beside its name.
struct Thread {
    is_hidden: bool,
    kind: u64,
    grade: u32,
    mark: u64,
}

impl Thread {
    fn of(position: u64) -> Self {
        let dice = mixed(position);
        let thousandth = below(mixed(!position), 1000);
        let mut below_grade = 0;
        let grade = GRADES.iter().find(|(_, share)| {
            below_grade += share;
            thousandth < below_grade
        });
        Self {
            is_hidden: below(dice, 10) == 0,
            kind: dice % 16,
            grade: grade.map_or(0, |(grade, _)| *grade),
            mark: dice / 16 % 2,
        }
    }

    /// The sorted sets that it is in, where it is kept apart.
    fn sets(&self, key: &str) -> Vec<String> {
        let half = (self.kind >= 8).then(|| format!("{key}:half"));
        let grade = (self.grade > 0).then(|| format!("{key}:grade:{}", self.grade));
        [format!("{key}:all")].into_iter().chain(half).chain(grade).collect()
    }
}

/// Loads the board into a server, which already has the schema.
///
/// # Errors
/// The connection broke or a reply is an error.
pub(crate) fn fill(client: &mut Client, board: &Board, count: u64) -> io::Result<()> {
    let mut items = Items::new(Contents::Bytes, NAME_BYTES);
    let mut pipe = Pipe::new(client);
    let mut from = 0;
    while from < count {
        let positions = from..(from + ITEMS_PER_PUSH).min(count);
        let mut names: Vec<Vec<u8>> = vec![Vec::new(); (positions.end - from) as usize];
        for (name, position) in names.iter_mut().zip(positions.clone()) {
            match board.named {
                true => *name = format!("{:012}", shuffled(position, count)).into_bytes(),
                false => items.next_into(name),
            }
        }
        if board.apart {
            put_apart(&mut pipe, &board.key, from, &names)?;
        } else {
            push(&mut pipe, &board.key, from, &names)?;
        }
        from = positions.end;
    }
    pipe.finish()
}

fn push(pipe: &mut Pipe<'_>, key: &str, from: u64, names: &[Vec<u8>]) -> io::Result<()> {
    let threads: Vec<Thread> = (from..).take(names.len()).map(Thread::of).collect();
    let tags: Vec<[String; 3]> = threads
        .iter()
        .map(|thread| {
            [format!("kind={}", thread.kind), format!("grade={}", thread.grade), format!("mark={}", thread.mark)]
        })
        .collect();
    let mut words = vec![&b"TL.PUSH"[..], key.as_bytes(), b"TAIL"];
    for (nth, (name, tags)) in names.iter().zip(&tags).enumerate() {
        if nth > 0 {
            words.push(b"ITEM");
        }
        words.push(name);
        words.extend(tags.iter().map(String::as_bytes));
        if threads[nth].is_hidden {
            words.push(b"HIDDEN");
        }
    }
    pipe.command(&words)
}

fn put_apart(pipe: &mut Pipe<'_>, key: &str, from: u64, names: &[Vec<u8>]) -> io::Result<()> {
    let mut list = vec![b"RPUSH".to_vec(), key.as_bytes().to_vec()];
    for (name, position) in names.iter().zip(from..) {
        let thread = Thread::of(position);
        if !thread.is_hidden {
            list.push(name.clone());
            for set in thread.sets(key) {
                pipe.command(&[b"ZADD", set.as_bytes(), position.to_string().as_bytes(), name])?;
            }
        }
    }
    let words: Vec<&[u8]> = list.iter().map(Vec::as_slice).collect();
    if words.len() > 2 { pipe.command(&words) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grades_have_their_shares() {
        let threads: Vec<Thread> = (0..200_000).map(Thread::of).collect();
        for (grade, share) in GRADES {
            let count = threads.iter().filter(|thread| thread.grade == grade).count() as u64;
            assert!(count.abs_diff(200 * share) < 60 + 10 * share, "{grade}: {count}");
        }
        let hidden = threads.iter().filter(|thread| thread.is_hidden).count();
        assert!(hidden.abs_diff(20_000) < 1000, "{hidden}");
    }
}
