//! Values combined from others, mostly before the tx runs.

use super::{Abandon, TRIES_MAX, Tx};
use crate::combine::{Combining, Made, OfWhen, Sources};
use crate::search::JobRequest;
use values::Value;

impl Tx<'_> {
    /// Returns the value combined from `sources`, as they are now, by the combination that `begin` begins; `None` if
    /// the result is empty. `name`, usually the request, distinguishes it from others of the same EXEC. For large
    /// sources; callers combine small ones themselves.
    ///
    /// # Errors
    /// If they have not been combined yet, or one has changed since. The third attempt combines them here, and so do
    /// all beyond a few in one EXEC.
    pub fn combine(
        &mut self,
        name: &[&[u8]],
        sources: Vec<Option<Value>>,
        begin: impl Fn(Vec<Option<Value>>) -> Box<dyn Combining> + Send + Sync + 'static,
    ) -> Result<Option<Value>, Abandon> {
        self.make(name, sources, begin).map(|made| made.expect("values that are there can be combined"))
    }

    /// As [`Tx::combine`], for a combination that may fail with an error reply.
    ///
    /// # Errors
    /// As [`Tx::combine`].
    pub fn make(
        &mut self,
        name: &[&[u8]],
        sources: Vec<Option<Value>>,
        begin: impl Fn(Vec<Option<Value>>) -> Box<dyn Combining> + Send + Sync + 'static,
    ) -> Result<Made, Abandon> {
        self.make_of(OfWhen::Now, name, sources, begin)
    }

    /// As [`Tx::make`], for this instant or the one in which the combination began.
    ///
    /// # Errors
    /// As [`Tx::combine`]; a combination of a past instant runs only once.
    pub fn make_of(
        &mut self,
        of_when: OfWhen,
        name: &[&[u8]],
        sources: Vec<Option<Value>>,
        begin: impl Fn(Vec<Option<Value>>) -> Box<dyn Combining> + Send + Sync + 'static,
    ) -> Result<Made, Abandon> {
        let (sources, searches) = (Sources::new(self.table, name, sources, begin), self.searches);
        let is_of_now = of_when == OfWhen::Now || self.is_of_several;
        if of_when == OfWhen::Followed && self.is_of_several {
            return Ok(sources.combine(self));
        }
        match searches.and_then(|searches| searches.get_combination(&sources)) {
            Some(made) if !is_of_now || made.sources == sources => Ok(made.result()),
            Some(made) if made.tries >= TRIES_MAX => Ok(sources.combine(self)),
            None if self.is_last_try() => Ok(sources.combine(self)),
            _ => Err(Abandon::Search(Box::new(JobRequest::Value(sources)))),
        }
    }
}
