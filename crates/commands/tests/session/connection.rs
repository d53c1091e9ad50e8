//! HELLO AUTH PING ECHO QUIT RESET SELECT CLIENT.

use crate::session::fake::Fake;
use commands::{ClientFilter, pause_arguments};
use wire::OwnedRequest;

#[test]
fn connection_commands_reply_as_in_redis() {
    let mut fake = Fake::new();
    assert_eq!(fake.call("PING"), "PONG");
    assert_eq!(fake.call("ping hi"), "\"hi\"");
    assert_eq!(fake.call3("PING"), "PONG");
    assert_eq!(fake.call("ECHO hi"), "\"hi\"");
    assert_eq!(fake.call("QUIT"), "OK");
    assert_eq!(fake.call("RESET"), "RESET");
    assert_eq!(fake.call("SELECT 15"), "OK");
    assert_eq!(fake.asked, ["quit", "reset", "select 15"]);
    assert_eq!(fake.call("SELECT 16"), "!ERR DB index is out of range");
    assert_eq!(fake.call("SELECT -1"), "!ERR DB index is out of range");
    assert_eq!(fake.call("SELECT x"), "!ERR value is not an integer or out of range");
    assert_eq!(
        fake.call("SELECT 999999999999"),
        "!ERR value is out of range, value must between -2147483648 and 2147483647"
    );
}

#[test]
fn hello_describes_the_server_in_the_requested_protocol() {
    let mut fake = Fake::new();
    assert_eq!(
        fake.call("HELLO"),
        "[\"server\", \"redis\", \"version\", \"7.4.2\", \"proto\", 2, \"id\", 7, \"mode\", \"standalone\", \"role\", \
         \"master\", \"modules\", [[\"name\", \"search\", \"ver\", 21005, \"path\", \"\", \"args\", []]]]"
    );
    assert_eq!(
        fake.call3("HELLO 3 AUTH default any SETNAME me"),
        "{\"server\": \"redis\", \"version\": \"7.4.2\", \"proto\": 3, \"id\": 7, \"mode\": \"standalone\", \"role\": \
         \"master\", \"modules\": [{\"name\": \"search\", \"ver\": 21005, \"path\": \"\", \"args\": []}]}"
    );
    assert!(fake.speaks_resp3);
    assert_eq!(fake.name, "me");
}

#[test]
fn a_refused_hello_changes_nothing() {
    let mut fake = Fake::new();
    for (request, error) in [
        ("HELLO 4", "!NOPROTO unsupported protocol version"),
        ("HELLO 0", "!NOPROTO unsupported protocol version"),
        ("HELLO x", "!ERR Protocol version is not an integer or out of range"),
        ("HELLO 3 FOO", "!ERR Syntax error in HELLO option 'FOO'"),
        ("HELLO 3 AUTH a", "!ERR Syntax error in HELLO option 'AUTH'"),
        ("HELLO 3 SETNAME", "!ERR Syntax error in HELLO option 'SETNAME'"),
        ("HELLO 3 SETNAME a\nb", "!ERR Client names cannot contain spaces, newlines or special characters."),
        ("HELLO 3 AUTH nobody x", "!WRONGPASS invalid username-password pair or user is disabled."),
    ] {
        assert_eq!(fake.call(request), error, "{request}");
    }
    assert!(!fake.speaks_resp3);
    assert_eq!(fake.name, "");
}

#[test]
fn a_required_password_is_checked_by_auth_and_hello() {
    let mut fake = Fake { is_in: false, password: Some("secret"), ..Fake::new() };
    assert!(fake.call("HELLO 3").starts_with("!NOAUTH HELLO must be called with the client already authenticated"));
    assert!(fake.call("HELLO").starts_with("!NOAUTH "));
    let wrong = "!WRONGPASS invalid username-password pair or user is disabled.";
    assert_eq!(fake.call("AUTH bad"), wrong);
    assert_eq!(fake.call("AUTH other secret"), wrong);
    assert_eq!(fake.call("AUTH a b c"), "!ERR syntax error");
    assert!(!fake.is_in);
    assert_eq!(fake.call("AUTH secret"), "OK");
    assert!(fake.is_in);
    assert_eq!(fake.call("AUTH default secret"), "OK");
}

#[test]
fn auth_fails_without_a_configured_password() {
    let mut fake = Fake::new();
    assert_eq!(
        fake.call("AUTH x"),
        "!ERR AUTH <password> called without any password configured for the default user. Are you sure your \
         configuration is correct?"
    );
    assert_eq!(fake.call("AUTH default x"), "OK");
}

#[test]
fn client_names_and_library_info_are_checked() {
    let mut fake = Fake::new();
    assert_eq!(fake.call("CLIENT ID"), "7");
    assert_eq!(fake.call("CLIENT GETNAME"), "null");
    assert_eq!(fake.call("CLIENT SETNAME worker-1"), "OK");
    assert_eq!(fake.call("CLIENT GETNAME"), "\"worker-1\"");
    let error = "!ERR Client names cannot contain spaces, newlines or special characters.";
    assert_eq!(fake.call("CLIENT SETNAME a\tb"), error);
    assert_eq!(fake.call("CLIENT SETINFO LIB-NAME redis-py"), "OK");
    assert_eq!(fake.call("CLIENT SETINFO lib-ver 5.0"), "OK");
    assert_eq!(fake.library, ("redis-py".to_owned(), "5.0".to_owned()));
    assert_eq!(fake.call("CLIENT SETINFO foo x"), "!ERR Unrecognized option 'foo'");
    assert_eq!(
        fake.call("CLIENT SETINFO lib-name a\tb"),
        "!ERR lib-name cannot contain spaces, newlines or special characters."
    );
    assert_eq!(fake.call("CLIENT INFO"), "\"id=7\\n\"");
    assert_eq!(fake.call3("CLIENT INFO"), "txt:\"id=7\\n\"");
}

#[test]
fn client_list_filters_by_type_and_id() {
    let mut fake = Fake::new();
    for (request, filter) in [
        ("CLIENT LIST", ClientFilter::default()),
        ("CLIENT LIST TYPE Slave", ClientFilter { kind: Some("replica".to_owned()), ..ClientFilter::default() }),
        ("CLIENT LIST ID 3 0 4", ClientFilter { ids: vec![0, 3, 4], ..ClientFilter::default() }),
    ] {
        assert_eq!(fake.call(request), format!("\"{}\"", format!("{filter:?}").escape_default()), "{request}");
    }
    for (request, error) in [
        ("CLIENT LIST TYPE", "!ERR syntax error"),
        ("CLIENT LIST TYPE foo", "!ERR Unknown client type 'foo'"),
        ("CLIENT LIST ID", "!ERR syntax error"),
        ("CLIENT LIST ID x", "!ERR Invalid client ID"),
        ("CLIENT LIST FOO", "!ERR syntax error"),
    ] {
        assert_eq!(fake.call(request), error, "{request}");
    }
}

#[test]
fn client_kill_accepts_an_address_or_filters() {
    let mut fake = Fake { killed: 2, ..Fake::new() };
    assert_eq!(fake.call("CLIENT KILL 1.2.3.4:5"), "OK");
    let address = Some("1.2.3.4:5".to_owned());
    assert_eq!(fake.filter, ClientFilter { address: address.clone(), ..ClientFilter::default() });
    assert_eq!(
        fake.call("CLIENT KILL ID 3 TYPE pubsub USER default ADDR 1.2.3.4:5 LADDR 6.7.8.9:0 MAXAGE 60 SKIPME no"),
        "2"
    );
    let all = ClientFilter {
        ids: vec![3],
        kind: Some("pubsub".to_owned()),
        address,
        local_address: Some("6.7.8.9:0".to_owned()),
        user: Some("default".to_owned()),
        age_s_min: Some(60),
        skip_me: false,
    };
    assert_eq!(fake.filter, all);
    fake.killed = 0;
    assert_eq!(fake.call("CLIENT KILL ID 9"), "0");
    assert!(fake.filter.skip_me);
    for (request, error) in [
        ("CLIENT KILL 1.2.3.4:5", "!ERR No such client"),
        ("CLIENT KILL a b c", "!ERR syntax error"),
        ("CLIENT KILL ID x", "!ERR client-id should be greater than 0"),
        ("CLIENT KILL ID 0", "!ERR client-id should be greater than 0"),
        ("CLIENT KILL TYPE foo", "!ERR Unknown client type 'foo'"),
        ("CLIENT KILL USER nobody", "!ERR No such user 'nobody'"),
        ("CLIENT KILL SKIPME maybe", "!ERR syntax error"),
        ("CLIENT KILL ID 4 FOO", "!ERR syntax error"),
        ("CLIENT KILL MAXAGE x", "!ERR maxage is not an integer or out of range"),
        ("CLIENT KILL MAXAGE 0", "!ERR maxage should be greater than 0"),
    ] {
        assert_eq!(fake.call(request), error, "{request}");
    }
}

#[test]
fn client_unblock_and_unpause_arguments_are_checked() {
    let mut fake = Fake::new();
    assert_eq!(fake.call("CLIENT UNBLOCK 5"), "1");
    assert_eq!(fake.call("CLIENT UNBLOCK 5 error"), "1");
    assert_eq!(fake.call("CLIENT UNBLOCK 99 TIMEOUT"), "0");
    assert_eq!(fake.call("CLIENT UNPAUSE"), "OK");
    assert_eq!(fake.asked, ["unblock 5 false", "unblock 5 true", "unblock 99 false", "unpause"]);
    assert_eq!(fake.call("CLIENT UNBLOCK x"), "!ERR value is not an integer or out of range");
    assert_eq!(fake.call("CLIENT UNBLOCK 9 foo"), "!ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
    assert_eq!(
        fake.call("CLIENT UNBLOCK 9 ERROR x"),
        "!ERR unknown subcommand or wrong number of arguments for 'UNBLOCK'. Try CLIENT HELP."
    );
}

#[test]
fn pause_arguments_are_checked() {
    let pause = |request: &str| {
        let owned = OwnedRequest::of(&request.split(' ').collect::<Vec<_>>());
        pause_arguments(&owned.args()).map_err(|failure| failure.to_string())
    };
    assert_eq!(pause("CLIENT PAUSE 100"), Ok((100, false)));
    assert_eq!(pause("CLIENT PAUSE 0 all"), Ok((0, false)));
    assert_eq!(pause("CLIENT PAUSE 1 WRITE"), Ok((1, true)));
    for (request, error) in [
        ("CLIENT PAUSE x", "ERR timeout is not an integer or out of range"),
        ("CLIENT PAUSE -1", "ERR timeout is negative"),
        ("CLIENT PAUSE 0 foo", "ERR CLIENT PAUSE mode must be WRITE or ALL"),
        ("CLIENT PAUSE 1 WRITE x", "ERR unknown subcommand or wrong number of arguments for 'PAUSE'. Try CLIENT HELP."),
    ] {
        assert_eq!(pause(request), Err(error.to_owned()), "{request}");
    }
}

#[test]
fn client_modes_are_switched_and_their_arguments_checked() {
    let mut fake = Fake::new();
    for (request, answer) in [
        ("CLIENT NO-EVICT on", "OK"),
        ("CLIENT NO-TOUCH OFF", "OK"),
        ("CLIENT REPLY ON", "OK"),
        ("CLIENT REPLY off", "(nothing)"),
        ("CLIENT REPLY SKIP", "(nothing)"),
        ("CLIENT DURABLE always", "OK"),
        ("CLIENT DURABLE POLICY", "OK"),
    ] {
        assert_eq!(fake.call(request), answer, "{request}");
    }
    assert_eq!(
        fake.asked,
        ["NoEvict true", "NoTouch false", "reply On", "reply Off", "reply Skip", "durable true", "durable false"]
    );
    for request in ["CLIENT NO-EVICT x", "CLIENT NO-TOUCH x", "CLIENT REPLY x", "CLIENT DURABLE x"] {
        assert_eq!(fake.call(request), "!ERR syntax error", "{request}");
    }
    assert!(fake.call("CLIENT MAINT_NOTIFICATIONS ON").starts_with("!ERR "));
}

#[test]
fn help_lists_every_subcommand() {
    let mut fake = Fake::new();
    for container in ["CLIENT", "COMMAND", "CONFIG", "DEBUG", "MEMORY", "SLOWLOG"] {
        let help = fake.call(&format!("{container} HELP"));
        assert!(help.starts_with(&format!("[{container} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:")));
        for command in commands::registry::subcommands(container) {
            assert!(help.contains(command.name.split_once(' ').unwrap().1), "{}", command.name);
        }
    }
}
