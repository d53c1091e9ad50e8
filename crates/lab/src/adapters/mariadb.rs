//! MariaDB, with InnoDB and without a binary log.
//!
//! ```text
//! folder/data       made by mariadb-install-db; root has no password
//! folder/init.sql   makes the database `lab` at each start, before anybody can connect
//! ```

use super::{Adapter, Fsync, debian, owned};
use crate::load::output;
use crate::protocol::Protocol;
use crate::sql::DATABASE;
use crate::{LabError, io_error, not_on_path};
use base::programs::on_path;
use rustix::process::geteuid;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const INSTALLER: &str = "mariadb-install-db";
/// The installer's name before MariaDB 10.4.
const OLD_INSTALLER: &str = "mysql_install_db";
/// The size of InnoDB's log, which the installer makes at once in its final length.
const LOG_FILE_SIZE: &str = "--innodb-log-file-size=512M";

/// MariaDB.
pub(super) struct MariaDb;

impl Adapter for MariaDb {
    fn name(&self) -> &'static str {
        "mariadb"
    }

    fn program(&self) -> &'static str {
        "mariadbd"
    }

    /// MariaDB's own older name. MySQL's server has it too, but makes its folder in another way.
    fn other_programs(&self) -> &'static [&'static str] {
        &["mysqld"]
    }

    fn remedy(&self) -> String {
        debian("mariadb-server")
    }

    fn arguments(&self, port: u16, folder: &str) -> Vec<String> {
        let mut arguments = owned(&["--no-defaults", "--skip-networking=0", "--skip-name-resolve"]);
        arguments.extend(owned(&["--bind-address=127.0.0.1", "--socket=mariadb.sock", "--pid-file=mariadb.pid"]));
        arguments.push(format!("--port={port}"));
        arguments.push(format!("--datadir={}", data_of(Path::new(folder)).display()));
        arguments.push(format!("--tmpdir={folder}"));
        arguments.push(format!("--init-file={}", start_file_of(Path::new(folder)).display()));
        arguments.extend(user());
        arguments
    }

    /// Room for the data of the reports in memory, as an operator would give it; all else is MariaDB's own choice. With
    /// 20,000 open files allowed, it has no more connections if tables are to stay open.
    fn settings(&self) -> Vec<String> {
        owned(&[
            "--innodb-buffer-pool-size=1G",
            LOG_FILE_SIZE,
            "--max-connections=12000",
            "--back-log=4096",
            "--table-open-cache=4000",
            "--max-allowed-packet=1G",
            "--skip-log-bin",
            // Only how the lab ends it: the log is written, pages are not.
            "--innodb-fast-shutdown=2",
        ])
    }

    fn durability(&self, fsync: Fsync) -> Option<Vec<String>> {
        Some(owned(&[match fsync {
            Fsync::None => "--innodb-flush-log-at-trx-commit=0",
            Fsync::Everysec => "--innodb-flush-log-at-trx-commit=2",
            Fsync::Always => "--innodb-flush-log-at-trx-commit=1",
        }]))
    }

    /// InnoDB always has its log; with `none` it writes and syncs the log once a second instead of at each commit.
    fn durability_words(&self, fsync: Fsync) -> String {
        let words = match fsync {
            Fsync::None => {
                "none at commit, yet its log is written and synced once a second: a crash loses about a second"
            }
            Fsync::Everysec => {
                "everysec: written at commit, synced once a second; a power failure loses about a second"
            }
            Fsync::Always => "always: synced at each commit; a power failure loses nothing that was acknowledged",
        };
        words.to_owned()
    }

    fn protocol(&self) -> Protocol {
        Protocol::Sql
    }

    fn prepare_folder(&self, path: &Path, folder: &Path, _: u16) -> Result<(), LabError> {
        let start_file = start_file_of(folder);
        let text = format!("create database if not exists {DATABASE};\n");
        fs::write(&start_file, text).map_err(io_error(start_file.display().to_string()))?;
        let installer = installer(path)?;
        let mut command = Command::new(&installer);
        command
            .args([
                "--no-defaults",
                "--auth-root-authentication-method=normal",
                "--skip-test-db",
                "--skip-name-resolve",
            ])
            .arg(format!("--datadir={}", data_of(folder).display()))
            .arg(LOG_FILE_SIZE)
            // A server that starts removes temporary tables of others in a folder that both use.
            .arg(format!("--tmpdir={}", folder.display()))
            // The folder is a fresh one: nothing in it is worth a thousand syncs.
            .arg("--debug-no-sync")
            .args(user());
        output(command, INSTALLER).map(drop)
    }
}

fn data_of(folder: &Path) -> PathBuf {
    folder.join("data")
}

fn start_file_of(folder: &Path) -> PathBuf {
    folder.join("init.sql")
}

/// MariaDB runs as root only if it is told to.
fn user() -> Option<String> {
    geteuid().is_root().then(|| "--user=root".to_owned())
}

/// Returns the program that makes a folder of data: on PATH, or beside the server.
fn installer(server: &Path) -> Result<PathBuf, LabError> {
    let places =
        [INSTALLER, OLD_INSTALLER].into_iter().flat_map(|name| [on_path(name), Some(server.with_file_name(name))]);
    let found = places.flatten().find(|path| path.is_file());
    found.ok_or_else(|| not_on_path(INSTALLER, MariaDb.remedy()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Side;
    use crate::server::{Resources, Server};
    use std::path::Path;
    use testing::program_or_skip;

    fn side(fsync: Fsync) -> Side {
        let flags = MariaDb.durability(fsync).unwrap();
        toml::from_str(&format!("label = 'm'\nprogram = 'mariadb'\nflags = {flags:?}")).unwrap()
    }

    fn started(path: &Path, fsync: Fsync, data: &Path) -> Server {
        Server::of_side(path, &side(fsync), Resources::default(), data).unwrap()
    }

    #[test]
    fn each_durability_has_its_setting() {
        let Some(path) = program_or_skip("lab::adapters::mariadb", "mariadbd") else { return };
        let data = tempfile::tempdir().unwrap();
        for (fsync, setting) in [(Fsync::None, "0"), (Fsync::Everysec, "2"), (Fsync::Always, "1")] {
            let server = started(&path, fsync, data.path());
            let asked = "select @@innodb_flush_log_at_trx_commit, @@log_bin, @@innodb_buffer_pool_size >> 20";
            assert_eq!(server.ask(asked).unwrap(), format!("{setting} 0 1024"));
            assert_eq!(server.ask("select database()").unwrap(), "lab");
        }
    }

    #[test]
    fn acknowledged_rows_survive_a_kill() {
        let Some(path) = program_or_skip("lab::adapters::mariadb", "mariadbd") else { return };
        let data = tempfile::tempdir().unwrap();
        let mut server = started(&path, Fsync::Always, data.path());
        server.ask("create table t (k int primary key) ; insert into t values (7)").unwrap();
        server.kill().unwrap();
        server.start_again().unwrap();
        let rows = loop {
            server.is_running().unwrap();
            match server.ask("select k from t") {
                Ok(rows) => break rows,
                Err(_) => std::thread::sleep(std::time::Duration::from_millis(10)),
            }
        };
        assert_eq!(rows, "7");
    }

    #[test]
    fn a_running_server_loses_only_the_lab_database() {
        let Some((data, server)) = Server::of_adapter("lab::adapters::mariadb", "mariadb") else { return };
        server.ask("create table t (k int) ; create database other ; create table other.t (k int)").unwrap();
        let running = Server::running(&side(Fsync::None), server.address(), data.path()).unwrap();
        assert_eq!(running.ask("show tables").unwrap(), "");
        assert_eq!(running.ask("show tables in other").unwrap(), "t");
        drop(running);
        assert_eq!(server.ask("select 1").unwrap(), "1");
    }
}
