//! Connection and server commands on a fake session that records its calls. Expected replies come from Redis's
//! documentation and from redis-server itself.

mod command;
mod connection;
mod data;
mod facts;
mod fake;
mod pubsub;
mod search;
mod server;
