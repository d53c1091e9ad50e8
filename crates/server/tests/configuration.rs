//! The real binary: help, version, `config`, and starts that end with one line and exit code 2.

use std::path::PathBuf;
use std::process::{Command, Output};

fn bobbin(arguments: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bobbin"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("BOBBIN_") {
            command.env_remove(name);
        }
    }
    // Tests run beside each other.
    command.env("BOBBIN_MEMCACHED_PORT", "0").env("BOBBIN_QUEUE_PORT", "0");
    command.args(arguments).envs(environment.iter().copied()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The one line of a refused start.
#[track_caller]
fn refused(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let output = bobbin(arguments, environment);
    let (line, code) = (text(&output.stderr), output.status.code());
    assert_eq!((code, line.lines().count(), output.stdout.len()), (Some(2), 1, 0), "{line}");
    line.trim_end().to_owned()
}

struct TomlFile(PathBuf);

impl TomlFile {
    fn new(name: &str, content: &str) -> Self {
        let path = std::env::temp_dir().join(format!("bobbin-{name}-{}.toml", std::process::id()));
        std::fs::write(&path, content).unwrap();
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for TomlFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn version_and_help_exit_with_code_0() {
    let version = bobbin(&["--version"], &[]);
    assert_eq!(text(&version.stdout), format!("bobbin {}\n", env!("CARGO_PKG_VERSION")));
    assert!(version.status.success());
    for arguments in [["--help"].as_slice(), &["-h"], &["help"], &["serve", "--help"], &["config", "--help"]] {
        let help = bobbin(arguments, &[]);
        assert_eq!(help.status.code(), Some(0), "{arguments:?}");
        let help = text(&help.stdout);
        for setting in engine::settings::SETTINGS {
            assert!(help.contains(&format!("--{} <", setting.name)), "{arguments:?} shows {}", setting.name);
        }
        for heading in ["Network:", "Data:", "Security:", "Limits:", "Logging:"] {
            assert!(help.contains(heading), "{arguments:?} shows {heading}");
        }
    }
    let help = text(&bobbin(&["--help"], &[]).stdout);
    assert!(help.contains("\nExamples:\n  bobbin  "), "{help}");
}

#[test]
fn config_shows_values_with_their_origin_and_hides_secrets() {
    let file =
        TomlFile::new("shown", "# ours\nport = 7001\nmaxclients = 50\nrequirepass = 'opener'\nfsync = 'never'\n");
    let environment = [("BOBBIN_PORT", "7002"), ("BOBBIN_FSYNC", "no"), ("BOBBIN_LOG_LEVEL", "warn")];
    let output = bobbin(&["config", "--config", file.path(), "--fsync", "always", "--bind", "-::1"], &environment);
    let shown = text(&output.stdout);
    assert!(output.status.success());
    assert!(!shown.contains("opener"), "{shown}");
    let command = |name: &str| -> Vec<String> {
        let mut lines = shown.lines().map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        lines.find(|words| words.first().is_some_and(|first| first == name)).unwrap()
    };
    let file_line = |line: &str| vec![file.path().to_owned(), "line".to_owned(), line.to_owned()];
    assert_eq!(command("bind")[1..], ["-::1", "--bind"]);
    assert_eq!(command("port")[1..], ["7002", "BOBBIN_PORT"]);
    assert_eq!(command("fsync")[1..], ["always", "--fsync"]);
    assert_eq!(command("log-level")[1..], ["warn", "BOBBIN_LOG_LEVEL"]);
    assert_eq!(command("databases")[1..], ["16", "default"]);
    assert_eq!(command("client-query-buffer-limit")[1..], ["1gb", "default"]);
    assert_eq!(command("maxclients")[2..], file_line("3"));
    assert_eq!(command("requirepass")[1], "********");
    assert_eq!(command("unixsocket")[1..], ["-", "default"]);
    let named = bobbin(&["--databases", "3", "config"], &[("BOBBIN_CONFIG", file.path())]);
    let named = text(&named.stdout);
    assert!(named.contains("7001") && named.contains("--databases"), "{named}");
}

#[test]
fn configuration_errors_are_one_line_and_exit_code_2() {
    let cases: [(&[&str], &str); 11] = [
        (&["--prot", "1"], "bobbin: unexpected argument '--prot' found; did you mean --port?"),
        (&["--appendfsync", "no"], "bobbin: unexpected argument '--appendfsync' found; did you mean --fsync?"),
        (&["--colour"], "bobbin: unexpected argument '--colour' found; 'bobbin --help' lists what there is"),
        (&["srve"], "bobbin: unrecognized subcommand 'srve'; did you mean serve?"),
        (
            &["--port"],
            "bobbin: a value is required for '--port <NUMBER>' but none was supplied; 'bobbin --help' lists what there is",
        ),
        (&["--port", "x"], "bobbin: --port: must be a whole number from 0 to 65535, not \"x\""),
        (&["--timeout", "-1"], "bobbin: --timeout: must be a whole number of seconds from 0 to 2147483647, not \"-1\""),
        (&["--fsync", "sometimes"], "bobbin: --fsync: must be one of always, everysec, never, not \"sometimes\""),
        (&["config", "--journal", "maybe"], "bobbin: --journal: must be on or off, not \"maybe\""),
        (
            &["--config", "/no/such/file"],
            "bobbin: cannot read the file /no/such/file: No such file or directory (os error 2)",
        ),
        (
            &["--bind", "0.0.0.0"],
            "bobbin: other machines can reach 0.0.0.0 and there is no password; set one by BOBBIN_REQUIREPASS, or listen on this machine alone with --bind 127.0.0.1",
        ),
    ];
    for (arguments, line) in cases {
        assert_eq!(refused(arguments, &[]), line);
    }
    let line = refused(&[], &[("BOBBIN_PORT", "tcp://10.0.0.1:6379")]);
    assert_eq!(line, "bobbin: BOBBIN_PORT: must be a whole number from 0 to 65535, not \"tcp://10.0.0.1:6379\"");
    let file = TomlFile::new("unknown", "port = 1\n\nfsnyc = 'always'\n");
    let line = refused(&["--config", file.path()], &[]);
    assert_eq!(line, format!("bobbin: {} line 3: fsnyc: no such setting; did you mean fsync?", file.path()));
}

#[test]
fn a_taken_port_or_an_unusable_folder_fails_the_start() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let port = address.port().to_string();
    let line = refused(&["--bind", "127.0.0.1", "--port", &port, "--journal", "off"], &[]);
    assert_eq!(
        line,
        format!("bobbin: {address} is taken by another program; stop it, or choose another port with --port")
    );
    let socket = std::env::temp_dir().join(format!("bobbin-folder-{}", std::process::id()));
    let socket = socket.to_str().unwrap();
    let line = refused(&["--port", "0", "--unixsocket", socket, "--dir", "/dev/null/data"], &[]);
    assert!(!std::path::Path::new(socket).exists(), "a refused start leaves no socket behind");
    assert!(line.starts_with("bobbin: cannot write to the data folder /dev/null/data: "), "{line}");
}

#[test]
fn the_warning_about_a_misspelt_variable_uses_the_log_format() {
    let environment = [("BOBBIN_FSNYC", "always"), ("BOBBIN_LOG_FORMAT", "json")];
    let output = bobbin(&["--bind", "0.0.0.0"], &environment);
    let lines = text(&output.stderr);
    let first = lines.lines().next().unwrap();
    assert!(first.starts_with('{') && first.contains("\"level\":\"WARN\""), "{first}");
    assert!(first.contains("BOBBIN_FSNYC is not a setting and is ignored; did you mean BOBBIN_FSYNC?"), "{first}");
    let text_format = bobbin(&["--bind", "0.0.0.0", "--log-level", "error"], &environment[..1]);
    assert_eq!(text(&text_format.stderr).lines().count(), 1, "the warning is below the level");
}
