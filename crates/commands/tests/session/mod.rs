//! Commands of the connection and the server against a session that is a record of what was asked of it. Expected
//! replies are those of the published pages and of redis-server itself.

mod command;
mod connection;
mod data;
mod facts;
mod fake;
mod pubsub;
mod server;
