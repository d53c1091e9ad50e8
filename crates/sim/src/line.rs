//! Waiting clients in order of arrival: nobody may be overtaken, or left waiting while its key has elements.

/// The key prefix for waits on a sorted set.
pub(crate) const SORTED: &str = "sorted set ";

/// A blocked client.
struct Place {
    client: usize,
    keys: Vec<String>,
    is_waiting: Box<dyn Fn() -> bool>,
    was_waiting: bool,
    /// Keys that earlier arrivals were still waiting for when its wait ended.
    passed: Vec<String>,
}

/// The blocked clients of a life, in order of arrival.
#[derive(Default)]
pub(crate) struct Line {
    places: Vec<Place>,
}

impl Line {
    /// Records that a client begins to wait for any of `keys`.
    pub(crate) fn join(&mut self, client: usize, keys: Vec<String>, is_waiting: Box<dyn Fn() -> bool>) {
        self.places.push(Place { client, keys, is_waiting, was_waiting: true, passed: Vec::new() });
    }

    pub(crate) fn has(&self, client: usize) -> bool {
        self.places.iter().any(|place| place.client == client)
    }

    /// Records whose wait has ended since the last call; called after every step of the world.
    pub(crate) fn look(&mut self) {
        let ended: Vec<usize> = (0..self.places.len())
            .filter(|&at| self.places[at].was_waiting && !(self.places[at].is_waiting)())
            .collect();
        for &at in &ended {
            self.places[at].was_waiting = false;
        }
        for at in ended {
            let (earlier, rest) = self.places.split_at_mut(at);
            let place = &mut rest[0];
            let waits = |key: &&String| earlier.iter().any(|other| other.was_waiting && other.keys.contains(key));
            place.passed = place.keys.iter().filter(waits).cloned().collect();
        }
    }

    /// Records that a client's wait ended with an element of the key `got`.
    pub(crate) fn leave(&mut self, client: usize, got: Option<&str>) {
        self.look();
        let Some(at) = self.places.iter().position(|place| place.client == client) else { return };
        let place = self.places.remove(at);
        let is_passed = got.is_some_and(|key| place.passed.iter().any(|passed| passed == key));
        assert!(!is_passed, "client {client} was served from {got:?} before another that had come earlier");
    }

    /// Returns the keys that have waiters.
    pub(crate) fn keys(&self) -> Vec<String> {
        let waiting = self.places.iter().filter(|place| place.was_waiting && (place.is_waiting)());
        let mut keys: Vec<String> = waiting.flat_map(|place| place.keys.iter().cloned()).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}
