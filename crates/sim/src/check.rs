//! Checks the state after a boot against acknowledged replies; from then on it is the truth.

use crate::act::trio;
use crate::client::number;
use crate::life::{CLIENTS, Life};
use crate::record::reads;
use crate::request::Request;
use crate::rows::{pair, row};
use crate::script::Script;
use crate::state::state;
use crate::world::{Fault, Workload, World};
use std::collections::BTreeMap;
use wire::client::Value;

/// A freshly started life without other clients.
struct Look<'a> {
    world: &'a World,
    life: &'a Life,
    /// True if everything acknowledged must be present.
    keeps_acknowledged: bool,
}

/// Compares the state with the facts.
///
/// # Panics
/// If the state contradicts the replies.
pub(crate) fn check(world: &World, life: &Life) {
    let look = Look { world, life, keeps_acknowledged: world.plan.keeps_acknowledged() };
    for client in 0..CLIENTS {
        let key = format!("reg:{client}");
        look.rising(&key, look.number_at(&key));
        let key = format!("list:{client}");
        look.rising(&key, look.rising_list(&key));
        let values = trio(client).map(|key| look.number_at(&key));
        assert!(values.iter().all(|value| *value == values[0]), "half a MULTI is there: {values:?}");
        look.rising(&format!("trio:{client}"), values[0]);
        look.fleeting(&format!("fleeting:{client}"));
        look.rising(&row(client), look.row_number(&row(client)));
        let [one, other] = pair(client).map(|key| look.row_number(&key));
        assert_eq!(one, other, "half a MULTI is there");
        look.rising(&format!("pair:{client}"), one);
    }
    look.queue();
    look.count();
    look.record();
    if let Workload::Script(script, _) = world.plan.workload {
        look.script(script);
    }
}

impl Look<'_> {
    fn ask(&self, words: &[&str]) -> Value {
        self.answer(&Request::plain(words))
    }

    fn answer(&self, request: &Request) -> Value {
        self.life.ask(request).expect("a read with nobody else about does not wait")
    }

    fn number_at(&self, key: &str) -> u64 {
        number(&self.ask(&["GET", key])).unwrap_or(0)
    }

    fn row_number(&self, key: &str) -> u64 {
        number(&self.ask(&["HGET", key, "n"])).unwrap_or(0)
    }

    fn items(&self, key: &str) -> Vec<u64> {
        let Value::Array(items) = self.ask(&["LRANGE", key, "0", "-1"]) else { panic!("LRANGE replies an array") };
        items.iter().map(|item| number(item).expect("items begin with a number")).collect()
    }

    fn rising(&self, key: &str, value: u64) {
        let mut facts = self.world.facts.borrow_mut();
        let known = facts.rising.get(key).copied().unwrap_or_default();
        assert!(value <= known.sent, "{key} is {value}, {} was the last sent", known.sent);
        let confirmed = known.confirmed;
        assert!(!self.keeps_acknowledged || value >= confirmed, "{key} is {value}, a client was told {confirmed}");
        facts.settle(key, value);
    }

    /// Checks that the items of a list ascend; numbers of failed pushes may be missing. Returns its length.
    fn rising_list(&self, key: &str) -> u64 {
        let numbers = self.items(key);
        assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{key} is {numbers:?}");
        numbers.len() as u64
    }

    fn fleeting(&self, key: &str) {
        let gone = self.world.facts.borrow().gone.get(key) == Some(&true);
        let there = self.ask(&["GET", key]) != Value::Null;
        // A clock set back may bring it back, unless a frame has recorded the time.
        let may_return = self.world.plan.fault == Fault::ClockJumps;
        let is_kept = self.keeps_acknowledged;
        assert!(may_return || !(is_kept && gone && there), "{key} has come back after it was reported gone");
    }

    /// Checks that every element is in one place, and not where it was reported to have left.
    fn queue(&self) {
        let mut places: BTreeMap<u64, Vec<Option<usize>>> = BTreeMap::new();
        for place in std::iter::once(None).chain((0..CLIENTS).map(Some)) {
            let key = place.map_or("jobs".to_owned(), |client| format!("done:{client}"));
            for element in self.items(&key) {
                places.entry(element).or_default().push(place);
            }
        }
        let mut facts = self.world.facts.borrow_mut();
        for (element, known) in &mut facts.elements {
            let there = places.get(element).map_or(&[][..], |places| places);
            assert!(there.len() < 2, "element {element} is in {there:?}");
            if self.keeps_acknowledged {
                assert!(!known.pushed || there.len() == 1, "element {element} is lost");
                let is_moved = known.moved_to.is_none() || there == [known.moved_to];
                assert!(is_moved, "element {element} is in {there:?}");
            }
            known.pushed = there.len() == 1;
            known.moved_to = there.first().copied().flatten();
        }
    }

    fn count(&self) {
        let value = self.number_at("count");
        let mut facts = self.world.facts.borrow_mut();
        let confirmed = facts.counts.last().copied().unwrap_or(0);
        assert!(value <= facts.counts_sent, "the count is {value}, {} was the last sent", facts.counts_sent);
        assert!(!self.keeps_acknowledged || value >= confirmed, "the count is {value}, a client was told {confirmed}");
        facts.counts.retain(|count| *count <= value);
    }

    /// Checks that all acknowledged steps are there, and perhaps the one in flight, but never half a step.
    fn script(&self, script: Script) {
        let there = state(&self.life.engine.keyspace).expect("nobody holds a shard");
        let progress = &mut self.world.facts.borrow_mut().script;
        let made = (progress.acknowledged..=progress.sent).find(|steps| script.state_after(*steps) == there);
        let acknowledged = progress.acknowledged;
        let Some(made) = made else {
            let short: Vec<_> = there.iter().map(|(key, (items, _))| (key, items.len() - 1)).collect();
            panic!("after {acknowledged} acknowledged steps there are these lists: {short:?}");
        };
        (progress.acknowledged, progress.sent) = (made, made);
    }

    fn record(&self) {
        let record = &mut self.world.facts.borrow_mut().record;
        record.bury();
        for (step, request) in reads() {
            let call = record.begin(CLIENTS, vec![step]);
            record.end(call, Ok(&self.answer(&request)));
        }
    }
}
