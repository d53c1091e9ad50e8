//! The `bobbin-lab` binary.

#![forbid(unsafe_code)]

use clap::Parser;
use std::process::ExitCode;

/// Measures Bobbin beside a peer on this machine and keeps the figures.
#[derive(Parser)]
#[command(name = "bobbin-lab", version)]
struct Arguments {
    #[command(subcommand)]
    command: Option<lab::cli::LabCommand>,
}

fn main() -> ExitCode {
    lab::cli::run(Arguments::parse().command)
}
