//! Writes a stream in steps.

use super::{SAME_NAMES, UNKNOWN};
use crate::dump::{STEP_BYTES, put_text};
use crate::number::put_length;
use crate::packed::listpack;
use blocks::Direction;
use std::collections::VecDeque;
use std::ops::ControlFlow;
use values::Stream;
use values::stream::{Consumer, Group, StreamId};

/// The maximum number of entries per node, and roughly the maximum bytes.
const NODE_ENTRIES_MAX: usize = 100;
const NODE_BYTES_MAX: usize = 4 << 10;
/// The maximum number of ids written per step.
const STEP_IDS_MAX: usize = 512;

/// The next part to write.
enum NextWrite {
    /// A node of the entries from this id on.
    Entries(StreamId),
    Group,
    /// A group's pending deliveries, from this id on.
    Pending(u32, StreamId),
    Consumer(u32),
    /// The ids a consumer of a group owns, from this id on.
    Owned(u32, u32, StreamId),
    Nothing,
}

/// A stream being written.
pub(crate) struct Writing {
    stream: Stream,
    next: NextWrite,
    nodes: u64,
    groups: VecDeque<(Vec<u8>, Group)>,
    consumers: VecDeque<(Vec<u8>, Consumer)>,
}

impl Writing {
    pub(crate) fn new(stream: Stream) -> Self {
        let next = NextWrite::Entries(StreamId::MIN);
        Self { stream, next, nodes: 0, groups: VecDeque::new(), consumers: VecDeque::new() }
    }

    /// Runs one step. Returns true when all is written. Appends the number of nodes to `head`.
    pub(crate) fn step(&mut self, head: &mut Vec<u8>, out: &mut Vec<u8>) -> bool {
        let begin = out.len();
        while out.len() - begin < STEP_BYTES {
            self.next = match self.next {
                NextWrite::Entries(from) => match self.put_node(out, from) {
                    Some(next) => NextWrite::Entries(next),
                    None => {
                        put_length(head, self.nodes);
                        self.put_foot(out);
                        NextWrite::Group
                    }
                },
                NextWrite::Group => match self.groups.pop_front() {
                    Some((name, group)) => {
                        self.put_group(out, &name, &group);
                        NextWrite::Pending(group.number, StreamId::MIN)
                    }
                    None => NextWrite::Nothing,
                },
                NextWrite::Pending(group, from) => match self.put_pending(out, group, from) {
                    Some(next) => NextWrite::Pending(group, next),
                    None => {
                        put_length(out, self.consumers.len() as u64);
                        NextWrite::Consumer(group)
                    }
                },
                NextWrite::Consumer(group) => match self.consumers.pop_front() {
                    Some((name, consumer)) => {
                        put_text(out, &name);
                        out.extend_from_slice(&consumer.seen_ms.to_le_bytes());
                        put_length(out, self.stream.owned_count(group, consumer.number));
                        NextWrite::Owned(group, consumer.number, StreamId::MIN)
                    }
                    None => NextWrite::Group,
                },
                NextWrite::Owned(group, consumer, from) => match self.put_owned(out, group, consumer, from) {
                    Some(next) => NextWrite::Owned(group, consumer, next),
                    None => NextWrite::Consumer(group),
                },
                NextWrite::Nothing => return true,
            };
        }
        false
    }

    /// Writes a node of the entries from `from` on, if there are any. Returns the next id.
    fn put_node(&mut self, out: &mut Vec<u8>, from: StreamId) -> Option<StreamId> {
        let mut node: Option<Node> = None;
        let _ = self.stream.walk(from, StreamId::MAX, Direction::Forward, &mut |id, fields| {
            let entry: Vec<(&[u8], &[u8])> = fields.iter().collect();
            match &mut node {
                Some(node) if node.is_full(fields.bytes()) => return ControlFlow::Break(()),
                Some(node) => node.add(id, &entry),
                None => node = Some(Node::of(id, &entry)),
            }
            ControlFlow::Continue(())
        });
        let node = node?;
        self.nodes += 1;
        let last = node.last;
        put_length(out, 16);
        out.extend_from_slice(&bytes_of(node.first));
        put_text(out, &node.finish());
        last.next()
    }

    fn put_foot(&mut self, out: &mut Vec<u8>) {
        let foot = self.stream.foot();
        put_length(out, foot.len);
        put_id(out, foot.last_id);
        put_id(out, self.stream.first_id().unwrap_or(StreamId::MIN));
        put_id(out, foot.deleted_id);
        put_length(out, foot.added);
        let groups = &mut self.groups;
        self.stream.for_each_group(|name, group| groups.push_back((name.to_vec(), group)));
        put_length(out, groups.len() as u64);
    }

    fn put_group(&mut self, out: &mut Vec<u8>, name: &[u8], group: &Group) {
        put_text(out, name);
        put_id(out, group.last_id);
        put_length(out, group.entries_read.unwrap_or(UNKNOWN));
        put_length(out, self.stream.pending_count(group.number));
        let consumers = &mut self.consumers;
        self.stream.for_each_consumer(group.number, |name, consumer| consumers.push_back((name.to_vec(), consumer)));
    }

    fn put_pending(&self, out: &mut Vec<u8>, group: u32, from: StreamId) -> Option<StreamId> {
        let (mut left, mut next) = (STEP_IDS_MAX, None);
        let _ = self.stream.walk_pending(group, from, Direction::Forward, &mut |pending| {
            if left == 0 {
                next = Some(pending.id);
                return ControlFlow::Break(());
            }
            left -= 1;
            out.extend_from_slice(&bytes_of(pending.id));
            out.extend_from_slice(&pending.delivered_ms.to_le_bytes());
            put_length(out, pending.deliveries);
            ControlFlow::Continue(())
        });
        next
    }

    fn put_owned(&self, out: &mut Vec<u8>, group: u32, consumer: u32, from: StreamId) -> Option<StreamId> {
        let (mut left, mut next) = (STEP_IDS_MAX, None);
        let _ = self.stream.walk_owned(group, consumer, from, &mut |id| {
            if left == 0 {
                next = Some(id);
                return ControlFlow::Break(());
            }
            left -= 1;
            out.extend_from_slice(&bytes_of(id));
            ControlFlow::Continue(())
        });
        next
    }
}

fn bytes_of(id: StreamId) -> [u8; 16] {
    (u128::from(id.ms) << 64 | u128::from(id.seq)).to_be_bytes()
}

fn put_id(out: &mut Vec<u8>, id: StreamId) {
    put_length(out, id.ms);
    put_length(out, id.seq);
}

/// Entries in a listpack.
struct Node {
    first: StreamId,
    last: StreamId,
    names: Vec<Vec<u8>>,
    entries: usize,
    body: listpack::Writer,
}

impl Node {
    fn of(id: StreamId, entry: &[(&[u8], &[u8])]) -> Self {
        let names = entry.iter().map(|(name, _)| name.to_vec()).collect();
        let mut node = Self { first: id, last: id, names, entries: 0, body: listpack::Writer::new() };
        node.add(id, entry);
        node
    }

    fn is_full(&self, more_bytes: usize) -> bool {
        self.entries >= NODE_ENTRIES_MAX || self.body.len() + more_bytes > NODE_BYTES_MAX
    }

    fn add(&mut self, id: StreamId, entry: &[(&[u8], &[u8])]) {
        let has_same =
            self.names.len() == entry.len() && self.names.iter().zip(entry).all(|(name, (own, _))| name == own);
        let body = &mut self.body;
        body.push_integer(if has_same { SAME_NAMES } else { 0 });
        body.push_integer(id.ms.wrapping_sub(self.first.ms) as i64);
        body.push_integer(id.seq.wrapping_sub(self.first.seq) as i64);
        if !has_same {
            body.push_integer(entry.len() as i64);
        }
        for (name, value) in entry {
            if !has_same {
                body.push(name);
            }
            body.push(value);
        }
        let items = if has_same { 3 + entry.len() } else { 4 + 2 * entry.len() };
        body.push_integer(items as i64);
        self.last = id;
        self.entries += 1;
    }

    fn finish(self) -> Vec<u8> {
        let mut whole = listpack::Writer::new();
        whole.push_integer(self.entries as i64);
        whole.push_integer(0);
        whole.push_integer(self.names.len() as i64);
        self.names.iter().for_each(|name| whole.push(name));
        whole.push_integer(0);
        whole.append(self.body);
        whole.finish()
    }
}
