//! The state of a connection.

use super::affinity::Affinity;
use super::connection::messages::{Outbox, Subscriptions};
use super::connection::tracking::Tracking;
use super::connection::watch::WatchedKeys;
use super::protocol::port::Port;
use super::suspend::Suspend;
use crate::auth_failures::Passwords;
use crate::client::Client;
use crate::script::runner::Yielder;
use crate::tracking::Own;
use crate::worker::Worker;
use base::Position;
use commands::ReplyMode;
use commands::registry::Command;
use journal::PaceTag;
use std::rc::Rc;
use std::sync::Arc;
use wire::OwnedRequest;
use wire::resp::Protocol;

/// One connection.
pub struct Session {
    pub(super) worker: Rc<Worker>,
    pub(super) client: Arc<Client>,
    pub(super) port: Port,
    pub(super) database: u32,
    pub(super) protocol: Protocol,
    pub(super) authenticated: bool,
    pub(super) passwords: Passwords,
    pub(super) reply_mode: ReplyMode,
    pub(super) durable_always: bool,
    pub(super) closing: bool,
    /// The greatest position that any unsent reply has seen.
    pub(super) watermark: Position,
    /// The number of unsent replies in the output.
    pub(super) replies_held: usize,
    /// Like the watermark, for messages that wait whatever the policy.
    pub(super) strict_watermark: Position,
    pub(super) subscriptions: Option<Box<Subscriptions>>,
    pub(super) tracking: Option<Box<Tracking>>,
    /// Pushes caused by its own request, sent along with the reply.
    pub(super) own_pushes: Vec<Own>,
    /// Messages published inside a running EXEC.
    pub(super) outbox: Option<Box<Outbox>>,
    pub(super) multi: Option<Box<Multi>>,
    pub(super) watched: Option<Box<WatchedKeys>>,
    /// The connection receives item events.
    pub(super) shows_items: bool,
    /// It has nothing to end when dropped: it is the server's own, has left its worker, or stands in for a session that
    /// is running on its worker's script runner.
    pub(super) is_stand_in: bool,
    /// Lets a script yield to others. `None` when a script runs in place.
    pub(super) yielder: Option<Rc<Yielder>>,
    /// The requirement missing from a script's tx, which is to be undone.
    pub(super) lack: Option<Suspend>,
    /// Why a script admitted only to read cannot write.
    pub(super) unwritable: Option<&'static str>,
    /// The shard to which it keeps writing.
    pub(super) affinity: Affinity,
    /// Its place in the pace of writers, and the bytes by which it has grown the data since that was counted.
    pub(super) pace: PaceTag,
    pub(super) grown_bytes: u64,
}

/// Requests between MULTI and EXEC.
#[derive(Default)]
pub(super) struct Multi {
    pub(super) queue: Vec<(Command, OwnedRequest)>,
    /// Memory used by the queue.
    pub(super) bytes: u64,
    /// A request could not be queued: EXEC refuses.
    pub(super) broken: bool,
    /// The total of its DEBUG SLEEPs in milliseconds: EXEC waits this long before it takes any lock.
    pub(super) delay_ms: base::Ms,
}

impl Session {
    /// Creates the session of `client`, served by `worker`.
    pub fn new(worker: Rc<Worker>, client: Arc<Client>) -> Self {
        let authenticated = worker.settings().requirepass.is_none();
        Self {
            worker,
            client,
            port: Port::resp(authenticated),
            database: 0,
            protocol: Protocol::Resp2,
            authenticated,
            passwords: Passwords::default(),
            reply_mode: ReplyMode::On,
            durable_always: false,
            closing: false,
            watermark: 0,
            replies_held: 0,
            strict_watermark: 0,
            subscriptions: None,
            tracking: None,
            own_pushes: Vec::new(),
            outbox: None,
            multi: None,
            watched: None,
            shows_items: false,
            is_stand_in: false,
            yielder: None,
            lack: None,
            unwritable: None,
            affinity: Affinity::default(),
            pace: PaceTag::default(),
            grown_bytes: 0,
        }
    }

    /// Creates a session through which the server itself makes requests.
    pub(super) fn of_server(worker: &Rc<Worker>, database: u32) -> Self {
        let mut session = Self::new(worker.clone(), Arc::new(Client::of_server(worker.engine.clock.now())));
        session.is_stand_in = true;
        session.database = database;
        session
    }

    /// Returns the client as other connections see it.
    pub fn client(&self) -> &Arc<Client> {
        &self.client
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.is_stand_in {
            return;
        }
        self.drop_queue();
        self.unwatch();
        self.untrack();
        self.end_monitor();
        self.worker.leases.let_all_go(self.client.id);
        self.leave();
        self.worker.engine.clients.remove(self.client.id);
    }
}
