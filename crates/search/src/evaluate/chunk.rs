//! The rows of one chunk that match a plan, in steps.
//!
//! ```text
//!   frames     Every, its 2nd part | Any, its 40th part | Verified, row 17      the last one goes on
//! ```
//!
//! The stack of nodes is kept between two steps, so that a plan of many nodes, or many texts that are compared, can be
//! left half way.

use super::bitmap::Bitmap;
use super::leaf::Context;
use super::plan::{Node, NodeNumber, Plan};
use super::work::{CHUNK_WORK, RECORD_WORK, Work};
use crate::index::{Record, row_at};

/// A chunk being looked at.
pub(crate) struct ChunkSearch {
    pub(crate) chunk: u32,
    frames: Vec<Frame>,
}

/// A node being asked.
struct Frame {
    node: NodeNumber,
    /// Parts asked so far.
    parts: usize,
    /// The place from which on rows are yet to be compared.
    place: u16,
    /// The rows that may match.
    rows: Bitmap,
    /// The rows that match one of the parts asked.
    found: Bitmap,
}

/// The next move of a frame.
enum FrameStep {
    Ask(NodeNumber, Bitmap),
    Return(Bitmap),
    GoOn,
}

impl ChunkSearch {
    /// Begins to look for those of a chunk's rows that match.
    pub(crate) fn new(plan: &Plan, chunk: u32, rows: Bitmap) -> Self {
        Self { chunk, frames: vec![Frame::new(plan.root, rows)] }
    }

    /// Returns its heap bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.frames.capacity() * size_of::<Frame>()
    }

    /// Looks for as long as there is work left; returns the rows once all are seen.
    pub(crate) fn step(&mut self, plan: &mut Plan, context: &Context<'_>, work: &mut Work) -> Option<Bitmap> {
        while !work.is_spent() {
            let Some(frame) = self.frames.last_mut() else { return Some(Bitmap::EMPTY) };
            match frame.step(plan, self.chunk, context, work) {
                FrameStep::GoOn => {}
                FrameStep::Ask(node, mut rows) => {
                    // A leaf, which most parts are, is asked without a frame of its own.
                    if plan.restrict(node, context, self.chunk, &mut rows, work) {
                        frame.take(plan.node(frame.node), rows);
                    } else {
                        self.frames.push(Frame::new(node, rows));
                    }
                }
                FrameStep::Return(rows) => {
                    self.frames.pop();
                    let Some(frame) = self.frames.last_mut() else { return Some(rows) };
                    frame.take(plan.node(frame.node), rows);
                }
            }
        }
        None
    }
}

impl Frame {
    fn new(node: NodeNumber, rows: Bitmap) -> Self {
        Self { node, parts: 0, place: 0, rows, found: Bitmap::EMPTY }
    }

    fn step(&mut self, plan: &mut Plan, chunk: u32, context: &Context<'_>, work: &mut Work) -> FrameStep {
        work.spend(CHUNK_WORK / 2);
        let mut rows = self.rows.clone();
        if plan.restrict(self.node, context, chunk, &mut rows, work) {
            return FrameStep::Return(rows);
        }
        match plan.node(self.node) {
            _ if rows.is_empty() => {}
            Node::Every(parts) => {
                if let Some(part) = parts.get(self.parts) {
                    self.parts += 1;
                    return FrameStep::Ask(*part, rows);
                }
            }
            Node::Any(parts) => {
                rows.subtract(&self.found);
                match parts.get(self.parts).filter(|_| !rows.is_empty()) {
                    Some(part) => {
                        self.parts += 1;
                        return FrameStep::Ask(*part, rows);
                    }
                    None => return FrameStep::Return(self.found.clone()),
                }
            }
            Node::Not(part) | Node::Verified { candidates: part, .. } if self.parts == 0 => {
                self.parts = 1;
                return FrameStep::Ask(*part, rows);
            }
            Node::Verified { test, .. } => {
                while let Some(place) = self.rows.next_place(self.place) {
                    self.place = place + 1;
                    work.spend(RECORD_WORK);
                    let fits = |record: &Record<'_>| test.fits(context, record, work);
                    if context.index.record(row_at(chunk, place), fits) != Some(true) {
                        self.rows.remove(place);
                    }
                    if work.is_spent() {
                        return FrameStep::GoOn;
                    }
                }
                rows = self.rows.clone();
            }
            _ => {}
        }
        FrameStep::Return(rows)
    }

    /// Takes the rows that match the part asked last.
    fn take(&mut self, node: &Node, rows: Bitmap) {
        match node {
            Node::Any(_) => self.found.unite(&rows),
            Node::Not(_) => self.rows.subtract(&rows),
            _ => self.rows = rows,
        }
    }
}
