//! The atomics and locks that a request may meet. In the counting build (`--cfg bobbin_counting`) they note each cache line
//! that they touch and the place in the code, so that a test can say which lines two workers share.
//!
//! ```text
//!   worker 0: record(GET a) --> Lines read, written --.
//!                                                     |-- lines that one writes and the other reads or writes
//!   worker 1: record(GET b) --> Lines read, written --'
//! ```
//!
//! The counters of an `Arc` are not seen.

#[cfg(bobbin_counting)]
pub use counting::{Lines, Mutex, RwLock, atomic, note_write, record};
#[cfg(not(bobbin_counting))]
pub use std::sync::{Mutex, RwLock, atomic};
pub use std::sync::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};

/// Notes a write at this address by an atomic that is not of this module; does nothing but in the counting build.
#[cfg(not(bobbin_counting))]
#[inline(always)]
pub fn note_write<T>(_written: &T) {}

#[cfg(bobbin_counting)]
mod counting {
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::panic::Location;
    use std::sync::{LockResult, MutexGuard, RwLockReadGuard, RwLockWriteGuard, TryLockResult};

    /// Bytes of a cache line.
    const LINE_BYTES: usize = 64;

    /// A cache line, and the place in the code that touched it first.
    type Touched = BTreeMap<usize, &'static Location<'static>>;

    /// The cache lines that some work has touched by atomics and locks.
    #[derive(Clone, Debug, Default)]
    pub struct Lines {
        read: Touched,
        written: Touched,
    }

    impl Lines {
        /// Returns the places at which this work wrote a line that the `other` read or wrote.
        pub fn written_and_touched_by(&self, other: &Self) -> Vec<&'static Location<'static>> {
            let is_shared = |line: &usize| other.read.contains_key(line) || other.written.contains_key(line);
            self.written.iter().filter(|(line, _)| is_shared(line)).map(|(_, place)| *place).collect()
        }

        /// Returns the numbers of lines read and written.
        pub fn counts(&self) -> (usize, usize) {
            (self.read.len(), self.written.len())
        }
    }

    thread_local! {
        static RECORD: RefCell<Option<Lines>> = const { RefCell::new(None) };
    }

    /// Returns the result of `work`, and the lines that the calling thread has touched in it.
    pub fn record<R>(work: impl FnOnce() -> R) -> (R, Lines) {
        RECORD.set(Some(Lines::default()));
        let result = work();
        (result, RECORD.take().expect("set above, and nested by nobody"))
    }

    #[track_caller]
    fn note<T: ?Sized>(touched: &T, is_write: bool) {
        let place = Location::caller();
        RECORD.with_borrow_mut(|record| {
            let Some(lines) = record else { return };
            let line = std::ptr::from_ref(touched).addr() / LINE_BYTES;
            let touched = if is_write { &mut lines.written } else { &mut lines.read };
            touched.entry(line).or_insert(place);
        });
    }

    /// Notes a write at this address by an atomic that is not of this module.
    #[track_caller]
    pub fn note_write<T>(written: &T) {
        note(written, true);
    }

    /// As `std::sync::Mutex`.
    #[derive(Debug, Default)]
    pub struct Mutex<T: ?Sized>(std::sync::Mutex<T>);

    impl<T> Mutex<T> {
        /// See [`std::sync::Mutex::new`].
        pub const fn new(value: T) -> Self {
            Self(std::sync::Mutex::new(value))
        }

        /// See [`std::sync::Mutex::into_inner`].
        #[expect(clippy::missing_errors_doc, reason = "as std's")]
        pub fn into_inner(self) -> LockResult<T> {
            self.0.into_inner()
        }
    }

    #[expect(clippy::missing_errors_doc, reason = "as std's")]
    impl<T: ?Sized> Mutex<T> {
        /// See [`std::sync::Mutex::lock`].
        #[track_caller]
        pub fn lock(&self) -> LockResult<MutexGuard<'_, T>> {
            note(&self.0, true);
            self.0.lock()
        }

        /// See [`std::sync::Mutex::try_lock`].
        #[track_caller]
        pub fn try_lock(&self) -> TryLockResult<MutexGuard<'_, T>> {
            note(&self.0, true);
            self.0.try_lock()
        }

        /// See [`std::sync::Mutex::get_mut`].
        pub fn get_mut(&mut self) -> LockResult<&mut T> {
            self.0.get_mut()
        }
    }

    /// As `std::sync::RwLock`.
    #[derive(Debug, Default)]
    pub struct RwLock<T: ?Sized>(std::sync::RwLock<T>);

    impl<T> RwLock<T> {
        /// See [`std::sync::RwLock::new`].
        pub const fn new(value: T) -> Self {
            Self(std::sync::RwLock::new(value))
        }
    }

    #[expect(clippy::missing_errors_doc, reason = "as std's")]
    impl<T: ?Sized> RwLock<T> {
        /// See [`std::sync::RwLock::read`].
        #[track_caller]
        pub fn read(&self) -> LockResult<RwLockReadGuard<'_, T>> {
            note(&self.0, true);
            self.0.read()
        }

        /// See [`std::sync::RwLock::write`].
        #[track_caller]
        pub fn write(&self) -> LockResult<RwLockWriteGuard<'_, T>> {
            note(&self.0, true);
            self.0.write()
        }
    }

    /// As `std::sync::atomic`.
    pub mod atomic {
        use super::note;
        pub use std::sync::atomic::{Ordering, fence};

        macro_rules! common {
            ($name:ident, $value:ty) => {
                /// The type of this name in `std::sync::atomic`.
                #[derive(Debug, Default)]
                #[repr(transparent)]
                pub struct $name(std::sync::atomic::$name);

                impl From<$value> for $name {
                    fn from(value: $value) -> Self {
                        Self::new(value)
                    }
                }

                #[expect(missing_docs, clippy::missing_errors_doc, reason = "as std's")]
                impl $name {
                    pub const fn new(value: $value) -> Self {
                        Self(std::sync::atomic::$name::new(value))
                    }

                    pub fn get_mut(&mut self) -> &mut $value {
                        self.0.get_mut()
                    }

                    pub fn into_inner(self) -> $value {
                        self.0.into_inner()
                    }

                    #[track_caller]
                    pub fn load(&self, order: Ordering) -> $value {
                        note(self, false);
                        self.0.load(order)
                    }

                    #[track_caller]
                    pub fn store(&self, value: $value, order: Ordering) {
                        note(self, true);
                        self.0.store(value, order);
                    }

                    #[track_caller]
                    pub fn swap(&self, value: $value, order: Ordering) -> $value {
                        note(self, true);
                        self.0.swap(value, order)
                    }

                    #[track_caller]
                    pub fn compare_exchange(
                        &self,
                        current: $value,
                        new: $value,
                        success: Ordering,
                        failure: Ordering,
                    ) -> Result<$value, $value> {
                        note(self, true);
                        self.0.compare_exchange(current, new, success, failure)
                    }

                    #[track_caller]
                    pub fn compare_exchange_weak(
                        &self,
                        current: $value,
                        new: $value,
                        success: Ordering,
                        failure: Ordering,
                    ) -> Result<$value, $value> {
                        note(self, true);
                        self.0.compare_exchange_weak(current, new, success, failure)
                    }

                    #[track_caller]
                    pub fn fetch_and(&self, value: $value, order: Ordering) -> $value {
                        note(self, true);
                        self.0.fetch_and(value, order)
                    }

                    #[track_caller]
                    pub fn fetch_or(&self, value: $value, order: Ordering) -> $value {
                        note(self, true);
                        self.0.fetch_or(value, order)
                    }

                    #[track_caller]
                    pub fn fetch_update(
                        &self,
                        set: Ordering,
                        fetch: Ordering,
                        change: impl FnMut($value) -> Option<$value>,
                    ) -> Result<$value, $value> {
                        note(self, true);
                        self.0.fetch_update(set, fetch, change)
                    }
                }
            };
        }

        macro_rules! number {
            ($name:ident, $value:ty) => {
                common!($name, $value);

                #[expect(missing_docs, reason = "as std's")]
                impl $name {
                    #[track_caller]
                    pub fn fetch_add(&self, value: $value, order: Ordering) -> $value {
                        note(self, true);
                        self.0.fetch_add(value, order)
                    }

                    #[track_caller]
                    pub fn fetch_sub(&self, value: $value, order: Ordering) -> $value {
                        note(self, true);
                        self.0.fetch_sub(value, order)
                    }

                    #[track_caller]
                    pub fn fetch_max(&self, value: $value, order: Ordering) -> $value {
                        note(self, true);
                        self.0.fetch_max(value, order)
                    }

                    #[track_caller]
                    pub fn fetch_min(&self, value: $value, order: Ordering) -> $value {
                        note(self, true);
                        self.0.fetch_min(value, order)
                    }
                }
            };
        }

        common!(AtomicBool, bool);
        number!(AtomicU8, u8);
        number!(AtomicU16, u16);
        number!(AtomicU32, u32);
        number!(AtomicU64, u64);
        number!(AtomicUsize, usize);
        number!(AtomicI64, i64);
    }

    #[cfg(test)]
    mod tests {
        use super::atomic::{AtomicU64, Ordering::Relaxed};
        use super::{Mutex, record};

        #[repr(align(64))]
        #[derive(Default)]
        struct Line([AtomicU64; 8]);

        #[test]
        fn a_line_is_shared_if_one_writes_it_and_the_other_touches_it() {
            let lines: [Line; 3] = Default::default();
            let ((), one) = record(|| {
                lines[0].0[0].store(1, Relaxed);
                let _ = lines[1].0[0].load(Relaxed);
                let _ = lines[2].0[0].fetch_add(1, Relaxed);
            });
            let ((), other) = record(|| {
                let _ = lines[0].0[7].load(Relaxed);
                let _ = lines[1].0[7].load(Relaxed);
            });
            assert_eq!((one.counts(), other.counts()), ((1, 2), (2, 0)));
            assert_eq!(one.written_and_touched_by(&other).len(), 1, "the line that both only read is not counted");
            assert!(other.written_and_touched_by(&one).is_empty());
        }

        #[test]
        fn locks_and_failed_exchanges_write_and_nothing_is_noted_outside() {
            let (mutex, number) = (Mutex::new(0), AtomicU64::new(1));
            *mutex.lock().unwrap() += 1;
            let ((), lines) = record(|| {
                *mutex.lock().unwrap() += 1;
                assert_eq!(number.compare_exchange(0, 2, Relaxed, Relaxed), Err(1));
            });
            assert!(lines.counts().1 >= 1);
            assert!(lines.written_and_touched_by(&lines).iter().all(|place| place.file() == file!()));
        }
    }
}
