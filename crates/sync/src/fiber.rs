//! A fiber: code with its own stack, which can pause anywhere and be resumed.
//!
//! ```text
//!   outside            inside
//!   resume(a) -------> body(pause, a) ...
//!      ^                  | pause.rest(x)        its stack stays: locks, borrows, a script half-way
//!   Some(x) <-------------'
//!   resume(b) -------> ... returns b
//!   None <------------ body ends
//! ```
//!
//! A fiber stays on its thread. A fiber dropped while paused is leaked with its stack: it can be neither resumed nor
//! unwound.

use crate::overflow::{self, Guard};
use corosensei::stack::{DefaultStack, Stack};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::io;
use std::mem::ManuallyDrop;
use std::ptr;
use std::rc::Rc;

thread_local! {
    /// Address of the `Line` of the innermost fiber running on this thread; 0 if none.
    static INNERMOST: Cell<usize> = const { Cell::new(0) };
}

/// State shared by a fiber and its [`Pause`]s.
struct Line<I: 'static, O: 'static> {
    /// On the fiber's stack, from its begin to its end; null before and after.
    yielder: Cell<*const Yielder<I, O>>,
}

/// Code with its own stack: receives an `I` each time it is resumed, and returns an `O` each time it pauses.
pub struct Fiber<I: 'static, O: 'static> {
    coroutine: ManuallyDrop<Coroutine<I, O, ()>>,
    line: Rc<Line<I, O>>,
    guard: Guard,
}

/// Lets the code inside pause.
pub struct Pause<I: 'static, O: 'static> {
    line: Rc<Line<I, O>>,
}

impl<I, O> Clone for Pause<I, O> {
    fn clone(&self) -> Self {
        Self { line: self.line.clone() }
    }
}

impl<I: 'static, O: 'static> Fiber<I, O> {
    /// Creates a fiber that will run `body` on a stack of `stack_bytes`; only its touched pages take memory. On stack
    /// overflow the process aborts with a line on standard error that names the fiber and its thread.
    ///
    /// # Errors
    /// If the system cannot provide a stack.
    pub fn new(
        name: &'static str,
        stack_bytes: usize,
        body: impl FnOnce(Pause<I, O>, I) + 'static,
    ) -> io::Result<Self> {
        let line = Rc::new(Line { yielder: Cell::new(ptr::null()) });
        let inside = line.clone();
        let stack = DefaultStack::new(stack_bytes)?;
        let guard = Guard { name, limit: stack.limit().get(), stack_bytes };
        overflow::report();
        let coroutine = Coroutine::with_stack(stack, move |yielder, first| {
            inside.yielder.set(yielder);
            body(Pause { line: inside.clone() }, first);
            inside.yielder.set(ptr::null());
        });
        Ok(Self { coroutine: ManuallyDrop::new(coroutine), line, guard })
    }

    /// Runs until it pauses, and returns its output; `None` once it has ended.
    ///
    /// # Panics
    /// If it had already ended.
    pub fn resume(&mut self, input: I) -> Option<O> {
        assert!(!self.coroutine.done(), "an ended fiber cannot be resumed");
        let outer = INNERMOST.replace(Rc::as_ptr(&self.line).addr());
        let outer_guard = overflow::guard(Some(self.guard));
        let result = self.coroutine.resume(input);
        overflow::guard(outer_guard);
        INNERMOST.set(outer);
        match result {
            CoroutineResult::Yield(output) => Some(output),
            CoroutineResult::Return(()) => None,
        }
    }

    /// Returns true if it has ended.
    pub fn is_over(&self) -> bool {
        self.coroutine.done()
    }
}

impl<I, O> Drop for Fiber<I, O> {
    fn drop(&mut self) {
        if self.coroutine.done() || !self.coroutine.started() {
            // SAFETY: dropped once, here, and not used again.
            unsafe { ManuallyDrop::drop(&mut self.coroutine) };
        }
    }
}

impl<I: 'static, O: 'static> Pause<I, O> {
    /// Pauses, passing `output` to the resumer; returns the next resume's input.
    ///
    /// # Panics
    /// If called anywhere but inside its own fiber.
    pub fn rest(&self, output: O) -> I {
        assert!(INNERMOST.get() == Rc::as_ptr(&self.line).addr(), "only the running fiber can pause");
        let yielder = self.line.yielder.get();
        assert!(!yielder.is_null());
        // SAFETY: the line is the innermost that runs on this thread, so this is its fiber's own stack, between the
        // begin and the end of the body; there the yielder lives, and it is not null.
        unsafe { &*yielder }.suspend(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STACK_BYTES: usize = 64 << 10;

    #[test]
    fn a_fiber_resumes_where_it_paused() {
        let mut fiber = Fiber::new("of a test", STACK_BYTES, |pause: Pause<u32, u32>, first| {
            let mut sum = first;
            while sum < 100 {
                sum += pause.rest(sum);
            }
        })
        .unwrap();
        assert_eq!((fiber.resume(1), fiber.resume(10), fiber.resume(30)), (Some(1), Some(11), Some(41)));
        assert!(!fiber.is_over());
        assert_eq!(fiber.resume(59), None);
        assert!(fiber.is_over());
    }

    #[test]
    fn nested_fibers_can_both_pause() {
        let mut outer = Fiber::new("of a test", STACK_BYTES, |outer: Pause<(), String>, ()| {
            let mut inner = Fiber::new("of a test", STACK_BYTES, |inner: Pause<u32, u32>, first| {
                (0..3).fold(first, |number, _| inner.rest(number * 2));
            })
            .unwrap();
            let mut number = 1;
            while let Some(doubled) = inner.resume(number) {
                outer.rest(format!("{doubled}"));
                number = doubled;
            }
        })
        .unwrap();
        let outputs: Vec<String> = std::iter::from_fn(|| outer.resume(())).collect();
        assert_eq!(outputs, ["2", "4", "8"]);
    }

    #[test]
    fn pausing_from_outside_the_fiber_panics() {
        let kept: Rc<Cell<Option<Pause<(), ()>>>> = Rc::default();
        let inside = kept.clone();
        let mut fiber = Fiber::new("of a test", STACK_BYTES, move |pause: Pause<(), ()>, ()| {
            inside.set(Some(pause.clone()));
            pause.rest(());
        })
        .unwrap();
        assert_eq!(fiber.resume(()), Some(()));
        let pause = kept.take().unwrap();
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pause.rest(()))).is_err());
        assert_eq!(fiber.resume(()), None);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| pause.rest(()))).is_err());
    }

    #[test]
    fn dropping_a_paused_fiber_does_not_unwind_it() {
        let held = Rc::new(());
        let inside = held.clone();
        let mut fiber = Fiber::new("of a test", STACK_BYTES, move |pause: Pause<(), ()>, ()| {
            let _held = inside;
            pause.rest(());
        })
        .unwrap();
        fiber.resume(());
        drop(fiber);
        assert_eq!(Rc::strong_count(&held), 2);
        let begun_never = Fiber::new("of a test", STACK_BYTES, |_: Pause<(), ()>, ()| {}).unwrap();
        drop(begun_never);
    }
}
