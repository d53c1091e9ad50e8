//! Elements drawn at random: what HRANDFIELD, SRANDMEMBER, SPOP and ZRANDMEMBER have in common.
//!
//! ```text
//! with repetition         places, as many as asked for
//! few, each once          places first, until enough are different
//! many, each once         one walk over all places, on which each is drawn with the chance that is left to it
//! ```
//!
//! What is long is told from a clone, in steps, without the lock: a count below 0 knows no bounds.

use base::random::Random;
use keyspace::Pin;
use std::collections::HashSet;
use wire::{More, Reply, SOURCE_STEP_BYTES, Source};

/// What is drawn from: a clone of elements in an order, in which each has a place.
pub(crate) trait Drawable: Send + 'static {
    /// Number of places.
    fn places(&self) -> u64;

    /// How many elements are to be had; the others have expired.
    fn live(&self) -> u64 {
        self.places()
    }

    /// Whether the one at a place is.
    fn is_live(&self, place: u64) -> bool {
        let _ = place;
        true
    }

    /// Replies the one at a place; about how many bytes that are.
    fn tell(&self, place: u64, reply: &mut dyn Reply) -> usize;

    /// Bytes of memory.
    fn heap_bytes(&self) -> u64;
}

/// How the next place is found.
enum Way {
    /// Whatever was drawn before.
    Again,
    /// These, from the last one on.
    These(Vec<u64>),
    /// Those from one on, of which so many are live and still to come.
    Walk { at: u64, live_left: u64 },
    /// Those from one on; the first follows the last.
    Around { at: u64 },
    /// One of these, whatever was drawn before: where most have expired.
    Listed(Vec<u64>),
}

/// So many places are drawn before the first element is told, at most.
const PLACES_MAX: u64 = 512;
/// Of so many places those that are drawn are found on a walk, where most of them are.
const WALKED_MAX: u64 = 2 * PLACES_MAX;
/// Where no more than one in so many is live, the live ones are listed first.
const LISTED_SHARE: u64 = 16;
/// Work of one step, in places passed: some 100 µs.
const STEP_WORK: u64 = 4096;
/// What it costs to look at an element, in places passed.
const LOOK_WORK: u64 = 16;
/// About what headers take for each element, in bytes.
const HEADER_BYTES: usize = 16;

/// A draw under way.
pub(crate) struct RandomDraw<E> {
    elements: E,
    random: Random,
    left: u64,
    way: Way,
    pin: Option<Pin>,
}

impl<E: Drawable> RandomDraw<E> {
    /// Draws as Redis counts: below 0 with repetition, else each once, and no more than there are.
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

    /// Tells those at these places.
    pub(crate) fn these(elements: E, mut places: Vec<u64>, random: Random) -> Self {
        places.reverse();
        Self { elements, random, left: places.len() as u64, way: Way::These(places), pin: None }
    }

    /// Tells `count` from a place on, and from the first on behind the last.
    pub(crate) fn around(elements: E, first: u64, count: u64, random: Random) -> Self {
        Self { elements, random, left: count, way: Way::Around { at: first }, pin: None }
    }

    /// How many are still to be told.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    /// Begins to tell, under the lock; the rest follows without it.
    pub(crate) fn tell(mut self, reply: &mut dyn Reply, pin: impl FnOnce() -> Pin) {
        if self.next(reply) != More::Done {
            self.pin = Some(pin());
            reply.stream(Box::new(self));
        }
    }

    /// A place that may be drawn, and whether it is.
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

/// So many different live places, which are to be had by drawing.
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

/// So many different live places, in their order.
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

/// So many different places, in their order; for what stays under the lock.
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
                bytes_left = bytes_left.saturating_sub(self.elements.tell(place, reply) + HEADER_BYTES);
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
