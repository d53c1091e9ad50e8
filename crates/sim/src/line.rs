//! Who waits for which key, in order of arrival: nobody may be passed over, or left waiting beside what he waits for.

/// Stands before the name of a key that is waited for as a sorted set.
pub(crate) const SORTED: &str = "sorted set ";

/// A blocked client.
struct Place {
    client: usize,
    keys: Vec<String>,
    is_waiting: Box<dyn Fn() -> bool>,
    was_waiting: bool,
    /// Keys for which others waited, and had come earlier, when it waited no more.
    passed: Vec<String>,
}

/// The blocked clients of a life, first come first.
#[derive(Default)]
pub(crate) struct Line {
    places: Vec<Place>,
}

impl Line {
    /// A client begins to wait for any of `keys`.
    pub(crate) fn join(&mut self, client: usize, keys: Vec<String>, is_waiting: Box<dyn Fn() -> bool>) {
        self.places.push(Place { client, keys, is_waiting, was_waiting: true, passed: Vec::new() });
    }

    pub(crate) fn has(&self, client: usize) -> bool {
        self.places.iter().any(|place| place.client == client)
    }

    /// Notes whose wait has ended since the last look; looked at after every step of the world.
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

    /// The client waits no more; it got an element of the key `got`.
    pub(crate) fn leave(&mut self, client: usize, got: Option<&str>) {
        self.look();
        let Some(at) = self.places.iter().position(|place| place.client == client) else { return };
        let place = self.places.remove(at);
        let is_passed = got.is_some_and(|key| place.passed.iter().any(|passed| passed == key));
        assert!(!is_passed, "client {client} was served from {got:?} before another that had come earlier");
    }

    /// Keys for which somebody waits.
    pub(crate) fn keys(&self) -> Vec<String> {
        let waiting = self.places.iter().filter(|place| place.was_waiting && (place.is_waiting)());
        let mut keys: Vec<String> = waiting.flat_map(|place| place.keys.iter().cloned()).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}
