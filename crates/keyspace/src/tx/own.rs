//! A tx on the server's own table.

use super::Tx;
use crate::OF_SERVER;

impl Tx<'_> {
    /// Runs `work` on the server's own table, without notes or read counts.
    pub fn of_server<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let before = (std::mem::replace(&mut self.table, OF_SERVER), self.notes.take(), self.reads);
        let result = work(self);
        (self.table, self.notes, self.reads) = before;
        result
    }
}
