//! Values made of others, mostly before the tx runs.

use super::{Abandon, TRIES_MAX, Tx};
use crate::combine::{Combining, Made, OfWhen, Sources};
use crate::search::JobRequest;
use values::Value;

impl Tx<'_> {
    /// The value made of `sources` as they are now by what `begin` begins; `None` if nothing comes out. `name` tells it
    /// from others of the same EXEC: the request, as a rule. For sources that are big; small ones are combined by the
    /// caller.
    ///
    /// # Errors
    /// If they have not been combined yet, or one has changed since; the third time they are combined here, and all are
    /// beyond a few for one EXEC.
    pub fn combine(
        &mut self,
        name: &[&[u8]],
        sources: Vec<Option<Value>>,
        begin: impl Fn(Vec<Option<Value>>) -> Box<dyn Combining> + Send + Sync + 'static,
    ) -> Result<Option<Value>, Abandon> {
        self.make(name, sources, begin).map(|made| made.expect("values that are there can be combined"))
    }

    /// As [`Tx::combine`], of sources that may turn out to be none: then it says why.
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

    /// Likewise, of this instant or of the one in which it began.
    ///
    /// # Errors
    /// As [`Tx::combine`]; what is of the past is combined but once.
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
