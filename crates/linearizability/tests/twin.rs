//! The checker beside a plain search through all orders, on random small histories.
//!
//! The search (Wing and Gong's, with Lowe's memory of states already met) carries out events on a model, one after
//! another, as real time allows. What it explains must pass; what the checker refuses, it must not explain. For histories
//! of registers alone, of one step each, both agree always.
//!
//! Histories come from events carried out on the model in turn, each with a time around its instant; then, mostly, a
//! crash that takes back the last ones, or a wrong reply.

use linearizability::{End, Event, Key, Step, Value, check};
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};

/// The plain server.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
struct Model {
    registers: BTreeMap<Key, Value>,
    lists: BTreeMap<Key, Vec<Value>>,
    queues: BTreeMap<Key, Vec<Value>>,
}

impl Model {
    /// Carries out a step; what it finds is put in.
    fn run(&mut self, step: &mut Step) {
        match step {
            Step::Get { key, found } => *found = self.registers.get(key).copied(),
            Step::Set { key, value } => {
                self.registers.insert(*key, *value);
            }
            Step::Append { key, value, length } => {
                let list = self.lists.entry(*key).or_default();
                list.push(*value);
                *length = length.map(|_| list.len() as u64);
            }
            Step::Range { key, found } => *found = self.lists.get(key).cloned().unwrap_or_default(),
            Step::Push { queue, value } => self.queues.entry(*queue).or_default().push(*value),
            Step::Pop { queue, found } => *found = self.pop(*queue),
            Step::Move { from, to, found } => {
                *found = self.pop(*from);
                self.queues.entry(*to).or_default().extend(*found);
            }
            Step::Look { queue, found } => *found = self.queues.get(queue).cloned().unwrap_or_default(),
        }
    }

    fn pop(&mut self, queue: Key) -> Option<Value> {
        let elements = self.queues.get_mut(&queue).filter(|elements| !elements.is_empty())?;
        Some(elements.remove(0))
    }

    /// Returns the state after the event, or `None` if the event cannot come now.
    fn after(&self, event: &Event) -> Option<Model> {
        let mut next = self.clone();
        let mut steps = event.steps.clone();
        steps.iter_mut().for_each(|step| next.run(step));
        (!event.is_answered() || steps == event.steps).then_some(next)
    }
}

/// Returns true if some order explains the events.
fn is_explained(events: &[Event]) -> bool {
    let refused = |event: &Event| event.end == End::Refused;
    let done = events.iter().enumerate().filter(|(_, event)| refused(event)).fold(0, |done, (at, _)| done | 1 << at);
    search(events, done, &Model::default(), &mut HashSet::new())
}

fn search(events: &[Event], done: u32, model: &Model, met: &mut HashSet<(u32, Model)>) -> bool {
    let open = || (0..events.len()).filter(|at| done & 1 << at == 0);
    if open().all(|at| !events[at].is_answered()) {
        return true;
    }
    if !met.insert((done, model.clone())) {
        return false;
    }
    // Nothing comes after an open event that had ended before it was called; one without a reply may be left out.
    let ends_ns =
        open().filter(|&at| events[at].is_answered()).map(|at| events[at].done_ns()).min().unwrap_or(u64::MAX);
    let is_next = |at: &usize| {
        let mine = |other: &usize| {
            events[*other].client == events[*at].client && events[*other].called_ns < events[*at].called_ns
        };
        events[*at].called_ns <= ends_ns && !open().any(|other| mine(&other) && events[other].is_answered())
    };
    let mut next: Vec<usize> = open().filter(is_next).collect();
    // Those without a reply have a last instant too.
    next.retain(|&at| {
        events[at].is_answered()
            || (0..events.len()).all(|other| done & 1 << other == 0 || events[other].called_ns <= events[at].done_ns())
    });
    next.into_iter().any(|at| {
        let after = model.after(&events[at]);
        after.is_some_and(|after| search(events, done | 1 << at, &after, met))
    })
}

/// The step of an event, before values are assigned.
#[derive(Clone, Copy, Debug)]
enum Plan {
    Get(Key),
    Set(Key),
    Append(Key),
    Range(Key),
    Push,
    Pop(Key),
    Move,
    Look,
}

fn steps(plan: Plan, value: Value) -> Vec<Step> {
    let step = match plan {
        Plan::Get(key) => Step::Get { key, found: None },
        Plan::Set(key) => Step::Set { key, value },
        Plan::Append(key) => Step::Append { key, value, length: value.is_multiple_of(2).then_some(0) },
        Plan::Range(key) => Step::Range { key, found: Vec::new() },
        Plan::Push => Step::Push { queue: 0, value },
        Plan::Pop(queue) => Step::Pop { queue, found: None },
        Plan::Move => Step::Move { from: 0, to: 1, found: None },
        Plan::Look => return (0..2).map(|queue| Step::Look { queue, found: Vec::new() }).collect(),
    };
    vec![step]
}

/// One planned event: its steps, how long before and after its instant it was called and answered, its end.
type Planned = (Vec<Plan>, u64, u64, u8);

/// Carries out the plan; then a crash before event `crash` takes back the `lost` events before it, if so wanted.
fn history(plan: &[Planned], crash: usize, lost: usize) -> Vec<Event> {
    let mut models = vec![Model::default()];
    let mut events: Vec<Event> = Vec::new();
    let crash_ns = crash as u64 * 100 - 50;
    for (at, (plans, before_ns, after_ns, end)) in plan.iter().enumerate() {
        let mut model = models[if at == crash { crash.saturating_sub(lost) } else { at }].clone();
        let instant_ns = at as u64 * 100;
        let values = (1..).map(|value| at as Value * 10 + value);
        let mut steps: Vec<Step> = plans.iter().zip(values).flat_map(|(&plan, value)| steps(plan, value)).collect();
        steps.iter_mut().for_each(|step| model.run(step));
        let (mut called_ns, mut done_ns) = (1000 + instant_ns - before_ns, 1000 + instant_ns + after_ns);
        // No call reaches across the crash.
        if at < crash {
            done_ns = done_ns.min(1000 + crash_ns);
        } else {
            called_ns = called_ns.max(1001 + crash_ns);
        }
        let end = if *end == 0 { End::Lost(done_ns) } else { End::Answered(done_ns) };
        events.push(Event { client: at as u32, called_ns, end, steps });
        models.push(model);
    }
    events
}

fn register_plan() -> impl Strategy<Value = Plan> {
    prop_oneof![(0..2u32).prop_map(Plan::Get), (0..2u32).prop_map(Plan::Set)]
}

fn list_plan() -> impl Strategy<Value = Plan> {
    prop_oneof![
        (0..2u32).prop_map(Plan::Append),
        (0..2u32).prop_map(Plan::Range),
        (0..2u32).prop_map(Plan::Get),
        (0..2u32).prop_map(Plan::Set),
    ]
}

fn queue_plan() -> impl Strategy<Value = Plan> {
    prop_oneof![2 => Just(Plan::Push), 2 => (0..2u32).prop_map(Plan::Pop), 2 => Just(Plan::Move), 1 => Just(Plan::Look)]
}

fn planned(plan: impl Strategy<Value = Plan>, steps_max: usize) -> impl Strategy<Value = Vec<Planned>> {
    let event = (prop::collection::vec(plan, 1..=steps_max), 0..400u64, 0..400u64, 0..5u8);
    prop::collection::vec(event, 2..9)
}

fn config() -> ProptestConfig {
    let cases = std::env::var("BOBBIN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(20_000);
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

fn show(events: &[Event]) -> String {
    events.iter().map(|event| format!("{event}\n")).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn sequential_histories_pass(
        plan in prop_oneof![planned(list_plan(), 3), planned(queue_plan(), 1)], crash in 1..9usize,
    ) {
        let events = history(&plan, crash, 0);
        let checked = check(&events);
        prop_assert!(checked.is_ok(), "{}\n{}", checked.unwrap_err(), show(&events));
    }

    #[test]
    fn registers_are_judged_as_by_exhaustive_search(
        plan in planned(register_plan(), 1), crash in 1..9usize, lost in 0..3usize, swap in (0..8usize, 0..8usize),
    ) {
        let mut events = history(&plan, crash, lost);
        let (a, b) = (swap.0 % events.len(), swap.1 % events.len());
        (events[a].called_ns, events[b].called_ns) = (events[b].called_ns, events[a].called_ns);
        (events[a].end, events[b].end) = (events[b].end, events[a].end);
        prop_assert_eq!(check(&events).is_ok(), is_explained(&events), "{}", show(&events));
    }

    #[test]
    fn no_order_explains_a_refused_history(
        plan in prop_oneof![planned(list_plan(), 3), planned(queue_plan(), 1)],
        crash in 1..9usize, lost in 0..3usize, swap in (0..8usize, 0..8usize),
    ) {
        let mut events = history(&plan, crash, lost);
        let (a, b) = (swap.0 % events.len(), swap.1 % events.len());
        (events[a].called_ns, events[b].called_ns) = (events[b].called_ns, events[a].called_ns);
        (events[a].end, events[b].end) = (events[b].end, events[a].end);
        if let Err(anomaly) = check(&events) {
            prop_assert!(!is_explained(&events), "{}\n{}", anomaly, show(&events));
        }
    }
}
