//! Popular clients against the real binary.
//!
//! ```text
//! clients/redis_py.py ...   --> Bobbin
//!                            `-> redis-server: a script must also pass there
//! SCREENS                   --> both: redis-cli must show the same for both
//! clients/kombu_*, celery_queues.py --> Bobbin: `clients/python` on its queues
//! clients/search_*     --> Bobbin: FT.*, which redis-server does not have
//! README.md, some of docs/   --> Bobbin: their console examples give the output shown
//! BENCHMARKS                --> Bobbin: redis-benchmark runs without an error
//! ```

mod console;
mod screens;

use crate::support::peer::{Peer, Redis};
use crate::support::{Connection, FREE_PORT, Server};
use console::Shell;
use std::fs;
use std::io::{BufRead, BufReader, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testing::{program_or_skip, skip};
use wire::client::Value;

/// The repository's root, where `scripts/setup-tests` puts clients.
const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients");

/// Runs a script with the arguments described in `redis_py.py`, then `more`, and restarts the server when it asks.
#[track_caller]
fn drive<P: Peer>(program: &Path, first: &[&str], more: &[&str]) {
    drive_with::<P>(&[], program, first, more);
}

/// As [`drive`], with flags for the server.
#[track_caller]
fn drive_with<P: Peer>(flags: &[&str], program: &Path, first: &[&str], more: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let mut open = P::start(&[&["--unixsocket", socket.to_str().unwrap()], flags].concat());
    let locked = P::start(&["--requirepass", "secret"]);

    let mut errors = tempfile::tempfile().unwrap();
    let mut command = Command::new("timeout");
    command.args(["--kill-after=5", "240"]).arg(program).args(first);
    command.arg(open.port().to_string()).arg(&socket).arg(locked.port().to_string()).args(more);
    command.env("NODE_PATH", node_path()).env("PYTHONPATH", Path::new(ROOT).join("clients/python"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors.try_clone().unwrap());
    let mut child = command.spawn().unwrap();
    let mut answers = child.stdin.take().unwrap();
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap) {
        println!("{line}");
        match line.as_str() {
            "restart please" => open.stop_and_start(),
            "kill please" => open.kill_and_start(),
            _ => continue,
        }
        // If the script has ended meanwhile, its exit code shows it.
        let _ = answers.write_all(b"done\n");
    }
    let status = child.wait().unwrap();
    let mut text = String::new();
    errors.rewind().unwrap();
    errors.read_to_string(&mut text).unwrap();
    assert!(status.success(), "{command:?}: {status}\n{text}");
}

fn node_path() -> PathBuf {
    std::env::var_os("NODE_PATH").map_or_else(|| Path::new(ROOT).join("scripts/clients/node_modules"), PathBuf::from)
}

/// The Python that has the packages of `scripts/clients/requirements.txt`, those `modules` at least, or a noted skip.
fn python_or_skip(test: &str, modules: &str) -> Option<PathBuf> {
    let named = std::env::var_os("BOBBIN_PYTHON").map(PathBuf::from);
    let python = named.unwrap_or_else(|| Path::new(ROOT).join(".venv/bin/python"));
    let has = Command::new(&python).args(["-c", &format!("import {modules}")]).stderr(Stdio::null()).status();
    if has.is_ok_and(|status| status.success()) {
        return Some(python);
    }
    skip(test, &format!("{} has not all of {modules} (scripts/setup-tests installs them)", python.display()));
    None
}

fn script(name: &str) -> String {
    format!("{SCRIPTS}/{name}")
}

/// Runs a script of redis-py with each of its parsers.
fn with_python<P: Peer>(test: &str, file: &str) {
    let Some(python) = python_or_skip(test, "redis, hiredis") else { return };
    drive::<P>(&python, &[&script(file)], &["python"]);
    drive::<P>(&python, &[&script(file)], &["hiredis"]);
}

fn redis_py<P: Peer>(test: &str) {
    with_python::<P>(test, "redis_py.py");
}

fn redis_asyncio<P: Peer>(test: &str) {
    with_python::<P>(test, "redis_asyncio.py");
}

fn with_node<P: Peer>(test: &str, package: &str, file: &str) {
    let Some(node) = program_or_skip(test, "node") else { return };
    if !node_path().join(package).is_dir() {
        return skip(test, &format!("{package} is not installed (scripts/setup-tests installs it)"));
    }
    drive::<P>(&node, &[&script(file)], &[]);
}

fn ioredis<P: Peer>(test: &str) {
    with_node::<P>(test, "ioredis", "ioredis.js");
}

fn node_redis<P: Peer>(test: &str) {
    with_node::<P>(test, "redis", "node_redis.js");
}

fn hiredis<P: Peer>(test: &str) {
    let (Some(cc), Some(pkg_config)) = (program_or_skip(test, "cc"), program_or_skip(test, "pkg-config")) else {
        return;
    };
    let flags = Command::new(pkg_config).args(["--cflags", "--libs", "hiredis"]).output().unwrap();
    if !flags.status.success() {
        return skip(test, "libhiredis-dev is not installed (scripts/setup-tests installs it)");
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("hiredis");
    let mut compile = Command::new(cc);
    compile.args(["-std=gnu11", "-O1", "-Wall", "-Wextra", &script("hiredis.c"), "-o"]).arg(&program);
    compile.args(String::from_utf8(flags.stdout).unwrap().split_whitespace());
    assert!(compile.status().unwrap().success(), "{compile:?}");
    drive::<P>(&program, &[], &[]);
}

fn go_redis<P: Peer>(test: &str) {
    let Some(go) = program_or_skip(test, "go") else { return };
    let module = Path::new(ROOT).join("scripts/clients");
    let within = |arguments: &[&str]| {
        let mut command = Command::new(&go);
        command.args(arguments).current_dir(&module).env("CGO_ENABLED", "0").env("GOPROXY", "off").stdin(Stdio::null());
        command
    };
    let known = within(&["list", "github.com/redis/go-redis/v9"]).output().unwrap();
    if !known.status.success() {
        return skip(test, "go-redis is not installed (scripts/setup-tests installs it)");
    }
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("go_redis");
    let mut build = within(&["build", "-o", program.to_str().unwrap(), &script("go_redis.go")]);
    assert!(build.status().unwrap().success(), "{build:?}");
    drive::<P>(&program, &[], &[]);
}

fn jedis<P: Peer>(test: &str) {
    with_jedis::<P>(test, "Jedis.java");
}

fn with_jedis<P: Peer>(test: &str, file: &str) {
    let (Some(java), Some(_)) = (program_or_skip(test, "java"), program_or_skip(test, "javac")) else { return };
    let jars = Path::new(ROOT).join("scripts/clients/jars");
    if !jars.join("installed").exists() {
        return skip(test, "Jedis is not installed (scripts/setup-tests installs it)");
    }
    let jars = format!("{}/*", jars.display());
    // The script is short: better compilation would cost more than it saves.
    drive::<P>(&java, &["-XX:TieredStopAtLevel=1", "-cp", &jars, &script(file)], &[]);
}

fn phpredis<P: Peer>(test: &str) {
    let Some(php) = program_or_skip(test, "php") else { return };
    let has = r#"exit(extension_loaded("redis") && extension_loaded("pcntl") ? 0 : 1);"#;
    if !Command::new(&php).args(["-r", has]).status().unwrap().success() {
        return skip(test, "php has no phpredis (scripts/setup-tests installs it)");
    }
    drive::<P>(&php, &[&script("phpredis.php")], &[]);
}

fn sidekiq<P: Peer>(test: &str) {
    let Some(ruby) = program_or_skip(test, "ruby") else { return };
    if !Command::new(&ruby).args(["-e", "require 'sidekiq'"]).stderr(Stdio::null()).status().unwrap().success() {
        return skip(test, "ruby has no sidekiq (scripts/setup-tests installs it)");
    }
    drive::<P>(&ruby, &[&script("sidekiq.rb")], &[]);
}

fn rq<P: Peer>(test: &str) {
    let Some(python) = python_or_skip(test, "rq, hiredis") else { return };
    drive::<P>(&python, &[&script("rq_jobs.py")], &[]);
}

fn celery<P: Peer>(test: &str) {
    let Some(python) = python_or_skip(test, "celery, packaging, hiredis") else { return };
    drive::<P>(&python, &[&script("celery_tasks.py")], &[]);
}

fn django_redis<P: Peer>(test: &str) {
    let Some(python) = python_or_skip(test, "django_redis, hiredis") else { return };
    drive::<P>(&python, &[&script("django_cache.py")], &[]);
}

fn bullmq<P: Peer>(test: &str) {
    with_node::<P>(test, "bullmq", "bullmq.js");
}

/// A client's test on Bobbin, and the same test on redis-server.
macro_rules! trials {
    ($($client:ident)*) => {$(
        mod $client {
            #[test]
            fn works_with_bobbin() {
                super::$client::<super::Server>(concat!(stringify!($client), "::works_with_bobbin"));
            }

            #[test]
            fn works_with_redis_server() {
                let test = concat!(stringify!($client), "::works_with_redis_server");
                let programs = ["redis-server", "redis-cli"].map(|name| super::program_or_skip(test, name));
                if programs.iter().all(Option::is_some) {
                    super::$client::<super::Redis>(test);
                }
            }
        }
    )*};
}

trials! { redis_py redis_asyncio ioredis node_redis hiredis go_redis jedis phpredis sidekiq rq celery django_redis bullmq }

/// Kombu and Celery on queues rather than lists: `clients/python`, which needs verbs that only Bobbin has.
mod kombu {
    use super::{Server, drive_with, python_or_skip, script};

    #[test]
    fn channels_work_on_queues() {
        let Some(python) = python_or_skip("kombu::channels_work_on_queues", "kombu, redis, hiredis") else { return };
        drive_with::<Server>(&["--fsync", "always"], &python, &[&script("kombu_channels.py")], &[]);
    }

    #[test]
    fn celery_works_on_queues() {
        let Some(python) = python_or_skip("kombu::celery_works_on_queues", "celery, packaging, hiredis") else {
            return;
        };
        drive_with::<Server>(&["--fsync", "always"], &python, &[&script("celery_queues.py")], &[]);
    }
}

/// The clients' search APIs.
mod search {
    use super::{Server, with_jedis, with_node, with_python};

    #[test]
    fn redis_py_searches() {
        with_python::<Server>("search::redis_py_searches", "search_redis_py.py");
    }

    #[test]
    fn node_redis_searches() {
        with_node::<Server>("search::node_redis_searches", "redis", "search_node_redis.js");
    }

    #[test]
    fn jedis_searches() {
        with_jedis::<Server>("search::jedis_searches", "SearchJedis.java");
    }
}

#[test]
fn redis_cli_output_is_the_same_as_with_redis_server() {
    let test = "redis_cli_output_is_the_same_as_with_redis_server";
    let Some(redis_cli) = program_or_skip(test, "redis-cli") else { return };
    let Some(_) = program_or_skip(test, "redis-server") else { return };
    let (bobbin, redis) = (Server::start(&[]), <Redis as Peer>::start(&[]));
    let shells = [Shell::new(&redis_cli, bobbin.port), Shell::new(&redis_cli, redis.port())];
    for line in screens::OF_BOTH {
        let [ours, theirs] = shells.each_ref().map(|shell| shell.run(line, ""));
        assert_eq!(ours, theirs, "{line}: Bobbin's on the left");
    }
}

#[test]
fn redis_cli_shows_bobbins_own_commands_as_expected() {
    let test = "redis_cli_shows_bobbins_own_commands_as_expected";
    let Some(redis_cli) = program_or_skip(test, "redis-cli") else { return };
    let server = Server::start(&[]);
    let shell = Shell::new(&redis_cli, server.port);
    for (line, expected) in screens::OF_BOBBIN {
        let shown = shell.run(line, "");
        assert_eq!(&shown.trim_end(), expected, "{line}");
    }
}

/// Pages with console lines, and their minimum numbers.
const PAGES: &[(&str, usize)] = &[("README.md", 8), ("docs/operating.md", 2), ("docs/memcached.md", 2)];

#[test]
fn console_examples_in_documents_give_the_output_shown() {
    let test = "console_examples_in_documents_give_the_output_shown";
    let Some(redis_cli) = program_or_skip(test, "redis-cli") else { return };
    let Some(_curl) = program_or_skip(test, "curl") else { return };
    for (page, lines_min) in PAGES {
        check_page(&redis_cli, page, *lines_min);
    }
}

/// Runs the lines of a page, and checks their output.
fn check_page(redis_cli: &Path, page: &str, lines_min: usize) {
    let server = Server::start(&["--memcached-port", FREE_PORT, "--queue-port", FREE_PORT]);
    let shell = Shell::new(redis_cli, server.port);
    let steps = console::steps(&fs::read_to_string(Path::new(ROOT).join(page)).unwrap());
    assert!(steps.len() >= lines_min, "{page}: its lines are found: {steps:?}");
    let own = |port: &str, flag: &str| (format!("127.0.0.1:{port}"), format!("127.0.0.1:{}", server.flag(flag)));
    let ports = [own("11211", "--memcached-port"), own("22201", "--queue-port")];
    for step in steps {
        let output =
            shell.run(&ports.iter().fold(step.line.clone(), |line, (port, own)| line.replace(port, own)), &step.input);
        println!("$ {}\n{output}", step.line);
        assert!(output.ends_with("-> 0\n"), "{}: {output}", step.line);
        assert!(!output.contains("(error)"), "{}: {output}", step.line);
        if step.shown.is_empty() {
            continue;
        }
        let lines: Vec<&str> = output.lines().filter(|line| !line.starts_with("-> ")).collect();
        let same = lines.len() == step.shown.len()
            && lines.iter().zip(&step.shown).all(|(line, shown)| console::is_as_shown(line, shown));
        assert!(same, "$ {}\n{page} shows {:#?}\nand redis-cli {lines:#?}", step.line, step.shown);
    }
}

#[test]
fn redis_benchmark_runs_without_an_error() {
    let test = "redis_benchmark_runs_without_an_error";
    let Some(redis_benchmark) = program_or_skip(test, "redis-benchmark") else { return };
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("socket");
    let server = Server::start(&["--unixsocket", socket.to_str().unwrap()]);
    let port = server.port.to_string();
    for (line, results) in screens::BENCHMARKS {
        let line = line.replace("$PORT", &port).replace("$SOCKET", socket.to_str().unwrap());
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "300"]).arg(&redis_benchmark).args(line.split_whitespace());
        let output = command.stdin(Stdio::null()).output().unwrap();
        let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).replace('\r', "\n"));
        let text = text.concat();
        assert!(output.status.success(), "{line}: {}\n{text}", output.status);
        let complaint = ["error", "could not"].iter().any(|word| text.to_lowercase().contains(word));
        assert!(!complaint, "{line}\n{text}");
        let found = text.lines().filter(|line| line.contains(" requests per second")).count();
        assert_eq!(found, *results, "results of {line}\n{text}");
    }
}

/// Returns the reply to each of `lines`, over one connection; a time as `TIME`.
fn answers(port: u16, lines: &[&str]) -> Vec<String> {
    let mut client = Connection::tcp(port);
    let text_of = |value: &Value| match value {
        Value::Int(seconds) if *seconds > 1_000_000_000 => "TIME".to_owned(),
        other => other.to_string(),
    };
    let answer = |line: &&str| {
        let reply = client.call(&line.split(' ').collect::<Vec<_>>());
        match &reply {
            Value::Array(replies) => replies.iter().map(text_of).collect::<Vec<_>>().join(", "),
            other => text_of(other),
        }
    };
    lines.iter().map(answer).collect()
}

#[test]
fn save_commands_reply_as_in_redis() {
    let Some(_) = program_or_skip("save_commands_reply_as_in_redis", "redis-server") else { return };
    let (bobbin, redis) = (Server::start(&[]), <Redis as Peer>::start(&[]));
    let wrong = ["SAVE x", "LASTSAVE x", "BGREWRITEAOF x", "BGSAVE x", "BGSAVE SCHEDULE x", "LASTSAVE", "SAVE"];
    let refused = ["MULTI", "SAVE", "EXEC"];
    // Only one BGSAVE: here the save may have begun by the next, and then it is in progress.
    let queued = ["MULTI", "BGSAVE", "BGREWRITEAOF", "LASTSAVE", "EXEC"];
    let lines = [&wrong[..], &refused, &queued].concat();
    assert_eq!(answers(bobbin.port, &lines), answers(redis.port(), &lines), "Bobbin's on the left");
}
