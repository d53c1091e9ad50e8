//! Reports that a test could not run here because a tool is missing.
//!
//! The test harness knows "ignored" only before a test runs. A test that finds out later calls [`skip`] and returns;
//! the line goes to the file named by `BOBBIN_SKIPS`, from which `make test` counts, and to the test's output.

#![forbid(unsafe_code)]

use std::fs::OpenOptions;
use std::io::Write;

/// Notes that `test` did not run, and why.
///
/// # Panics
/// With `CI=true`: there the set-up installs whatever tests need, so a missing tool is a fault.
pub fn skip(test: &str, why: &str) {
    println!("skipped: {test}: {why}");
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{test} may not be skipped in CI: {why}");
    let Some(path) = std::env::var_os("BOBBIN_SKIPS") else { return };
    let noted = OpenOptions::new().create(true).append(true).open(path);
    noted.and_then(|mut file| writeln!(file, "{test}: {why}")).expect("BOBBIN_SKIPS names a writable file");
}

/// The program on `PATH`, or a noted skip of `test`.
pub fn program_or_skip(test: &str, program: &str) -> Option<std::path::PathBuf> {
    let found = base::programs::on_path(program);
    if found.is_none() {
        skip(test, &format!("{program} is not on PATH (scripts/setup-tests installs it)"));
    }
    found
}
