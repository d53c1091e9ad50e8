//! Results of work that was done off the lock, mostly before the tx runs.

use super::{Abandon, Speculating, Tx};
use crate::off_lock::{Computation, Computed, OFF_LOCK_TRIES_MAX, OfWhen, OffLockJob, OffLockJobs, Sources};
use crate::search::{Finding, Search, SearchQuery};
use std::sync::Arc;
use values::{List, Value};

/// Maximum jobs per EXEC: each reruns all of its commands, and a list in a table that the EXEC itself created is never
/// found again.
const JOBS_MAX: usize = 8;

/// How far the work on some sources is.
enum Progress<'k> {
    /// It is done, and the sources are the clones still.
    Done(&'k OffLockJob),
    /// It is to be done here, from the earlier job, whose sources have changed, if there is one.
    Here(Sources, Option<&'k OffLockJob>),
}

impl<'k> Tx<'k> {
    /// Sets the jobs done so far.
    pub fn set_jobs(&mut self, jobs: &'k OffLockJobs) {
        self.jobs = Some(jobs);
    }

    /// Returns the value computed from `sources`, as they are now, by the computation that `begin` begins; `None` if the
    /// result is empty. `name`, usually the request, distinguishes it from others of the same EXEC. For large sources;
    /// callers compute small ones themselves.
    ///
    /// # Errors
    /// If they have not been worked on yet, or one has changed since. The third attempt computes here, and so do all beyond
    /// a few in one EXEC.
    pub fn compute(
        &mut self,
        name: &[&[u8]],
        sources: Vec<Option<Value>>,
        begin: impl Fn(Vec<Option<Value>>) -> Box<dyn Computation> + Send + Sync + 'static,
    ) -> Result<Option<Value>, Abandon> {
        let computed = self.try_compute(OfWhen::Now, name, sources, begin)?;
        Ok(computed.expect("values that are there can be combined"))
    }

    /// As [`Tx::compute`], of this instant or the one in which the computation began; it may fail with an error reply.
    ///
    /// # Errors
    /// As [`Tx::compute`]; a computation of a past instant runs only once.
    pub fn try_compute(
        &mut self,
        of_when: OfWhen,
        name: &[&[u8]],
        sources: Vec<Option<Value>>,
        begin: impl Fn(Vec<Option<Value>>) -> Box<dyn Computation> + Send + Sync + 'static,
    ) -> Result<Computed, Abandon> {
        let sources = Sources::new(self.table, name, sources, begin);
        if of_when == OfWhen::Followed && self.is_of_several {
            return Ok(sources.compute(self, None));
        }
        match self.progress(sources, of_when == OfWhen::Now || self.is_of_several)? {
            Progress::Done(job) => Ok(job.result()),
            Progress::Here(sources, earlier) => Ok(sources.compute(self, earlier)),
        }
    }

    /// Returns the search result for the list under `key`, which exists and is large.
    ///
    /// # Errors
    /// As [`Tx::compute`]; the third attempt searches only the parts that have changed.
    pub fn search(&mut self, key: &[u8], query: &SearchQuery) -> Result<Finding<'k>, Abandon> {
        let list = self.list(key).ok().flatten().expect("just seen by the caller").clone();
        let (name, own_query) = (query.name(), query.clone());
        let begin = move |sources: Vec<Option<Value>>| -> Box<dyn Computation> {
            let Some(Some(Value::List(list))) = sources.into_iter().next() else { unreachable!("its only source") };
            Box::new(Search::new(list, &own_query))
        };
        let values = vec![Some(Value::List(list.clone()))];
        let sources = Sources::new(self.table, &[b"search", key, &query.needle, &name], values, begin);
        Ok(match self.progress(sources, true)? {
            Progress::Done(job) => Finding::Still(job.computation::<Search>()),
            Progress::Here(_, Some(job)) => Finding::Now(Arc::new(job.computation::<Search>().again(&list))),
            Progress::Here(_, None) => Finding::Now(find_all(&list, query)),
        })
    }

    /// Returns how far the work on `sources` is; a job of a past instant is done whatever they are now.
    ///
    /// # Errors
    /// If it is to be done off the lock.
    fn progress(&self, sources: Sources, is_of_now: bool) -> Result<Progress<'k>, Abandon> {
        let job = self.jobs.and_then(|jobs| jobs.get(&sources));
        match job {
            Some(job) if !is_of_now || job.sources == sources => Ok(Progress::Done(job)),
            Some(job) if job.tries >= OFF_LOCK_TRIES_MAX => Ok(Progress::Here(sources, Some(job))),
            None if self.is_last_try() => Ok(Progress::Here(sources, None)),
            _ => Err(Abandon::Compute(Box::new(sources))),
        }
    }

    /// Returns true if work not done yet must be done here.
    fn is_last_try(&self) -> bool {
        self.speculating == Speculating::Now || self.jobs.is_some_and(|jobs| jobs.count() >= JOBS_MAX)
    }
}

fn find_all(list: &List, query: &SearchQuery) -> Arc<blocks::Runs> {
    list.find_all(&query.needle, query.direction, query.limit)
}
