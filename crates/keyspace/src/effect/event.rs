//! Default names of effects in keyspace notifications. Commands with other names for their effects set them in
//! `commands/src/events.rs`.

use super::{Effect, HashChange, ListChange, QueueChange, SetChange, SortedChange, StreamChange, TaggedChange};
use crate::notes::Classes;
use blocks::End;
use values::queue::State;

/// A whole value was put.
pub(crate) const WHOLE: (Classes, &str) = (Classes::GENERIC, "restore");
/// Items were removed inside a list.
pub(crate) const LIST_REMOVE: &str = "lrem";
/// A stream was trimmed.
pub(crate) const TRIM: &str = "xtrim";
/// A text was put.
pub(crate) const TEXT_PUT: (Classes, &str) = (Classes::STRING, "set");
/// A deadline was set.
pub(crate) const EXPIRY_PUT: (Classes, &str) = (Classes::GENERIC, "expire");

impl Effect<'_> {
    /// Returns class and name of the event; `None` if the change is not notified.
    pub(crate) fn event(&self) -> Option<(Classes, &'static str)> {
        Some(match self {
            Self::Remove => (Classes::GENERIC, "del"),
            Self::StringPut { .. } | Self::StringReplace(_) | Self::ItemPut { .. } => TEXT_PUT,
            Self::StringAppend(_) => (Classes::STRING, "append"),
            Self::StringOverwrite { .. } => (Classes::STRING, "setrange"),
            Self::ExpiryPut(_) => EXPIRY_PUT,
            Self::ExpiryClear => (Classes::GENERIC, "persist"),
            Self::List(change) => (Classes::LIST, change.event()),
            Self::Hash(change) => (Classes::HASH, change.event()?),
            Self::Set(change) => (Classes::SET, change.event()),
            Self::Sorted(change) => (Classes::SORTED, change.event()?),
            Self::Stream(change) => (Classes::STREAM, change.event()?),
            Self::Tagged(change) => (Classes::MODULE, change.event()?),
            Self::Queue(change) => (Classes::LIST, change.event()?),
            Self::ValuePut { .. } => WHOLE,
            Self::ExtrasPut(_) => return None,
            Self::MapPut { .. } => unreachable!("it names no key"),
        })
    }
}

impl Effect<'_> {
    /// Returns true if it may change what is read of its key, by Redis's rules: group operations on a stream do not
    /// count.
    pub(crate) fn touches(&self) -> bool {
        match self {
            Self::Stream(StreamChange::Add { .. } | StreamChange::Delete { .. } | StreamChange::Trim { .. }) => true,
            Self::Stream(_) => false,
            _ => true,
        }
    }
}

impl SetChange<'_> {
    fn event(&self) -> &'static str {
        match self {
            Self::Add { .. } => "sadd",
            Self::Remove { .. } | Self::RemoveAt { .. } => "srem",
        }
    }
}

impl SortedChange<'_> {
    fn event(&self) -> Option<&'static str> {
        Some(match self {
            Self::Put { .. } => "zadd",
            Self::Remove { .. } => "zrem",
            Self::RemoveRange { .. } => "zremrangebyrank",
            Self::Grow => return None,
        })
    }
}

impl StreamChange<'_> {
    fn event(&self) -> Option<&'static str> {
        Some(match self {
            Self::Add { .. } => "xadd",
            Self::Delete { .. } => "xdel",
            Self::Trim { .. } => TRIM,
            Self::Set { .. } => "xsetid",
            Self::GroupPut { .. } => "xgroup-create",
            Self::GroupRemove { .. } => "xgroup-destroy",
            Self::ConsumerMake { .. } => "xgroup-createconsumer",
            Self::ConsumerRemove { .. } => "xgroup-delconsumer",
            Self::Deliver { .. } | Self::Claim { .. } | Self::Drop { .. } | Self::ConsumerSeen { .. } => return None,
        })
    }
}

impl TaggedChange<'_> {
    fn event(&self) -> Option<&'static str> {
        Some(match self {
            Self::Make { .. } | Self::Insert { .. } => "tl.insert",
            Self::Remove { .. } => "tl.rem",
            Self::Move { .. } => "tl.move",
            Self::Put { .. } => "tl.set",
            Self::Keep { .. } => "tl.create",
            Self::Grow { .. } => return None,
        })
    }
}

impl QueueChange<'_> {
    fn event(&self) -> Option<&'static str> {
        Some(match self {
            Self::Turn { .. } | Self::Base { .. } => return None,
            Self::TurnBack { .. } => "q.drop",
            Self::Push { end: End::Head, .. } => "lpush",
            Self::Push { end: End::Tail, .. } => "rpush",
            Self::Pop { end: End::Head, .. } => "lpop",
            Self::Pop { end: End::Tail, .. } => "rpop",
            Self::PushOne { .. } => "q.push",
            Self::Reserve { .. } => "q.reserve",
            Self::Remove { are_acked: true, .. } => "q.ack",
            Self::Release { .. } => "q.ready",
            Self::Remove { are_acked: false, .. } => "q.dead",
            Self::SetState { state: State::Dead, .. } => "q.spent",
            Self::SetState { state: State::Delayed, .. } => "q.delay",
            Self::SetState { state: State::Buried, .. } => "q.bury",
            Self::SetState { state: State::Leased | State::Ready, .. } => "q.extend",
            Self::Expire { .. } => "q.expire",
            Self::Limit { .. } => "q.limit",
        })
    }
}

impl HashChange<'_> {
    fn event(&self) -> Option<&'static str> {
        Some(match self {
            Self::Put { .. } | Self::PutKeeping { .. } => "hset",
            Self::Remove { .. } => "hdel",
            Self::Expire { .. } => "hexpired",
            Self::ExpiryPut { .. } => "hexpire",
            Self::ExpiryClear { .. } => "hpersist",
            Self::Grow => return None,
        })
    }
}

impl ListChange<'_> {
    fn event(&self) -> &'static str {
        match self {
            Self::Push { end: End::Head, .. } => "lpush",
            Self::Push { end: End::Tail, .. } => "rpush",
            Self::Pop { end: End::Head, .. } => "lpop",
            Self::Pop { end: End::Tail, .. } => "rpop",
            Self::Put { .. } => "lset",
            Self::Insert { .. } => "linsert",
            Self::Remove { .. } | Self::RemoveMany { .. } => LIST_REMOVE,
        }
    }
}
