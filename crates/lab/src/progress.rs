//! Progress of a run: a bar with the time left on a terminal, plain lines elsewhere.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, IsTerminal};

const TEMPLATE: &str = "[{elapsed_precise}] {bar:30} {pos}/{len}, {eta} left: {wide_msg}";

/// The progress of one run.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Begins a run of so many cells.
    pub(crate) fn new(cells: u64) -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(cells);
            bar.set_style(ProgressStyle::with_template(TEMPLATE).expect("a valid template"));
            bar
        });
        Self { bar }
    }

    /// Shows the cell that is measured next.
    pub(crate) fn begin(&self, cell: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(cell.to_owned());
            bar.tick();
        }
    }

    /// Counts a cell as done.
    pub(crate) fn end_cell(&self) {
        if let Some(bar) = &self.bar {
            bar.inc(1);
        }
    }

    /// Prints a line.
    pub(crate) fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| println!("{text}")),
            None => println!("{text}"),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
