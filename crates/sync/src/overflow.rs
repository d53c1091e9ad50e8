//! Reports a fiber's stack overflow, where the process would otherwise end silently.
//!
//! ```text
//!   | below ... | guard page | stack of the fiber <--- grows ---- |
//!   '------------------------' an access here: a line on standard error, abort
//! ```
//!
//! The handler runs on the alternate stack that the standard library gives each of its threads, and only writes. Any
//! other fault goes to the previous handler.

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::sync::OnceLock;

/// The stack of a fiber.
#[derive(Clone, Copy)]
pub(crate) struct Guard {
    pub(crate) name: &'static str,
    /// The lowest address of its mapping, with its guard page.
    pub(crate) limit: usize,
    pub(crate) stack_bytes: usize,
}

thread_local! {
    /// The stack of the innermost fiber running on this thread.
    static RUNNING: Cell<Option<Guard>> = const { Cell::new(None) };
}

/// Maximum frame size, in bytes, with which a C function may skip the guard page.
const BELOW_BYTES: usize = 64 << 10;
/// Size of the guard page: the largest page size there is.
const GUARD_BYTES: usize = 64 << 10;

/// The previous fault handlers, for SIGSEGV and for SIGBUS.
static BEFORE: [OnceLock<libc::sigaction>; 2] = [const { OnceLock::new() }; 2];
const SIGNALS: [libc::c_int; 2] = [libc::SIGSEGV, libc::SIGBUS];

/// Sets the fiber that runs from now on; returns the previous one.
#[inline]
pub(crate) fn guard(running: Option<Guard>) -> Option<Guard> {
    RUNNING.replace(running)
}

/// Turns on the reporting of overflows.
pub(crate) fn report() {
    static REPORTS: OnceLock<()> = OnceLock::new();
    if cfg!(miri) {
        return;
    }
    REPORTS.get_or_init(|| {
        for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
            let mut action = MaybeUninit::<libc::sigaction>::zeroed();
            let mut old = MaybeUninit::<libc::sigaction>::zeroed();
            // SAFETY: all zeros are a valid sigaction, which is then filled in; both pointers are valid for the calls,
            // and the handler has the signature that SA_SIGINFO requires. The previous handler is stored before ours
            // can run.
            unsafe {
                let action = action.assume_init_mut();
                if libc::sigaction(signal, std::ptr::null(), old.as_mut_ptr()) != 0 {
                    continue;
                }
                let _ = before.set(old.assume_init());
                action.sa_sigaction = on_fault as *const () as usize;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
                libc::sigaction(signal, action, std::ptr::null_mut());
            }
        }
    });
}

extern "C" fn on_fault(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel passes a valid siginfo of a fault, which has an address.
    let address = unsafe { (*info).si_addr() } as usize;
    if let Some(guard) = RUNNING.get()
        && (guard.limit.saturating_sub(BELOW_BYTES)..guard.limit + GUARD_BYTES).contains(&address)
    {
        write_report(&guard);
        // SAFETY: async-signal-safe.
        unsafe { libc::abort() };
    }
    pass_on(signal, info, context);
}

/// Writes the line, piece by piece: no allocation is allowed here.
fn write_report(guard: &Guard) {
    let mut thread = [0; 16];
    // SAFETY: the buffer holds the 16 bytes that the call writes, and the call is async-signal-safe.
    unsafe { libc::prctl(libc::PR_GET_NAME, thread.as_mut_ptr()) };
    let thread_bytes = thread.iter().position(|byte| *byte == 0).unwrap_or(thread.len());
    write(b"bobbin: stack overflow in the fiber ");
    write(guard.name.as_bytes());
    write(b" on the thread ");
    write(&thread[..thread_bytes]);
    write(b": its stack of ");
    let mut digits = [b'0'; 20];
    let (mut kb, mut at) = (guard.stack_bytes / 1024, digits.len());
    while kb > 0 || at == digits.len() {
        at -= 1;
        digits[at] = b'0' + (kb % 10) as u8;
        kb /= 10;
    }
    write(&digits[at..]);
    write(b" KB is full\n");
}

fn write(bytes: &[u8]) {
    // SAFETY: the buffer is valid for its length, and the call is async-signal-safe.
    unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}

/// Passes the fault to the previous handler.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let before = SIGNALS.iter().position(|known| *known == signal).and_then(|at| BEFORE[at].get());
    if let Some(before) = before
        && before.sa_flags & libc::SA_SIGINFO != 0
        && before.sa_sigaction != libc::SIG_DFL
        && before.sa_sigaction != libc::SIG_IGN
    {
        // SAFETY: with SA_SIGINFO the field holds a function of this signature, which gets what the kernel passed to
        // us.
        let handler = unsafe {
            std::mem::transmute::<usize, extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void)>(
                before.sa_sigaction,
            )
        };
        return handler(signal, info, context);
    }
    // SAFETY: async-signal-safe. The access is retried when this returns, and ends the process.
    unsafe { libc::signal(signal, libc::SIG_DFL) };
}
