//! The plan of a query: what is read for it, and in which order.
//!
//! ```text
//!   @sex:{m} @name:*ming* -@city:{x}          Every
//!                                            /  |   \
//!                          postings of "m" --'  |    '-- Not -- postings of "x"
//!                                            Verified (the whole value contains it)
//!                                               |
//!                                             Every: postings of the grams mi, in, ng
//! ```
//!
//! A plan is asked chunk by chunk, in ascending order: rows of a chunk are a bitmap, which each node restricts. A node
//! can say which chunk may be the next to have rows, so that a rare term skips what a frequent one has.

use super::bitmap::Bitmap;
use super::cursor::Cursor;
use super::leaf::{Collection, Context};
use super::pattern::TermPattern;
use super::work::Work;
use crate::index::{Record, folded};
use crate::query::Term;
use crate::text::{unescape, words};
use std::sync::Arc;

/// Nodes of a plan up to which chunks without rows are skipped: all nodes are asked for their next chunk at once.
const SKIPPING_NODES_MAX: usize = 256;

/// The position of a node in its plan.
pub(crate) type NodeNumber = u32;

/// A node of a plan.
pub(crate) enum Node {
    /// Every row.
    All,
    /// No row.
    Nothing,
    /// Rows of a term.
    Postings(Cursor),
    /// Rows that were collected.
    Collected(Box<Collection>),
    /// Rows of which this field expired.
    Expired(usize),
    /// Rows that match all.
    Every(Arc<[NodeNumber]>),
    /// Rows that match any.
    Any(Arc<[NodeNumber]>),
    /// Rows that do not match.
    Not(NodeNumber),
    /// Rows of a node whose value is like a pattern.
    Verified { candidates: NodeNumber, test: Test },
}

/// A pattern, and the TEXT field that is looked at.
pub(crate) struct Test {
    pub(crate) field: usize,
    pub(crate) pattern: Arc<TermPattern>,
}

/// A plan.
pub(crate) struct Plan {
    pub(crate) nodes: Vec<Node>,
    pub(crate) root: NodeNumber,
    /// A bound of its heap bytes, save those of what is collected.
    pub(crate) heap_bytes_max: usize,
    /// Collections before this node are complete, and have this many heap bytes.
    collected: usize,
    collected_bytes: usize,
}

impl Plan {
    pub(super) const ALL: NodeNumber = 0;
    pub(super) const NOTHING: NodeNumber = 1;

    pub(super) fn new() -> Self {
        let nodes = vec![Node::All, Node::Nothing];
        Self { nodes, root: Self::ALL, heap_bytes_max: 0, collected: 0, collected_bytes: 0 }
    }

    pub(crate) fn node(&self, node: NodeNumber) -> &Node {
        &self.nodes[node as usize]
    }

    pub(crate) fn node_mut(&mut self, node: NodeNumber) -> &mut Node {
        &mut self.nodes[node as usize]
    }

    /// Returns a bound of its heap bytes. O(1), or O(tags of a row) while tags are collected.
    pub(crate) fn heap_bytes(&self) -> usize {
        let current = match self.nodes.get(self.collected) {
            Some(Node::Collected(collection)) => collection.heap_bytes_max(),
            _ => 0,
        };
        self.heap_bytes_max + self.collected_bytes + current
    }

    /// Collects for as long as there is work left; returns true once all is.
    pub(crate) fn collect(&mut self, context: &Context<'_>, work: &mut Work) -> bool {
        while let Some(node) = self.nodes.get_mut(self.collected) {
            if let Node::Collected(collection) = node {
                if !collection.step(context, work) {
                    return false;
                }
                self.collected_bytes += collection.heap_bytes_max();
            }
            self.collected += 1;
            work.spend_item(self.collected as u64);
        }
        true
    }

    /// Returns true if only rows of the index can match: then a chunk's rows need not be known before it is asked.
    pub(crate) fn is_within_rows(&self) -> bool {
        self.nodes.len() <= SKIPPING_NODES_MAX && self.is_node_within_rows(self.root)
    }

    fn is_node_within_rows(&self, node: NodeNumber) -> bool {
        match self.node(node) {
            Node::All | Node::Not(_) => false,
            Node::Nothing | Node::Postings(_) | Node::Collected(_) | Node::Expired(_) => true,
            Node::Every(parts) => parts.iter().any(|part| self.is_node_within_rows(*part)),
            Node::Any(parts) => parts.iter().all(|part| self.is_node_within_rows(*part)),
            Node::Verified { candidates, .. } => self.is_node_within_rows(*candidates),
        }
    }

    /// Keeps those of a chunk's rows that match a leaf; returns false if the node has parts.
    pub(crate) fn restrict(
        &mut self,
        node: NodeNumber,
        context: &Context<'_>,
        chunk: u32,
        rows: &mut Bitmap,
        work: &mut Work,
    ) -> bool {
        match self.node_mut(node) {
            Node::All => {}
            Node::Nothing => rows.clear(),
            Node::Postings(cursor) => cursor.restrict(context, chunk, rows, work),
            Node::Collected(collection) => rows.keep(collection.rows.chunk(chunk)),
            Node::Expired(field) => rows.keep(context.expired.of_field(*field).and_then(|rows| rows.chunk(chunk))),
            Node::Every(_) | Node::Any(_) | Node::Not(_) | Node::Verified { .. } => return false,
        }
        true
    }

    /// Returns the first chunk from `from` on that may have rows. Chunks never go back.
    pub(crate) fn next_chunk(&mut self, context: &Context<'_>, from: u32, work: &mut Work) -> Option<u32> {
        if self.nodes.len() > SKIPPING_NODES_MAX {
            return Some(from);
        }
        self.next_chunk_of(self.root, context, from, work)
    }

    fn next_chunk_of(&mut self, node: NodeNumber, context: &Context<'_>, from: u32, work: &mut Work) -> Option<u32> {
        match self.node_mut(node) {
            Node::All | Node::Not(_) => Some(from),
            Node::Nothing => None,
            Node::Postings(cursor) => cursor.chunk_from(context.index, from, work).map(|(chunk, _)| *chunk),
            Node::Collected(collection) => collection.rows.next_chunk(from),
            Node::Expired(field) => context.expired.of_field(*field)?.next_chunk(from),
            Node::Every(parts) => {
                let parts = Arc::clone(parts);
                parts.iter().try_fold(from, |chunk, part| self.next_chunk_of(*part, context, chunk, work))
            }
            Node::Any(parts) => {
                let parts = Arc::clone(parts);
                parts.iter().filter_map(|part| self.next_chunk_of(*part, context, from, work)).min()
            }
            Node::Verified { candidates, .. } => {
                let candidates = *candidates;
                self.next_chunk_of(candidates, context, from, work)
            }
        }
    }
}

impl Node {
    /// Returns its place among the parts of an intersection: those first that leave the least and cost the least.
    pub(super) fn rank(&self) -> (u8, u64) {
        match self {
            Self::Postings(cursor) => (0, cursor.items.end - cursor.items.start),
            Self::Verified { .. } => (3, 0),
            Self::Not(_) => (2, 0),
            _ => (1, 0),
        }
    }
}

impl Test {
    /// Returns true if the words of the field's value are like the pattern; if it is an infix, the whole value.
    pub(crate) fn fits(&self, context: &Context<'_>, record: &Record<'_>, work: &mut Work) -> bool {
        work.spend_bytes(record.bytes_count());
        let definition = &context.index.definition;
        let Some(value) = record.value(self.field, context.now) else { return false };
        if value.is_empty() {
            return definition.fields[self.field].indexes_empty && self.pattern.fits("", work);
        }
        work.spend_text(value.len());
        let text = folded(value, false);
        if let Term::Contains(part) = &self.pattern.term {
            return unescape(&text).contains(&**part);
        }
        words(&text).filter(|word| !definition.is_stop_word(word)).any(|word| self.pattern.fits(&word, work))
    }
}
