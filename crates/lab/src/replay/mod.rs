//! Plays what MONITOR printed on several servers, one after another, and compares their latencies and replies.
//!
//! ```text
//!  capture --> [plan] of calls --> [player], one server at a time --> latencies ---> [outcome] --> table, page,
//!    [capture] lines                 [connection]s of the clients     [replies] --> [differences]  replay.json
//!    [rules] of commands
//! ```
//!
//! Servers that the lab starts are empty. A running one keeps its data unless `--flush` asks otherwise, and gets all
//! writes of the capture.

mod capture;
mod connection;
mod differences;
mod outcome;
mod plan;
mod player;
mod replies;
mod rules;
#[cfg(test)]
mod tests;

use crate::adapters::{Fsync, Program};
use crate::load::{allow_open_files, rounded};
use crate::machine::Machine;
use crate::programs::{self, Programs};
use crate::resp::Client;
use crate::results::{self, AbsentSide, Results, SideResults};
use crate::run::{name_and_value, resolve};
use crate::scenario::Side;
use crate::server::{Resources, Server};
use crate::{LabError, file_error, interrupt, io_error, proc, record, turn};
use differences::ReplyComparison;
use outcome::{ReplayOutcome, ServerReplay};
use plan::Plan;
use player::{Played, Speed};
use replies::Answers;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Instant;

const JSON_NAME: &str = "replay.json";
/// The servers that are started if none are named.
const USUAL_SIDES: [&str; 2] = ["bobbin", "redis"];
/// Files of this process that are no connections.
const OTHER_FILES: u64 = 256;
/// Slower and faster than this is no replay.
const TIMES_MIN: f64 = 0.01;
const TIMES_MAX: f64 = 1e6;

/// The arguments of a replay.
#[derive(Debug, clap::Args)]
pub struct ReplayArguments {
    /// The file with what `redis-cli MONITOR` printed.
    capture: PathBuf,
    /// The servers to start, by the names of their adapters [default: bobbin,redis; none if --peer is given].
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    sides: Vec<String>,
    /// A running server to play on. It keeps its data, and gets all writes of the capture.
    #[arg(long = "peer", value_name = "NAME=HOST:PORT", value_parser = name_and_value)]
    peers: Vec<(String, String)>,
    /// Delete all data of the running servers first.
    #[arg(long, requires = "peers")]
    flush: bool,
    /// How many times faster than captured calls are made; `max` for as fast as they are answered; `in-order` for one
    /// after another, which alone makes replies comparable where clients share keys.
    #[arg(long, value_name = "TIMES|max|in-order", default_value = "1", value_parser = speed)]
    speed: Speed,
    /// When the started servers sync to the disk.
    #[arg(long, value_name = "WHEN", default_value = "none")]
    durability: Fsync,
    /// The bobbin to start [default: the one beside this program, else on PATH].
    #[arg(long, value_name = "PATH")]
    bobbin: Option<PathBuf>,
    /// The redis-server to start [default: the one on PATH].
    #[arg(long, value_name = "PATH")]
    redis: Option<PathBuf>,
    /// The folder in which the folder of results is made.
    #[arg(long, value_name = "FOLDER", default_value = "lab-results")]
    out: PathBuf,
    /// The folder in which servers have their data [default: in the folder of results].
    #[arg(long, value_name = "FOLDER")]
    data: Option<PathBuf>,
}

/// A server to play on.
struct ReplaySide {
    label: String,
    start: Start,
    side: SideResults,
}

/// How a server comes to be there.
enum Start {
    Fresh { side: Box<Side>, path: PathBuf },
    Running(SocketAddr),
}

/// Everything that was played.
#[derive(Default)]
struct PlayedServers {
    servers: Vec<ServerReplay>,
    answers: Vec<Answers>,
    sides: Vec<SideResults>,
    /// The servers that failed, with the reasons.
    failed: Vec<AbsentSide>,
}

/// Plays a capture, and leaves the folder of its results.
///
/// # Errors
/// The capture has no calls, no server could be played on, one failed, or the results cannot be written.
pub(crate) fn run(arguments: &ReplayArguments) -> Result<(), LabError> {
    replay(arguments).map(drop)
}

fn replay(arguments: &ReplayArguments) -> Result<(PathBuf, ReplayOutcome), LabError> {
    let plan = Plan::read(&arguments.capture)?;
    let (targets, absent) = targets(arguments)?;
    warn(arguments, &plan, &targets);
    if targets.is_empty() {
        let reasons: Vec<String> = absent.iter().map(AbsentSide::text).collect();
        return Err(LabError::Step(format!("no server to play on; {}", reasons.join("; "))));
    }
    allow_open_files(plan.open_max as u64 + OTHER_FILES)?;
    interrupt::watch()?;
    let (began, begin) = (record::date_text(base::clock::system_wall_time()()), Instant::now());
    let folder = arguments.out.join(format!("{}-replay", began.replace(':', "").trim_end_matches('Z')));
    let data = arguments.data.clone().unwrap_or_else(|| folder.join("data"));
    fs::create_dir_all(&data).map_err(io_error(data.display().to_string()))?;
    let machine = Machine::look(&data)?.text;
    let mut played = play_all(arguments, &plan, &targets, &data);
    if arguments.data.is_none() {
        // Servers have removed their own folders; one that is not empty says which did not.
        let _ = fs::remove_dir(&data);
    }
    let failed: Vec<String> = played.failed.iter().map(|side| format!("{}: {}", side.label, side.reason)).collect();
    if played.servers.is_empty() {
        return Err(LabError::Step(format!("nothing was played; {}", failed.join("; "))));
    }
    let mut results = Results {
        format: results::FORMAT,
        name: "replay".to_owned(),
        title: "Captured commands, played again".to_owned(),
        source: format!("{} commands that MONITOR captured, played on each server.", plan.counts.played),
        began,
        took_s: begin.elapsed().as_secs_f64().round(),
        command: turn::command_again(std::env::args().skip(1)),
        machine,
        commit: turn::commit(),
        turns: 1,
        is_partial: interrupt::is_requested(),
        sides: std::mem::take(&mut played.sides),
        absent: absent.into_iter().chain(std::mem::take(&mut played.failed)).collect(),
        ..Results::default()
    };
    let replies = played.compared(&plan);
    let outcome = ReplayOutcome::new(plan.counts, arguments.speed, played.servers, replies);
    write(&folder, &outcome, &mut results, arguments.speed)?;
    if failed.is_empty() { Ok((folder, outcome)) } else { Err(LabError::Step(failed.join("; "))) }
}

impl PlayedServers {
    /// Compares the replies of all servers with those of the second one, which is the baseline of the page.
    fn compared(&self, plan: &Plan) -> Vec<ReplyComparison> {
        let labels = self.servers.iter().map(|server| server.label.as_str());
        let mut sides: Vec<(&str, &Answers)> = labels.zip(&self.answers).collect();
        if sides.len() < 2 {
            return Vec::new();
        }
        let baseline = sides.remove(1);
        sides.into_iter().map(|side| differences::compare(plan, side, baseline)).collect()
    }
}

fn write(folder: &Path, outcome: &ReplayOutcome, results: &mut Results, speed: Speed) -> Result<(), LabError> {
    outcome.put_in(results, speed);
    results.write(folder, &[])?;
    let path = folder.join(JSON_NAME);
    let json = serde_json::to_string(outcome).map_err(|error| file_error(&path, error))?;
    fs::write(&path, json).map_err(io_error(path.display().to_string()))?;
    println!("\n{}", outcome.text());
    for absent in &results.absent {
        println!("absent: {}", absent.text());
    }
    println!("{}", folder.join(results::PAGE_NAME).display());
    Ok(())
}

/// Prints what the user must know before anything is played.
fn warn(arguments: &ReplayArguments, plan: &Plan, targets: &[ReplaySide]) {
    for target in targets.iter().filter(|target| matches!(target.start, Start::Running(_))) {
        let label = &target.label;
        if arguments.flush {
            println!("warning: all data of {label} are deleted first");
        } else {
            println!("warning: {label} keeps its data, so that replies may differ; --flush deletes them first");
            if plan.flushes {
                println!("warning: the capture has FLUSHALL or FLUSHDB, which delete data of {label}");
            }
        }
    }
    let shared = plan.connections.iter().filter(|connection| connection.client.starts_with("unix:")).count();
    if shared > 0 {
        println!("warning: MONITOR shows all clients of a Unix socket alike: they are played as one connection");
    }
}

/// Plays on all servers, one after another. Those that fail are left out.
fn play_all(arguments: &ReplayArguments, plan: &Plan, targets: &[ReplaySide], data: &Path) -> PlayedServers {
    let mut all = PlayedServers::default();
    for target in targets {
        if interrupt::is_requested() {
            break;
        }
        println!("{}: {} calls, {}", target.label, plan.calls.len(), arguments.speed.words());
        match play_on(arguments, plan, target, data) {
            Ok((server, answers)) => {
                all.servers.push(server);
                all.answers.push(answers);
                all.sides.push(target.side.clone());
            }
            Err(error) => all.failed.push(AbsentSide::of(target.label.clone(), error)),
        }
    }
    all
}

fn play_on(
    arguments: &ReplayArguments,
    plan: &Plan,
    target: &ReplaySide,
    data: &Path,
) -> Result<(ServerReplay, Answers), LabError> {
    let (server, address) = match &target.start {
        Start::Fresh { side, path } => {
            let server = Server::of_side(path, side, Resources::default(), data)?;
            let address = server.address();
            (Some(server), address)
        }
        Start::Running(address) => (None, *address),
    };
    if server.is_none() && arguments.flush {
        let flushed = Client::connect(address).and_then(|mut client| client.call("FLUSHALL"));
        flushed.map_err(io_error(format!("FLUSHALL on {}", target.label)))?;
    }
    let pid = server.as_ref().and_then(Server::pid);
    let cpu_before_us = pid.map(proc::cpu_us).transpose()?;
    let words = || server.as_ref().map_or(String::new(), |server| format!("; {}", server.last_words()));
    let played = player::play(plan, address, arguments.speed, interrupt::requested())
        .map_err(|error| LabError::Step(format!("{error}{}", words())))?;
    let mut replay = ServerReplay::of(&target.label, plan, &played);
    // An interrupt ends the server.
    if let Some((pid, before_us)) = pid.zip(cpu_before_us).filter(|_| played.is_complete) {
        let cpu_us = proc::cpu_us(pid)?.saturating_sub(before_us);
        replay.cpu_us_per_call = Some(rounded(cpu_us as f64 / replay.all.calls.max(1) as f64, 1000.0));
        replay.rss_bytes = Some(proc::memory_bytes(pid)?.0);
    }
    let Played { answers, .. } = played;
    Ok((replay, answers))
}

/// Returns the servers to play on, and those that are not here.
///
/// # Errors
/// A name is no adapter's, its server does not speak Redis's protocol, or an address is none.
fn targets(arguments: &ReplayArguments) -> Result<(Vec<ReplaySide>, Vec<AbsentSide>), LabError> {
    let programs = Programs { bobbin: arguments.bobbin.clone(), redis: arguments.redis.clone() };
    let usual = || USUAL_SIDES.map(str::to_owned).to_vec();
    let is_usual = arguments.sides.is_empty() && arguments.peers.is_empty();
    let sides = if is_usual { usual() } else { arguments.sides.clone() };
    let (mut targets, mut absent) = (Vec::new(), Vec::new());
    for name in &sides {
        let program = Program::named(name).filter(|program| program.speaks_resp());
        let program = program
            .ok_or_else(|| LabError::Step(format!("the lab starts no server `{name}` that speaks Redis's protocol")))?;
        let label = unused_label(&targets, name);
        match fresh(program, &programs, &label, arguments.durability) {
            Ok(target) => targets.push(target),
            Err(error @ LabError::Missing { .. }) => absent.push(AbsentSide::of(label, error)),
            Err(error) => return Err(error),
        }
    }
    if !targets.is_empty() {
        programs::check_helpers()?;
    }
    for (name, place) in &arguments.peers {
        let (label, address) = (unused_label(&targets, name), resolve(place)?);
        let side = SideResults {
            label: label.clone(),
            program: name.clone(),
            version: format!("at {place}"),
            durability: "as it was started".to_owned(),
            settings: "(already running)".to_owned(),
            is_untried: false,
        };
        targets.push(ReplaySide { label, start: Start::Running(address), side });
    }
    Ok((targets, absent))
}

fn fresh(program: Program, programs: &Programs, label: &str, fsync: Fsync) -> Result<ReplaySide, LabError> {
    let side = Side::plain(label, program, fsync)?;
    let path = programs.path(program)?;
    let results = SideResults::of(&side, &program.version(&path)?);
    Ok(ReplaySide { label: label.to_owned(), start: Start::Fresh { side: Box::new(side), path }, side: results })
}

/// Returns a label that no server has: the name, or `NAME 2` for a second one.
fn unused_label(targets: &[ReplaySide], name: &str) -> String {
    let is_used = |label: &str| targets.iter().any(|target| target.label == label);
    let numbered = (2..).map(|number| format!("{name} {number}"));
    let mut labels = std::iter::once(name.to_owned()).chain(numbered);
    labels.find(|label| !is_used(label)).expect("there is no end of numbers")
}

fn speed(text: &str) -> Result<Speed, String> {
    match text {
        "max" => return Ok(Speed::Max),
        "in-order" => return Ok(Speed::InOrder),
        _ => {}
    }
    let times = text.parse().ok().filter(|times| (TIMES_MIN..=TIMES_MAX).contains(times));
    times
        .map(Speed::Times)
        .ok_or_else(|| format!("`{text}` is neither `max`, `in-order` nor a number from {TIMES_MIN} to {TIMES_MAX}"))
}

impl Speed {
    fn words(self) -> String {
        match self {
            Self::Times(1.0) => "at their own times".to_owned(),
            Self::Times(times) => format!("at {times} times their speed"),
            Self::Max => "as fast as they are answered".to_owned(),
            Self::InOrder => "one after another".to_owned(),
        }
    }
}
