//! A tx on what is no database's, but the server's own.

use super::Tx;
use crate::OF_SERVER;

impl Tx<'_> {
    /// What `work` makes of the server's own table, of which nobody is told.
    pub fn of_server<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let before = (std::mem::replace(&mut self.table, OF_SERVER), self.notes.take(), self.reads);
        let result = work(self);
        (self.table, self.notes, self.reads) = before;
        result
    }
}
