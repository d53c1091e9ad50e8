//! The commands that scripts may call, compared with redis-server; and the missing debugger of scripts.

use crate::support;
use crate::support::peer::{Peer, Redis};
use crate::support::{Connection, Server};
use commands::registry;
use std::fs;
use std::net::TcpStream;
use std::process::{Command, Stdio};
use testing::program_or_skip;
use wire::client::Value;

type Client = Connection<TcpStream>;

/// Commands that a script may not call, as COMMAND names them.
const REFUSED: &str = "\
    acl|cat acl|deluser acl|dryrun acl|genpass acl|getuser acl|list acl|load acl|log acl|save acl|setuser acl|users acl|whoami \
    auth bgrewriteaof bgsave client|caching client|durable client|getname client|getredir client|id client|info client|kill \
    client|list client|maint_notifications client|no-evict client|no-touch client|pause client|reply client|setinfo \
    client|setname client|tracking client|trackinginfo client|unblock client|unpause cluster|reset config|get config|resetstat \
    config|rewrite config|set debug|digest debug|digest-value debug|error debug|help debug|object debug|reload \
    debug|set-active-expire debug|sleep discard eval evalsha evalsha_ro eval_ro exec failover fcall fcall_ro function|delete \
    function|dump function|flush function|kill function|list function|load function|restore function|stats hello \
    latency|doctor latency|graph latency|histogram latency|history latency|latest latency|reset mc.flush_all mc.stats mc.watch \
    module|list module|load module|loadex module|unload monitor mq.flush_all mq.queues mq.stats multi psubscribe psync punsubscribe \
    quit replconf replicaof reset role save script|debug script|exists script|flush script|kill script|load shutdown slaveof ssubscribe \
    subscribe sunsubscribe sync tl.drop unsubscribe unwatch watch";

/// Commands that redis-server 7.0 refuses in a script, and newer ones do not: what they may wait for, they do not wait
/// for in a script (redis/redis#11568, in 7.2).
const SINCE_7_2: &[&str] = &["blmove", "blpop", "brpop", "brpoplpush", "bzpopmax", "bzpopmin", "wait"];

const NOT_ALLOWED: &str = "ERR This Redis command is not allowed from script";
const UNKNOWN: &str = "ERR Unknown Redis command called from script";

/// Returns true if a script may not call a command; `None` if there is no such command. The number of arguments is
/// right, their values are not.
fn is_refused(client: &mut Client, command: &commands::CommandSpec) -> Option<bool> {
    let count = command.arity.number().unsigned_abs() as usize;
    let words: Vec<&str> = command.name.split(' ').collect();
    let fill = std::iter::repeat_n("x", count.saturating_sub(words.len()));
    let script = "local reply = redis.pcall(unpack(ARGV)) return type(reply) == 'table' and reply.err or ''";
    let request: Vec<&str> = ["EVAL", script, "0"].into_iter().chain(words).chain(fill).collect();
    let reply = client.call(&request);
    let text = reply.as_bytes().map(String::from_utf8_lossy).unwrap_or_else(|| panic!("{}: {reply}", command.name));
    (!text.starts_with(UNKNOWN)).then(|| text.starts_with(NOT_ALLOWED))
}

/// As COMMAND names it.
fn name(command: &commands::CommandSpec) -> String {
    command.name.replace(' ', "|").to_ascii_lowercase()
}

#[test]
fn scripts_may_call_all_but_the_listed_commands() {
    let server = Server::start(&["--journal", "off", "--enable-debug-command", "yes"]);
    let mut client = server.connect();
    let mut refused: Vec<String> =
        registry::commands().filter(|command| is_refused(&mut client, command) == Some(true)).map(name).collect();
    refused.sort_unstable();
    let mut expected: Vec<&str> = REFUSED.split_whitespace().collect();
    expected.sort_unstable();
    assert_eq!(refused, expected, "ours on the left");
}

#[test]
fn scripts_may_call_the_same_commands_as_in_redis() {
    if program_or_skip("scripts_may_call_the_same_commands_as_in_redis", "redis-server").is_none() {
        return;
    }
    let redis = Redis::start(&[]);
    let mut theirs = Client::tcp(redis.port());
    let mut differ = Vec::new();
    for command in registry::commands() {
        let name = name(command);
        let Some(is_refused) = is_refused(&mut theirs, command) else { continue };
        let is_newer = SINCE_7_2.contains(&name.as_str());
        // A command that this redis-server allows is right in both tables.
        let ours = REFUSED.split_whitespace().any(|refused| refused == name);
        if is_refused != ours && !(is_newer && is_refused) {
            differ.push(format!("{name}: refused by Redis: {is_refused}, by us: {ours}"));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn script_debug_is_refused_and_closes_the_connection() {
    let server = Server::start(&["--journal", "off"]);
    for word in ["YES", "sync"] {
        let mut client = server.connect();
        client.send(&["SCRIPT", "DEBUG", word]);
        // As redis-cli does, without reading the reply. The server may have closed already.
        let script = "return redis.call('set', KEYS[1], 'ran')";
        let replies = client.calls_until_gone(&[support::request(&["EVAL", script, "1", "key"])]);
        let [Value::Error(text)] = &replies[..] else { panic!("{word}: {replies:?}") };
        assert!(text.starts_with("ERR SCRIPT DEBUG is not supported: "), "{text}");
        assert_eq!(client.try_reply(), None, "{word}");
    }
    let mut client = server.connect();
    assert_eq!(client.call(&["EXISTS", "key"]), Value::Int(0));
    assert_eq!(client.call(&["SCRIPT", "DEBUG", "no"]).to_string(), "OK");
    assert_eq!(client.call(&["SCRIPT", "DEBUG", "MAYBE"]).as_error(), Some("ERR Use SCRIPT DEBUG YES/SYNC/NO"));
    assert_eq!(client.call(&["PING"]).to_string(), "PONG");
}

/// As redis-server 7.0.15 answers them.
#[test]
fn the_debugger_is_refused_in_transactions_as_by_redis() {
    let server = Server::start(&["--journal", "off"]);
    let mut client = server.connect();
    assert_eq!(client.call(&["MULTI"]).to_string(), "OK");
    for word in ["NO", "YES", "SYNC", "MAYBE"] {
        assert_eq!(client.call(&["SCRIPT", "DEBUG", word]).to_string(), "QUEUED");
    }
    let outside = Value::Error("ERR SCRIPT DEBUG must be called outside a pipeline".to_owned());
    assert_eq!(client.call(&["EXEC"]), Value::Array(vec![outside; 4]));
    assert_eq!(client.call(&["PING"]).to_string(), "PONG");
}

#[test]
fn redis_cli_ldb_does_not_run_the_script() {
    let Some(redis_cli) = program_or_skip("redis_cli_ldb_does_not_run_the_script", "redis-cli") else {
        return;
    };
    let server = Server::start(&["--journal", "off"]);
    let script = server.folder().join("script.lua");
    fs::write(&script, "return redis.call('set', KEYS[1], ARGV[1])").unwrap();
    for mode in ["--ldb", "--ldb-sync-mode"] {
        let mut command = Command::new("timeout");
        command.args(["--kill-after=5", "60"]).arg(&redis_cli).args(["-p", &server.port.to_string(), mode, "--eval"]);
        let output = command.arg(&script).args(["key", ",", "ran"]).stdin(Stdio::null()).output().unwrap();
        assert_ne!(output.status.code(), Some(0), "{mode}: {output:?}");
        assert_eq!(server.connect().call(&["EXISTS", "key"]), Value::Int(0), "{mode}: {output:?}");
    }
}
