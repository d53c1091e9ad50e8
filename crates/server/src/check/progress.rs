//! The progress of a check: a bar on a terminal, otherwise a line now and then.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::time::{Duration, Instant};

/// Time between two progress lines.
const LINE: Duration = Duration::from_secs(1);
const BAR: &str = "{msg} {wide_bar} {bytes} of {total_bytes}, {eta} left";

/// Reports progress to people.
pub(super) struct Bar {
    /// `Some` on a terminal.
    bar: Option<ProgressBar>,
    what: &'static str,
    said: Instant,
}

impl Bar {
    pub(super) fn new() -> Self {
        let bar = stderr().is_terminal().then(|| {
            let style = ProgressStyle::with_template(BAR).expect("the template is well formed");
            ProgressBar::new(0).with_style(style)
        });
        Self { bar, what: "", said: Instant::now() }
    }

    /// Reports `done` of `total` bytes.
    pub(super) fn report(&mut self, what: &'static str, done: u64, total: u64) {
        let is_other = std::mem::replace(&mut self.what, what) != what;
        match &self.bar {
            Some(bar) => {
                if is_other {
                    bar.reset();
                    bar.set_message(what);
                }
                bar.set_length(total);
                bar.set_position(done);
            }
            None if self.said.elapsed() >= LINE => {
                self.said = Instant::now();
                eprintln!("{what}: {} of {} MB", done >> 20, total >> 20);
            }
            None => {}
        }
    }

    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
