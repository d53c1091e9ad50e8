//! Refused starts, by the line they end with, and the results of successful ones.

use super::*;
use engine::settings::{Draft, find};
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A separate folder for each test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("bobbin-startup-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn settings(flags: &[(&str, &str)]) -> Arc<Settings> {
    let mut draft = Draft::new();
    // Tests run in parallel: a test that needs these ports chooses free ones.
    draft.put_flag(find("memcached-port").unwrap(), "0").unwrap();
    draft.put_flag(find("queue-port").unwrap(), "0").unwrap();
    for (name, text) in flags {
        draft.put_flag(find(name).unwrap(), text).unwrap();
    }
    Arc::new(draft.finish())
}

fn start(flags: &[(&str, &str)]) -> Result<Prepared, String> {
    prepare(settings(flags)).map_err(|refused| refused.to_string())
}

/// Returns a port that is free, as far as can be known.
fn free_port() -> String {
    base::programs::free_port().unwrap().to_string()
}

const CACHE: (&str, &str) = ("journal", "off");

#[test]
fn addresses_beyond_loopback_require_a_password() {
    let port = free_port();
    for (bind, address) in
        [("0.0.0.0", "0.0.0.0"), ("*", "0.0.0.0"), ("::", "::"), ("127.0.0.1 192.0.2.1", "192.0.2.1")]
    {
        let expected = format!(
            "other machines can reach {address} and there is no password; \
             set one by BOBBIN_REQUIREPASS, or listen on this machine alone with --bind 127.0.0.1"
        );
        assert_eq!(start(&[("bind", bind), ("port", &port), CACHE]).err(), Some(expected));
    }
    let open = start(&[("bind", "*"), ("port", &port), ("requirepass", "opener"), CACHE]).unwrap();
    let expected = "ERR CONFIG SET failed (possibly related to argument 'requirepass') - \
                    other machines can reach this server, so it needs a password";
    assert_eq!(open.settings.set(&[(b"requirepass", b"")]), Err(expected.to_owned()));
    assert_eq!(open.settings.set(&[(b"requirepass", b"another")]), Ok(()));
}

#[test]
fn a_taken_port_fails_the_start_and_creates_no_folder() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap();
    let folder = Folder::new("port");
    let data = folder.path("data");
    let flags = [("bind", "127.0.0.1"), ("port", &address.port().to_string()), ("dir", &data)];
    let expected = format!("{address} is taken by another program; stop it, or choose another port with --port");
    assert_eq!(start(&flags).err(), Some(expected));
    assert!(!Path::new(&data).exists());
}

#[test]
fn each_address_is_bound_once_and_missing_optional_ones_skipped() {
    let port = free_port();
    let prepared = start(&[("bind", "127.0.0.1,localhost -192.0.2.1"), ("port", &port), CACHE]);
    let expected = "other machines can reach 192.0.2.1";
    assert!(prepared.err().unwrap().starts_with(expected), "an address is protected even if the machine may lack it");
    let flags = [("bind", "127.0.0.1 -192.0.2.1 127.0.0.1"), ("port", &port), ("requirepass", "opener"), CACHE];
    let listening: Vec<SocketAddr> = start(&flags).unwrap().listeners.tcp.iter().map(|(address, _)| *address).collect();
    assert_eq!(listening, [format!("127.0.0.1:{port}").parse().unwrap()]);
    let lacking = start(&[("bind", "192.0.2.1"), ("port", &port), ("requirepass", "opener"), CACHE]);
    assert_eq!(lacking.err().as_deref(), Some("this machine has no address 192.0.2.1; see --bind"));
    let unknown = start(&[("bind", "no-such-host.invalid"), CACHE]).err().unwrap();
    assert!(unknown.starts_with("cannot find the address of \"no-such-host.invalid\": "), "{unknown}");
    let nowhere = start(&[("port", "0"), CACHE]).err();
    assert_eq!(nowhere.as_deref(), Some("there is nothing to listen on; give --port, --bind or --unixsocket"));
}

#[test]
fn a_unix_socket_replaces_a_stale_one_and_nothing_else() {
    let folder = Folder::new("unix");
    let path = folder.path("socket");
    let flags = [("port", "0"), ("unixsocket", &path), ("unixsocketperm", "700"), CACHE];
    let first = start(&flags).unwrap();
    assert_eq!(first.listeners.addresses().join(""), path);
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    let in_use = format!("cannot listen on the unix socket {path}: another server answers there; choose another path");
    assert_eq!(start(&flags).err(), Some(in_use));
    drop(first);
    assert!(!Path::new(&path).exists(), "a clean stop leaves nothing");
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(Path::new(&path).exists(), "left behind as by a kill");
    drop(start(&flags).unwrap());
    let (items, queues) = (folder.path("items"), folder.path("queues"));
    let all = [&flags[..], &[("memcached-unixsocket", &items), ("queue-unixsocket", &queues)]].concat();
    let addresses = start(&all).unwrap().listeners.addresses();
    assert_eq!(addresses, [path.clone(), format!("{items} (memcached)"), format!("{queues} (queues)")]);
    std::fs::write(&path, "a letter").unwrap();
    let taken = format!("cannot listen on the unix socket {path}: something else has this name; choose another path");
    assert_eq!(start(&flags).err(), Some(taken));
}

#[test]
fn only_one_process_at_a_time_uses_a_data_folder() {
    let folder = Folder::new("lock");
    let data = folder.path("deep/data");
    let first = DataFolder::take(Path::new(&data)).unwrap();
    assert_eq!(first.path(), Path::new(&data));
    let process = std::process::id();
    let expected =
        format!("the data folder {data} is in use by another Bobbin, pid {process}; choose another with --dir");
    assert_eq!(DataFolder::take(Path::new(&data)).err().map(|refused| refused.to_string()), Some(expected));
    drop(first);
    assert!(DataFolder::take(Path::new(&data)).is_ok());
}

#[test]
fn a_folder_that_cannot_be_written_is_refused() {
    let refused = DataFolder::take(Path::new("/dev/null/data")).err().unwrap().to_string();
    let start = "cannot write to the data folder /dev/null/data: ";
    let end = "; make it writable or choose another with --dir";
    assert!(refused.starts_with(start) && refused.ends_with(end), "{refused}");
}

#[test]
fn maxclients_is_clamped_at_start_and_refused_in_config_set() {
    let (port, many) = (free_port(), u32::MAX.to_string());
    let prepared = start(&[("bind", "127.0.0.1"), ("port", &port), ("maxclients", &many), CACHE]).unwrap();
    let fitted = prepared.settings.current().maxclients;
    assert!(fitted < u32::MAX as usize);
    let expected = format!(
        "ERR CONFIG SET failed (possibly related to argument 'maxclients') - \
         The operating system is not able to handle the specified number of clients, try with {fitted}"
    );
    assert_eq!(prepared.settings.set(&[(b"maxclients", many.as_bytes())]), Err(expected));
    assert_eq!(prepared.settings.set(&[(b"maxclients", b"10")]), Ok(()));
}

#[test]
fn threads_default_to_the_number_of_cores() {
    assert_eq!(threads(&settings(&[("threads", "3")]).current()), 3);
    assert!(threads(&settings(&[]).current()) >= 1);
}

#[test]
fn the_ready_line_shows_addresses_threads_and_folder() {
    let addresses = ["127.0.0.1:6379".to_owned(), "[::1]:6379".to_owned()];
    let mut ready = Ready {
        addresses: &addresses,
        threads: 2,
        folder: Some(Path::new("/data")),
        found: "12 frames to replay",
        ready_ms: 7,
    };
    let expected = format!(
        "Bobbin {VERSION} on 127.0.0.1:6379 and [::1]:6379, 2 threads, \
         data in /data (12 frames to replay), ready in 7 ms"
    );
    assert_eq!(ready.to_string(), expected);
    ready.folder = None;
    ready.threads = 1;
    let expected = format!(
        "Bobbin {VERSION} on 127.0.0.1:6379 and [::1]:6379, 1 thread, \
         journal off: nothing is kept, ready in 7 ms"
    );
    assert_eq!(ready.to_string(), expected);
}
