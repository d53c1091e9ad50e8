//! Random elements: common code of HRANDFIELD, SRANDMEMBER, SPOP and ZRANDMEMBER.
//!
//! ```text
//! with repetition         as many positions as requested
//! few, each once          positions first, until enough are distinct
//! many, each once         one walk over all positions, each drawn with the remaining probability
//! ```
//!
//! Long replies are sent from a clone, in steps, without the lock: a negative count has no bound.

use base::random::Random;
use keyspace::Pin;
use std::collections::HashSet;
use wire::{More, Reply, SOURCE_STEP_BYTES, Source};

/// A source of draws: a clone of elements in order, each with a position.
pub(crate) trait Drawable: Send + 'static {
    /// Returns the number of positions.
    fn places(&self) -> u64;

    /// Returns the number of live elements; the others have expired.
    fn live(&self) -> u64 {
        self.places()
    }

    /// Returns true if the element at a position is live.
    fn is_live(&self, place: u64) -> bool {
        let _ = place;
        true
    }

    /// Replies with the element at a position; returns roughly how many bytes that took.
    fn write(&self, place: u64, reply: &mut dyn Reply) -> usize;

    /// Returns its memory in bytes.
    fn heap_bytes(&self) -> u64;
}

/// The way to choose the next position.
enum Way {
    /// With repetition.
    Again,
    /// These, last one first.
    These(Vec<u64>),
    /// A walk from a position on, with this many live elements left.
    Walk { at: u64, live_left: u64 },
    /// All from a position on, wrapping around.
    Around { at: u64 },
    /// One of these, with repetition: used if most have expired.
    Listed(Vec<u64>),
}

/// The maximum number of positions drawn before the first element is sent.
const PLACES_MAX: u64 = 512;
/// Maximum number of positions for which a walk is used, if most of them are drawn.
const WALKED_MAX: u64 = 2 * PLACES_MAX;
/// If at most one in this many is live, the live ones are listed first.
const LISTED_SHARE: u64 = 16;
/// The work of one step, in positions passed: about 100 µs.
const STEP_WORK: u64 = 4096;
/// The cost of reading an element, in positions passed.
const LOOK_WORK: u64 = 16;
/// The approximate size of the headers of each element, in bytes.
const HEADER_BYTES: usize = 16;

/// A draw in progress.
pub(crate) struct RandomDraw<E> {
    elements: E,
    random: Random,
    left: u64,
    way: Way,
    pin: Option<Pin>,
}

impl<E: Drawable> RandomDraw<E> {
    /// Draws `count` elements as Redis does: negative with repetition, else each at most once.
    pub(crate) fn of(elements: E, count: i64, random: Random) -> Self {
        match u64::try_from(count) {
            Ok(count) => Self::once(elements, count, random),
            Err(_) => Self::again(elements, count.unsigned_abs(), random),
        }
    }

    fn again(elements: E, count: u64, random: Random) -> Self {
        let way = match elements.live() <= elements.places() / LISTED_SHARE {
            true => Way::Listed((0..elements.places()).filter(|place| elements.is_live(*place)).collect()),
            false => Way::Again,
        };
        Self { elements, random, left: count, way, pin: None }
    }

    fn once(elements: E, count: u64, mut random: Random) -> Self {
        let (len, live) = (elements.places(), elements.live());
        let count = count.min(live);
        let is_easily_met = live > len / LISTED_SHARE && count <= live / 3 + 1;
        let way = if count <= PLACES_MAX && (is_easily_met || len <= WALKED_MAX) {
            let mut places = match is_easily_met {
                true => met(&elements, count, &mut random),
                false => walked(&elements, count, &mut random),
            };
            for last in (1..places.len()).rev() {
                places.swap(last, random.below(last as u64 + 1) as usize);
            }
            Way::These(places)
        } else {
            Way::Walk { at: 0, live_left: live }
        };
        Self { elements, random, left: count, way, pin: None }
    }

    /// Replies with the elements at these positions.
    pub(crate) fn these(elements: E, mut places: Vec<u64>, random: Random) -> Self {
        places.reverse();
        Self { elements, random, left: places.len() as u64, way: Way::These(places), pin: None }
    }

    /// Replies with `count` elements from a position on, wrapping around.
    pub(crate) fn around(elements: E, first: u64, count: u64, random: Random) -> Self {
        Self { elements, random, left: count, way: Way::Around { at: first }, pin: None }
    }

    /// Returns how many are still to be sent.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Starts the reply under the lock; the rest follows without it.
    pub(crate) fn write(mut self, reply: &mut dyn Reply, pin: impl FnOnce() -> Pin) {
        if self.next(reply) != More::Done {
            self.pin = Some(pin());
            reply.stream(Box::new(self));
        }
    }

    /// Returns a candidate position, and whether it is drawn.
    fn next_place(&mut self) -> (u64, bool) {
        let Self { elements, random, left, way, .. } = self;
        match way {
            Way::Again => {
                let place = random.below(elements.places());
                (place, elements.is_live(place))
            }
            Way::These(places) => (places.pop().expect("as many as are left"), true),
            Way::Around { at } => {
                let place = *at;
                *at = if place + 1 == elements.places() { 0 } else { place + 1 };
                (place, true)
            }
            Way::Listed(places) => (places[random.below(places.len() as u64) as usize], true),
            Way::Walk { at, live_left } => {
                let place = *at;
                *at += 1;
                let is_drawn = elements.is_live(place) && {
                    *live_left -= 1;
                    random.below(*live_left + 1) < *left
                };
                (place, is_drawn)
            }
        }
    }
}

/// Returns this many distinct live positions, by drawing until there are enough.
fn met(elements: &impl Drawable, count: u64, random: &mut Random) -> Vec<u64> {
    let (mut seen, mut places) = (HashSet::new(), Vec::new());
    while (places.len() as u64) < count {
        let place = random.below(elements.places());
        if elements.is_live(place) && seen.insert(place) {
            places.push(place);
        }
    }
    places
}

/// Returns this many distinct live positions, in order.
fn walked(elements: &impl Drawable, count: u64, random: &mut Random) -> Vec<u64> {
    let mut live_left = elements.live();
    let mut left = count;
    let mut is_drawn = |place: &u64| {
        let is_drawn = elements.is_live(*place) && {
            live_left -= 1;
            random.below(live_left + 1) < left
        };
        left -= u64::from(is_drawn);
        is_drawn
    };
    (0..elements.places()).filter(|place| is_drawn(place)).collect()
}

/// Returns this many distinct positions, in order; for commands that stay under the lock.
pub(crate) fn places(elements: &impl Drawable, count: u64, random: &mut Random) -> Vec<u64> {
    if count > elements.places() / 8 {
        return walked(elements, count, random);
    }
    let mut places = met(elements, count, random);
    places.sort_unstable();
    places
}

impl<E: Drawable> Source for RandomDraw<E> {
    fn next(&mut self, reply: &mut dyn Reply) -> More {
        let (mut bytes_left, mut work_left) = (SOURCE_STEP_BYTES, STEP_WORK);
        let has_dead = self.elements.live() < self.elements.places();
        while self.left > 0 && bytes_left > 0 && work_left > 0 {
            let (place, is_drawn) = self.next_place();
            if is_drawn {
                self.left -= 1;
                bytes_left = bytes_left.saturating_sub(self.elements.write(place, reply) + HEADER_BYTES);
            }
            work_left = work_left.saturating_sub(if is_drawn || has_dead { LOOK_WORK } else { 1 });
        }
        match () {
            () if self.left == 0 => More::Done,
            () if work_left < STEP_WORK / 2 => More::Rest,
            () => More::Follows,
        }
    }

    fn pinned_bytes(&self) -> u64 {
        self.pin.as_ref().map_or(0, |pin| pin.bytes(self.elements.heap_bytes()))
    }
}
