//! A blocking client for SQL: questions of the lab, and the calls of [`crate::calls`].
//!
//! ```text
//! select a, b from t   1 | x       reply.text = "1 x 2 (nil)", 2 rows
//!                      2 | NULL
//! insert ...                       reply.text = "OK", no result
//! insert ... ; select 1            reply.text = "OK 1", 1 row: a call of two statements, in order
//! ```
//!
//! Statements go as text, as applications of the reports sent them: nothing is prepared.

use mysql::prelude::Queryable;
use mysql::{Conn, OptsBuilder, Row, Value};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::ops::Range;
use std::time::Duration;

/// The database of all statements.
pub(crate) const DATABASE: &str = "lab";
/// Between the statements of a call.
pub(crate) const STATEMENT_END: &str = " ; ";
const USER: &str = "root";
/// The longest packet that servers accept; a known length saves a question for each connection.
const PACKET_BYTES_MAX: usize = 1 << 30;

/// One connection.
pub(crate) struct SqlClient {
    connection: Conn,
}

/// The reply to a call, of one or several statements.
#[derive(Debug, Default)]
pub(crate) struct SqlReply {
    /// All values with blanks between; a null as `(nil)`, a statement without a result as `OK`.
    pub(crate) text: Vec<u8>,
    pub(crate) rows: u64,
    /// True if a statement had a result, with rows or without.
    pub(crate) has_result: bool,
    values: u64,
    /// The last value; absent if it is null.
    last: Option<Range<usize>>,
}

impl SqlClient {
    /// Connects to a server; to no database if that may not be there.
    ///
    /// # Errors
    /// Nobody listens, or the server refuses.
    pub(crate) fn connect(address: SocketAddr, database: Option<&str>, silence: Duration) -> io::Result<Self> {
        let options = OptsBuilder::new()
            .ip_or_hostname(Some(address.ip().to_string()))
            .tcp_port(address.port())
            .prefer_socket(false)
            .user(Some(USER))
            .db_name(database)
            .max_allowed_packet(Some(PACKET_BYTES_MAX))
            .stmt_cache_size(0)
            .connect_attrs(None::<HashMap<String, String>>)
            .read_timeout(Some(silence))
            .write_timeout(Some(silence));
        let connection = Conn::new(options).map_err(plain)?;
        Ok(Self { connection })
    }

    /// Makes a call, which is one statement or several; its reply as text.
    ///
    /// # Errors
    /// A statement failed, or the connection broke.
    pub(crate) fn call(&mut self, line: &str) -> io::Result<String> {
        let mut reply = SqlReply::default();
        line.split(STATEMENT_END).try_for_each(|statement| self.run(statement, &mut reply))?;
        Ok(String::from_utf8_lossy(&reply.text).into_owned())
    }

    /// Runs a statement and adds what it answers to the reply.
    ///
    /// # Errors
    /// As [`SqlClient::call`].
    pub(crate) fn run(&mut self, statement: &str, reply: &mut SqlReply) -> io::Result<()> {
        let mut result = self.connection.query_iter(statement).map_err(plain)?;
        if result.columns().as_ref().is_empty() {
            reply.add(b"OK");
            return Ok(());
        }
        reply.has_result = true;
        for row in result.by_ref() {
            reply.add_row(&row.map_err(plain)?);
        }
        Ok(())
    }
}

impl SqlReply {
    /// Forgets everything; the room is kept.
    pub(crate) fn clear(&mut self) {
        let mut text = std::mem::take(&mut self.text);
        text.clear();
        *self = Self { text, ..Self::default() };
    }

    /// Returns the value, if there is just one.
    pub(crate) fn only_value(&self) -> Option<&[u8]> {
        let place = self.last.clone().filter(|_| self.values == 1)?;
        Some(&self.text[place])
    }

    fn add_row(&mut self, row: &Row) {
        self.rows += 1;
        for place in 0..row.len() {
            self.values += 1;
            self.last = match row.as_ref(place) {
                Some(Value::Bytes(bytes)) => Some(self.add(bytes)),
                // Replies to statements that are text have text only.
                Some(Value::NULL) | None => None,
                Some(other) => Some(self.add(other.as_sql(true).as_bytes())),
            };
            if self.last.is_none() {
                self.add(b"(nil)");
            }
        }
    }

    /// Adds a piece and returns its place.
    fn add(&mut self, piece: &[u8]) -> Range<usize> {
        if !self.text.is_empty() {
            self.text.push(b' ');
        }
        let begin = self.text.len();
        self.text.extend_from_slice(piece);
        begin..self.text.len()
    }
}

/// Returns an error in the words of the server, or in those of the system.
fn plain(error: mysql::Error) -> io::Error {
    match error {
        mysql::Error::IoError(error) => error,
        mysql::Error::MySqlError(error) => io::Error::other(error.to_string()),
        other => io::Error::other(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::Server;

    #[test]
    fn a_reply_is_text_with_blanks_between() {
        let Some((_data, server)) = Server::of_adapter("lab::sql", "mariadb") else { return };
        let ask = |line: &str| server.ask(line).unwrap();
        assert_eq!(ask("create table t (k int primary key, v varchar(20))"), "OK");
        assert_eq!(ask("insert into t values (1, 'a b'), (2, null)"), "OK");
        assert_eq!(ask("select k, v from t order by k"), "1 a b 2 (nil)");
        assert_eq!(ask("select k from t where k > 5"), "");
        assert_eq!(ask("update t set v = 'c' where k = 2 ; select v from t where k = 2 ; select 1"), "OK c 1");
        assert_eq!(ask("select count(*) from seq_1_to_1000"), "1000");
    }

    #[test]
    fn an_error_has_the_words_of_the_server() {
        let Some((_data, server)) = Server::of_adapter("lab::sql", "mariadb") else { return };
        let error = server.ask("select nothing from nowhere").unwrap_err().to_string();
        assert!(error.contains("1146") && error.contains("nowhere"), "{error}");
        // The connection may be used again.
        let mut client = SqlClient::connect(server.address(), Some(DATABASE), Duration::from_secs(60)).unwrap();
        client.call("nonsense").unwrap_err();
        assert_eq!(client.call("select 7").unwrap(), "7");
    }

    #[test]
    fn only_one_value_is_the_value() {
        let Some((_data, server)) = Server::of_adapter("lab::sql", "mariadb") else { return };
        let mut client = SqlClient::connect(server.address(), Some(DATABASE), Duration::from_secs(60)).unwrap();
        let mut reply = SqlReply::default();
        let mut run = |statement: &str| {
            reply.clear();
            client.run(statement, &mut reply).unwrap();
            (reply.only_value().map(<[u8]>::to_vec), reply.rows, reply.has_result)
        };
        assert_eq!(run("select repeat('x', 300000)"), (Some(vec![b'x'; 300_000]), 1, true));
        assert_eq!(run("select ''"), (Some(Vec::new()), 1, true));
        assert_eq!(run("select null"), (None, 1, true));
        assert_eq!(run("select 1, 2"), (None, 1, true));
        assert_eq!(run("select 1 from dual where false"), (None, 0, true));
        assert_eq!(run("set @x = 1"), (None, 0, false));
    }
}
