//! Gathering, CONFIG GET and CONFIG SET. Expected texts are Redis's if Redis has the name.

use super::*;
use std::ffi::OsString;
use std::fs;

fn defaults() -> Arc<Settings> {
    Arc::new(Draft::new().finish())
}

fn gathered(file: &str, environment: &[(&str, &str)], flags: &[(&str, &str)]) -> Result<Settings, Mistake> {
    let mut draft = Draft::new();
    draft.put_file(Path::new("bobbin.toml"), file)?;
    draft.put_environment(|name| {
        environment.iter().find(|(variable, _)| *variable == name).map(|(_, text)| OsString::from(text))
    })?;
    for (name, text) in flags {
        draft.put_flag(find(name).unwrap(), text)?;
    }
    Ok(draft.finish())
}

fn shown(settings: &Settings, name: &str) -> (String, Origin) {
    let row = settings.shown().into_iter().find(|row| row.setting.name == name).unwrap();
    (row.value, row.origin)
}

fn get(settings: &Settings, patterns: &str) -> Vec<(String, String)> {
    settings.get(&patterns.split(' ').map(str::as_bytes).collect::<Vec<_>>())
}

fn value(settings: &Settings, name: &str) -> String {
    get(settings, name).pop().unwrap().1
}

fn set(settings: &Settings, pairs: &[(&str, &str)]) -> Result<(), String> {
    settings.set(&pairs.iter().map(|(name, text)| (name.as_bytes(), text.as_bytes())).collect::<Vec<_>>())
}

#[test]
fn the_stronger_origin_wins() {
    let file = "port = 1\nmaxclients = 1\n";
    let environment = [("BOBBIN_PORT", "2"), ("BOBBIN_DATABASES", "2"), ("BOBBIN_TIMEOUT", "")];
    let cases = [
        (gathered("", &[], &[]), "6379", Origin::Default),
        (gathered(file, &[], &[]), "1", Origin::File { line: 1 }),
        (gathered(file, &environment, &[]), "2", Origin::Environment),
        (gathered(file, &environment, &[("port", "3")]), "3", Origin::Flag),
        (gathered(file, &[], &[("port", "3")]), "3", Origin::Flag),
        (gathered("", &environment, &[]), "2", Origin::Environment),
    ];
    for (settings, port, origin) in cases {
        let settings = settings.unwrap();
        assert_eq!(shown(&settings, "port"), (port.to_owned(), origin));
        assert_eq!(settings.current().port.to_string(), port);
        assert_eq!(shown(&settings, "timeout").1, Origin::Default, "an empty variable is none");
    }
}

#[test]
fn limits_from_several_origins_are_merged() {
    let file = "client-output-buffer-limit = \"pubsub 1mb 0 0\"";
    let settings = gathered(file, &[], &[("client-output-buffer-limit", "replica 2mb 0 0")]).unwrap();
    let shown = shown(&settings, "client-output-buffer-limit").0;
    assert_eq!(shown, "normal 1gb 0 0 replica 2mb 0 0 pubsub 1mb 0 0");
}

#[test]
fn every_mistake_is_one_line_that_says_where_and_what() {
    let file = |content| gathered(content, &[], &[]);
    let environment = |name, text| gathered("", &[(name, text)], &[]);
    let flag = |name, text| gathered("", &[], &[(name, text)]);
    let cases = [
        (flag("port", "abc"), r#"--port: must be a whole number from 0 to 65535, not "abc""#),
        (flag("port", "65536"), r#"--port: must be a whole number from 0 to 65535, not "65536""#),
        (flag("timeout", "1m"), r#"--timeout: must be a whole number of seconds from 0 to 2147483647, not "1m""#),
        (flag("journal", "maybe"), r#"--journal: must be on or off, not "maybe""#),
        (flag("fsync", "often\n"), r#"--fsync: must be one of always, everysec, never, not "often\n""#),
        (flag("dir", ""), "--dir: must not be empty"),
        (flag("bind", " , "), "--bind: must not be empty"),
        (flag("unixsocketperm", "888"), r#"--unixsocketperm: must be octal permissions such as 770, not "888""#),
        (
            flag("proto-max-bulk-len", "1gb"),
            r#"--proto-max-bulk-len: must be bytes such as 64mb or 1gb, from 1mb to 512mb, not "1gb""#,
        ),
        (
            flag("client-output-buffer-limit", "normal 1"),
            "--client-output-buffer-limit: must come in fours such as 'normal 1gb 256mb 60': \
             class hard soft seconds, not \"normal 1\"",
        ),
        (environment("BOBBIN_PORT", "x"), r#"BOBBIN_PORT: must be a whole number from 0 to 65535, not "x""#),
        (
            file("port = 1\nfsync = 'x'"),
            r#"bobbin.toml line 2: fsync: must be one of always, everysec, never, not "x""#,
        ),
        (file("\nprot = 1"), "bobbin.toml line 2: prot: no such setting; did you mean port?"),
        (file("appendfsync = 1"), "bobbin.toml line 1: appendfsync: no such setting; did you mean fsync?"),
        (file("colour = 1"), "bobbin.toml line 1: colour: no such setting; 'bobbin config' lists them all"),
        (file("port = 1.5"), "bobbin.toml line 1: port: must be one text, number or on/off"),
        (file("[port]\nx = 1"), "bobbin.toml line 1: port: must be one text, number or on/off"),
    ];
    for (settings, expected) in cases {
        let mistake = settings.err().map(|mistake| mistake.to_string());
        assert_eq!(mistake.as_deref(), Some(expected));
    }
    let mistake = file("port = 1\nport = 2").err().unwrap().to_string();
    assert!(mistake.starts_with("bobbin.toml line 2: ") && mistake.lines().count() == 1, "{mistake}");
}

#[test]
fn config_get_answers_as_redis_does() {
    let settings = defaults();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(get(&settings, "appendfsync"), [pair("appendfsync", "everysec")]);
    assert_eq!(get(&settings, "TIMEOUT"), [pair("TIMEOUT", "0")]);
    assert_eq!(get(&settings, "[T]imeout"), [pair("timeout", "0")]);
    assert_eq!(get(&settings, "timeout time* TIME*"), [pair("timeout", "0")]);
    assert_eq!(get(&settings, "no-such-name"), []);
    assert_eq!(
        get(&settings, "list-max-*"),
        [pair("list-max-listpack-size", "-2"), pair("list-max-ziplist-size", "-2")]
    );
    assert_eq!(get(&settings, "save"), [pair("save", "")]);
    assert_eq!(value(&settings, "proto-max-bulk-len"), "536870912");
    assert_eq!(value(&settings, "loglevel"), "notice");
    assert_eq!(value(&settings, "log-level"), "info");
    assert_eq!(value(&settings, "appendonly"), "yes");
    assert_eq!(value(&settings, "maxmemory-policy"), "noeviction");
    let limits = "normal 1073741824 0 0 slave 268435456 67108864 60 pubsub 33554432 8388608 60";
    assert_eq!(value(&settings, "client-output-buffer-limit"), limits);
    let all = get(&settings, "*");
    let names = SETTINGS.iter().flat_map(Setting::config_names).count() + FACTS.len();
    assert_eq!(all.len(), names);
}

#[test]
fn config_set_takes_both_spellings() {
    let settings = defaults();
    for (name, given, redis, own) in [
        ("appendfsync", "no", "no", "never"),
        ("fsync", "NEVER", "no", "never"),
        ("appendfsync", "Always", "always", "always"),
    ] {
        assert_eq!(set(&settings, &[(name, given)]), Ok(()));
        assert_eq!([value(&settings, "appendfsync"), value(&settings, "fsync")], [redis, own]);
    }
    for (given, own) in [("debug", "trace"), ("verbose", "debug"), ("notice", "info"), ("warning", "warn")] {
        assert_eq!(set(&settings, &[("loglevel", given)]), Ok(()));
        assert_eq!([value(&settings, "loglevel"), value(&settings, "log-level")], [given, own]);
    }
    assert_eq!(set(&settings, &[("log-level", "debug")]), Ok(()));
    assert_eq!(value(&settings, "loglevel"), "verbose");
}

#[test]
fn config_set_errors_match_redis() {
    let settings = defaults();
    let failed =
        |name: &str, why: &str| format!("ERR CONFIG SET failed (possibly related to argument '{name}') - {why}");
    let unknown = "ERR Unknown option or number of arguments for CONFIG SET - 'foo'".to_owned();
    for name in ["foo", "foo\0bar"] {
        assert_eq!(set(&settings, &[("timeout", "9"), (name, "bar")]), Err(unknown.clone()), "a NUL ends the name");
    }
    let cases = [
        ("databases", "4", "can't set immutable config"),
        ("timeout", "abc", "argument couldn't be parsed into an integer"),
        ("timeout", "-1", "argument must be between 0 and 2147483647 inclusive"),
        ("maxclients", "0", "argument must be between 1 and 4294967295 inclusive"),
        ("appendfsync", "foo", "argument(s) must be one of the following: always, everysec, no"),
        ("fsync", "foo", "argument(s) must be one of the following: always, everysec, no"),
        ("proto-max-bulk-len", "1x", "argument must be a memory value"),
        ("proto-max-bulk-len", "1", "argument must be between 1048576 and 536870912 inclusive"),
        ("client-output-buffer-limit", "normal", "Wrong number of arguments in buffer limit configuration."),
        ("client-output-buffer-limit", "foo 0 0 0", "Invalid client class specified in buffer limit configuration."),
        (
            "client-output-buffer-limit",
            "normal x 0 0",
            "Error in hard, soft or soft_seconds setting in buffer limit configuration.",
        ),
        ("slowlog-log-slower-than", "-5", "argument must be between -1 and 9223372036854775807 inclusive"),
        ("tcp-keepalive", "99999999999999999999", "argument couldn't be parsed into an integer"),
        ("maxmemory", "1mb", "Nothing is evicted; the only value is 0, see memory-hard-limit."),
        ("appendonly", "no", "The journal is turned on or off at start: bobbin --journal on|off."),
        ("appendonly", "maybe", "argument must be 'yes' or 'no'"),
        (
            "save",
            "60 1",
            "Checkpoints are made when the journal has grown, not by a schedule; the only value is the empty one.",
        ),
    ];
    for (name, given, why) in cases {
        let first = if name == "timeout" { ("slowlog-max-len", "9") } else { ("timeout", "9") };
        assert_eq!(set(&settings, &[first, (name, given)]), Err(failed(name, why)));
        assert_eq!(settings.current(), defaults().current(), "all or nothing");
    }
    assert_eq!(set(&settings, &[("timeout", "1"), ("timeout", "2")]), Err(failed("timeout", "duplicate parameter")));
    let twice = [("fsync", "always"), ("appendfsync", "no")];
    assert_eq!(set(&settings, &twice), Err(failed("appendfsync", "duplicate parameter")));
    let bytes: &[(&[u8], &[u8])] = &[(b"requirepass", b"\xff")];
    assert_eq!(settings.set(bytes), Err(failed("requirepass", "argument must be UTF-8 text")));
}

#[test]
fn a_fact_may_be_set_to_its_own_value() {
    let settings = defaults();
    let facts = [("save", ""), ("maxmemory", "0"), ("appendonly", "YES"), ("maxmemory-policy", "noeviction")];
    assert_eq!(set(&settings, &facts), Ok(()));
    let off = gathered("journal = false", &[], &[]).unwrap();
    assert_eq!(value(&off, "appendonly"), "no");
}

#[test]
fn a_reader_sees_each_change() {
    let settings = defaults();
    let mut reader = settings.reader();
    assert_eq!(reader.current().timeout_s, 0);
    assert_eq!(set(&settings, &[("TIMEOUT", "5"), ("requirepass", "opener")]), Ok(()));
    assert_eq!(reader.current().timeout_s, 5);
    assert!(reader.current().requirepass.as_ref().unwrap().matches(b"opener"));
    assert_eq!(shown(&settings, "timeout"), ("5".to_owned(), Origin::ConfigSet));
    assert_eq!(shown(&settings, "requirepass").0, "********");
    settings.fit_maxclients(7);
    assert_eq!(reader.current().maxclients, 7);
    assert_eq!(shown(&settings, "maxclients"), ("7".to_owned(), Origin::System));
}

#[test]
fn a_refused_change_is_rolled_back_in_earlier_followers() {
    let settings = defaults();
    let applied = Arc::new(AtomicU64::new(0));
    let seen = applied.clone();
    settings.on_change(Box::new(move |_, after| {
        seen.store(after.maxclients as u64, Ordering::Relaxed);
        Ok(())
    }));
    settings.on_change(Box::new(|_, after| match after.maxclients {
        0..=100 => Ok(()),
        _ => Err(("maxclients", "too many".to_owned())),
    }));
    let refused = "ERR CONFIG SET failed (possibly related to argument 'maxclients') - too many".to_owned();
    assert_eq!(set(&settings, &[("maxclients", "101")]), Err(refused));
    assert_eq!(applied.load(Ordering::Relaxed), 10_000);
    assert_eq!(settings.current().maxclients, 10_000);
    assert_eq!(set(&settings, &[("maxclients", "100")]), Ok(()));
    assert_eq!(applied.load(Ordering::Relaxed), 100);
}

#[test]
fn config_rewrite_writes_what_config_set_changed() {
    let without = defaults();
    assert_eq!(without.rewrite(), Err("ERR The server is running without a config file".to_owned()));

    let folder = std::env::temp_dir().join(format!("bobbin-rewrite-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join("bobbin.toml");
    let content = "# ours\ntimeout = 3 # seconds\n";
    fs::write(&path, content).unwrap();
    let mut draft = Draft::new();
    draft.put_file(&path, content).unwrap();
    draft.put_flag(find("port").unwrap(), "7000").unwrap();
    let settings = draft.finish();
    assert_eq!(settings.rewrite(), Ok(()));
    assert_eq!(fs::read_to_string(&path).unwrap(), content, "nothing changed: flags stay flags");
    assert_eq!(set(&settings, &[("timeout", "4"), ("appendfsync", "no"), ("proto-max-bulk-len", "1mb")]), Ok(()));
    assert_eq!(settings.rewrite(), Ok(()));
    let expected = "# ours\ntimeout = 4 # seconds\nfsync = \"never\"\nproto-max-bulk-len = \"1mb\"\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    fs::remove_dir_all(&folder).unwrap();
}
