//! Rate-limits the engine's interrupt callback.
//!
//! The engine calls it at each loop, call and return, and at each part of a pattern. Forwarding each to a closure, as
//! `mlua` does, takes twice as long as a short loop itself: so a counter forwards only one in 64. It checks the memory
//! in use at one in four, and forwards that one if memory has changed much, since such operations are slow. Each is
//! forwarded while 64 of them took long or much memory is in use.

use base::instant::Instant;
use mlua::ffi::{lua_State, lua_callbacks, lua_totalbytes};
use mlua::{Lua, VmState};
use std::cell::Cell;
use std::ffi::c_int;

type Interrupt = unsafe extern "C-unwind" fn(*mut lua_State, c_int);

/// Callbacks counted between two that are forwarded.
const COUNTED: u32 = 63;
/// One in this many checks the memory in use; a power of two.
const LOOKS: u32 = 4;
/// If this many microseconds pass between two forwarded callbacks, all are forwarded.
const LONG_US: u128 = 1_000;
/// A change of memory usage by this many bytes is much.
const MUCH_BYTES: usize = 1 << 20;
/// With this many bytes in use all are forwarded: strings may be so long that the time between two is long.
const LONG_BYTES: usize = 16 << 20;

thread_local! {
    /// Callbacks left to count.
    static LEFT: Cell<u32> = const { Cell::new(0) };
    /// Bytes in use when the last one was forwarded.
    static BYTES: Cell<usize> = const { Cell::new(0) };
    /// The time of the last one forwarded.
    static HANDED: Cell<Option<Instant>> = const { Cell::new(None) };
    /// The forwarding target: the same `mlua` function for every state.
    static TO: Cell<Option<Interrupt>> = const { Cell::new(None) };
}

/// Makes `ask` be called regularly while scripts run; its error fails the script.
///
/// # Errors
/// None, except for a state whose memory is limited.
pub(crate) fn set(lua: &Lua, ask: impl Fn(&Lua) -> mlua::Result<()> + 'static) -> mlua::Result<()> {
    lua.set_interrupt(move |lua| ask(lua).map(|()| VmState::Continue));
    // SAFETY: the state is valid while `exec_raw` runs its function, and its callbacks live as long as it does. Ours has the
    // same contract as the one it stands before: called by the engine, with a state of its own.
    unsafe {
        lua.exec_raw((), |state| {
            let callbacks = &mut *lua_callbacks(state);
            TO.set(callbacks.interrupt.replace(count));
        })
    }
}

/// Forwards the next callback, and all that follow until one returns no error.
pub(crate) fn hurry() {
    LEFT.set(0);
}

/// Counts one callback, or forwards it.
///
/// # Safety
/// Called by the engine, with the running state.
unsafe extern "C-unwind" fn count(state: *mut lua_State, collecting: c_int) {
    // The collector calls too, where no error may propagate.
    if collecting >= 0 {
        return;
    }
    let left = LEFT.get();
    if !left.is_multiple_of(LOOKS) {
        LEFT.set(left - 1);
        return;
    }
    // SAFETY: the caller's promise; the only function called adds up numbers.
    let bytes = unsafe { lua_totalbytes(state, -1) };
    if left > 0 && bytes < LONG_BYTES && bytes.abs_diff(BYTES.get()) < MUCH_BYTES {
        LEFT.set(left - 1);
        return;
    }
    BYTES.set(bytes);
    // If it fails, what follows is not reached: then the next one is forwarded as well.
    LEFT.set(0);
    if let Some(to) = TO.get() {
        // SAFETY: the caller's promise, forwarded.
        unsafe { to(state, collecting) };
    }
    let now = Instant::now();
    let is_slow = HANDED.replace(Some(now)).is_some_and(|handed| (now - handed).as_micros() > LONG_US);
    LEFT.set(if is_slow || bytes >= LONG_BYTES { 0 } else { COUNTED });
}
