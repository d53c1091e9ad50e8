//! How much of a scenario a run measures.
//!
//! ```text
//!          counts     columns    a cell of calls    a rest      turns
//! tiny     / 1,000    the first  20 ms              none        1
//! quick    / 100      quick      1 s                at most 1 s 1
//! usual    all        usual      10 s               as written  as asked for
//! full     all        all        10 s               as written  as asked for
//! ```

use super::{Load, Scenario, Writes};
use crate::calls::plan::Count;
use std::time::Duration;

/// A short run makes at least so many calls, unless a run makes fewer: cases read what others have written.
const SHORT_CALLS_MIN: u64 = 1000;

/// The size of a run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Size {
    Tiny,
    Quick,
    Usual,
    Full,
}

impl Size {
    /// Returns true if its figures show no more than that everything works.
    pub(crate) fn is_short(self) -> bool {
        matches!(self, Self::Tiny | Self::Quick)
    }

    /// The time after which a cell of the lab's own calls ends, unless it says otherwise.
    pub(crate) fn cell(self) -> Duration {
        match self {
            Self::Tiny => Duration::from_millis(20),
            Self::Quick => Duration::from_secs(1),
            Self::Usual | Self::Full => Duration::from_secs(10),
        }
    }

    /// The longest rest of a server before it is measured.
    pub(crate) fn rest_max(self) -> Duration {
        match self {
            Self::Tiny => Duration::ZERO,
            Self::Quick => Duration::from_secs(1),
            Self::Usual | Self::Full => Duration::MAX,
        }
    }

    fn divisor(self) -> u64 {
        match self {
            Self::Tiny => 1000,
            Self::Quick => 100,
            Self::Usual | Self::Full => 1,
        }
    }
}

impl Scenario {
    /// Leaves the columns of a run of this size, and makes counts and times fit it.
    pub(crate) fn fit(&mut self, size: Size) {
        match size {
            Size::Full => return,
            Size::Usual => return self.columns.keep(self.columns.usual),
            Size::Quick => self.columns.keep(self.columns.quick),
            Size::Tiny => self.columns.keep(Some(1)),
        }
        // Short runs do not come near it.
        self.memory_max_bytes = None;
        let shortened = |count: u64, least: u64| count.div_ceil(size.divisor()).max(count.min(least));
        self.items = shortened(self.items, self.items_min);
        for case in &mut self.cases {
            if let Count::Number(requests) = &mut case.requests {
                let least = if matches!(case.load, Load::Calls(_)) { SHORT_CALLS_MIN } else { 1 };
                *requests = shortened(*requests, least);
            }
            if let Some(checkpoints) = &mut case.checkpoints {
                checkpoints.after_s = checkpoints.after_s.min(size.rest_max().as_secs());
            }
            match &mut case.load {
                Load::Idle { connections } => *connections = connections.div_ceil(size.divisor()),
                Load::Generator { beside: Some(beside), .. } => beside.keys = beside.keys.div_ceil(size.divisor()),
                Load::Calls(calls) => calls.shorten(),
                // With threads it looks only four times a second whether it is done.
                Load::Benchmark(arguments) if size == Size::Tiny => *arguments = arguments.replace("--threads 2", ""),
                Load::Writes(writes) => writes.shorten(size),
                Load::Restart { writes, least_s } => {
                    *least_s = 0;
                    writes.shorten(size);
                }
                _ => {}
            }
        }
    }
}

impl Writes {
    fn shorten(&mut self, size: Size) {
        self.seconds = self.seconds.min(if size == Size::Tiny { 0.1 } else { 2.0 });
    }
}
