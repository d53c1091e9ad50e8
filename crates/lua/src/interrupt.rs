//! When the engine asks whether to go on.
//!
//! It does so at each loop, call and return, and at each part of a pattern. Handing each of these to a closure, as `mlua`
//! does, takes twice as long as a short loop itself: so a counter stands in between, and only one in 64 is handed on. It looks
//! at the memory in use at one in four, and hands that one on where memory has changed much, since what does that takes long.
//! Each is handed on while 64 of them took long or much memory is in use.

use mlua::ffi::{lua_State, lua_callbacks, lua_totalbytes};
use mlua::{Lua, VmState};
use quanta::Instant;
use std::cell::Cell;
use std::ffi::c_int;

type Interrupt = unsafe extern "C-unwind" fn(*mut lua_State, c_int);

/// So many are counted between two that are handed on.
const COUNTED: u32 = 63;
/// One in so many looks at the memory in use; a power of two.
const LOOKS: u32 = 4;
/// Where so many microseconds pass between two that are handed on, none is counted.
const LONG_US: u128 = 1_000;
/// A change of the memory in use by so many bytes is much.
const MUCH_BYTES: usize = 1 << 20;
/// Where so many bytes are in use none is counted: texts may be so long that what passes between two takes long.
const LONG_BYTES: usize = 16 << 20;

thread_local! {
    /// How many are counted still.
    static LEFT: Cell<u32> = const { Cell::new(0) };
    /// Bytes in use when the last one was handed on.
    static BYTES: Cell<usize> = const { Cell::new(0) };
    /// When that was.
    static HANDED: Cell<Option<Instant>> = const { Cell::new(None) };
    /// Who they are handed to: the same function of `mlua` for every state.
    static TO: Cell<Option<Interrupt>> = const { Cell::new(None) };
}

/// Has `ask` called now and then while scripts run: what it fails with, the script fails with.
///
/// # Errors
/// None, but those of a state whose memory is limited.
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

/// Has the next one handed on, and all that follow until one is not answered by an error.
pub(crate) fn hurry() {
    LEFT.set(0);
}

/// Counts one, or hands it on.
///
/// # Safety
/// Called by the engine, with the state that runs.
unsafe extern "C-unwind" fn count(state: *mut lua_State, collecting: c_int) {
    // The collector asks, too, where no error may pass.
    if collecting >= 0 {
        return;
    }
    let left = LEFT.get();
    if !left.is_multiple_of(LOOKS) {
        LEFT.set(left - 1);
        return;
    }
    // SAFETY: the caller's promise; nothing is called but a function that adds up.
    let bytes = unsafe { lua_totalbytes(state, -1) };
    if left > 0 && bytes < LONG_BYTES && bytes.abs_diff(BYTES.get()) < MUCH_BYTES {
        LEFT.set(left - 1);
        return;
    }
    BYTES.set(bytes);
    if let Some(to) = TO.get() {
        // SAFETY: the caller's promise, handed on.
        unsafe { to(state, collecting) };
    }
    // Not reached if it has failed: then the next one is handed on as well.
    let now = Instant::now();
    let is_slow = HANDED.replace(Some(now)).is_some_and(|handed| (now - handed).as_micros() > LONG_US);
    LEFT.set(if is_slow { 0 } else { COUNTED });
}
