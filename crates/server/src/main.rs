//! The `bobbin` binary.

#![forbid(unsafe_code)]

use server::cli::{self, CliCommand};
use server::startup::{self, REFUSED};
use server::{check, memory, run};
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    let began = Instant::now();
    memory::fit_allocator();
    match cli::read(std::env::args_os(), |name| std::env::var_os(name)) {
        Ok(CliCommand::Serve(settings)) => startup::serve(settings, |prepared| run::run(prepared, began)),
        Ok(CliCommand::Config(settings)) => print(&cli::show(&settings)),
        Ok(CliCommand::Check { folder, repair }) => check::run(&folder, repair),
        Ok(CliCommand::Print(text)) => {
            // A reader that closed the pipe has read what it wanted.
            let _ = text.print();
            ExitCode::SUCCESS
        }
        Err(line) => {
            eprintln!("bobbin: {line}");
            ExitCode::from(REFUSED)
        }
    }
}

fn print(text: &str) -> ExitCode {
    let _ = std::io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}
