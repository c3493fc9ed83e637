//! The search for an order of calls that a sequential model explains.
//!
//! The events of a history are a list in the order of their times. The search takes a call off the list whose beginning
//! stands before the first end, if the model answers as it was answered; and goes back to the last choice where the first
//! event is an end, since that call should have been taken before.
//!
//! Two ways that took the same calls to the same state have the same future, so each pair of a set of calls and a state is
//! tried once. Calls that never returned have no end; the search has succeeded when only such are left.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Debug;
use std::hash::Hash;

/// A sequential structure, as the calls of a history should see it.
pub trait Model {
    /// What a call asks for.
    type Request;
    /// What it is answered.
    type Response;
    /// The structure.
    type State: Clone + Eq + Hash + Default;
    /// What the parts of a history are told apart by, such as a key.
    type Part: Ord;

    /// The part that a request belongs to: requests of different parts must not depend on each other.
    fn part(request: &Self::Request) -> Self::Part;

    /// The state after a call, or `None` if the call could not have been answered so. A call that never returned has no
    /// response; it can always take effect.
    fn apply(
        state: &Self::State,
        request: &Self::Request,
        response: Option<&Self::Response>,
    ) -> Option<Self::State>;
}

/// A call of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call<Q, R> {
    /// The client that called. It is for readers alone.
    pub client: u64,
    /// When the call began, on a clock that all clients share.
    pub begin: u64,
    /// When it returned, and with what; `None` if it never did.
    pub returned: Option<(u64, R)>,
    /// What it asked for.
    pub request: Q,
}

/// A history that is not linearizable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "not linearizable: of {} calls of one part at most {} have an order, and call {stuck} of the history, which had to come next, \
     fits nowhere",
    .calls.len(), .explained.len()
)]
pub struct Counterexample {
    /// The calls of the part, by their places in the history.
    pub calls: Vec<usize>,
    /// The longest order that was found, by places in the history.
    pub explained: Vec<usize>,
    /// The call that returned before any other one that is left begins, by its place in the history.
    pub stuck: usize,
}

/// Looks for an order of all calls that explains their answers.
///
/// # Errors
///
/// There is none: one part of the history for which that is so.
///
/// # Panics
///
/// If a call ends before it begins.
///
/// # Cost
///
/// A part of `n` calls of which at most `c` overlap takes about `n` steps if answers leave little choice, and up to
/// `n · 2^c` if they do not: `n²` bits of memory at least where an order exists.
///
/// # Examples
///
/// ```
/// use corecast_agree::linearizability::{Call, Registers, Request, check};
///
/// let call = |begin, request, returned| Call { client: 0, begin, request, returned };
/// let set = call(0, Request::set(b"k", b"new"), Some((5, None)));
/// let seen = call(1, Request::get(b"k"), Some((2, Some(b"new".to_vec()))));
/// let missed = call(3, Request::get(b"k"), Some((4, None)));
/// assert!(check::<Registers>(&[set.clone(), seen.clone()]).is_ok());
/// let why = check::<Registers>(&[set, seen, missed]).unwrap_err();
/// assert_eq!(why.stuck, 2, "it began after the set had been seen");
/// ```
pub fn check<M: Model>(history: &[Call<M::Request, M::Response>]) -> Result<(), Counterexample> {
    let mut parts: BTreeMap<M::Part, Vec<usize>> = BTreeMap::new();
    for (place, call) in history.iter().enumerate() {
        let returned = call.returned.as_ref();
        assert!(
            returned.is_none_or(|(end, _)| *end >= call.begin),
            "call {place} ends before it begins"
        );
        parts.entry(M::part(&call.request)).or_default().push(place);
    }
    let checked = parts
        .into_values()
        .map(|calls| check_part::<M>(history, calls));
    checked.into_iter().collect()
}

/// An event: the beginning or the end of a call of a part.
#[derive(Clone, Copy)]
struct Event {
    /// The call's number in its part.
    call: usize,
    is_end: bool,
}

/// The events that are left, as a list that is linked by places; the last place is before the first event.
struct Events {
    events: Vec<Event>,
    next: Vec<usize>,
    before: Vec<usize>,
    /// The places of each call's beginning and end.
    places: Vec<(usize, Option<usize>)>,
}

impl Events {
    fn new<Q, R>(history: &[Call<Q, R>], calls: &[usize]) -> Self {
        let mut times = Vec::new();
        for (call, &place) in calls.iter().enumerate() {
            times.push((history[place].begin, false, call));
            if let Some((end, _)) = history[place].returned {
                times.push((end, true, call));
            }
        }
        // At the same time beginnings come first: such calls overlap.
        times.sort_unstable();
        let count = times.len();
        let mut places = vec![(0, None); calls.len()];
        for (place, &(_, is_end, call)) in times.iter().enumerate() {
            match is_end {
                false => places[call].0 = place,
                true => places[call].1 = Some(place),
            }
        }
        let events = times
            .iter()
            .map(|&(_, is_end, call)| Event { call, is_end });
        Self {
            events: events.collect(),
            next: (0..=count).map(|place| (place + 1) % (count + 1)).collect(),
            before: (0..=count)
                .map(|place| (place + count) % (count + 1))
                .collect(),
            places,
        }
    }

    /// The place before the first event.
    fn head(&self) -> usize {
        self.events.len()
    }

    fn unlink(&mut self, place: usize) {
        let (before, next) = (self.before[place], self.next[place]);
        self.next[before] = next;
        self.before[next] = before;
    }

    fn link(&mut self, place: usize) {
        let (before, next) = (self.before[place], self.next[place]);
        self.next[before] = place;
        self.before[next] = place;
    }

    fn take(&mut self, call: usize) {
        let (begin, end) = self.places[call];
        self.unlink(begin);
        if let Some(end) = end {
            self.unlink(end);
        }
    }

    /// Undoes `take`, in reverse order.
    fn put_back(&mut self, call: usize) {
        let (begin, end) = self.places[call];
        if let Some(end) = end {
            self.link(end);
        }
        self.link(begin);
    }
}

/// A set of calls, by their numbers in a part.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Calls(Box<[u64]>);

impl Calls {
    fn none(of: usize) -> Self {
        Self(vec![0; of.div_ceil(64)].into())
    }

    fn flip(&mut self, call: usize) {
        self.0[call / 64] ^= 1 << (call % 64);
    }
}

fn check_part<M: Model>(
    history: &[Call<M::Request, M::Response>],
    calls: Vec<usize>,
) -> Result<(), Counterexample> {
    let mut events = Events::new(history, &calls);
    let mut left = calls
        .iter()
        .filter(|&&place| history[place].returned.is_some())
        .count();
    let mut state = M::State::default();
    let mut taken = Calls::none(calls.len());
    let mut seen: HashSet<(Calls, M::State)> = HashSet::new();
    let mut order: Vec<(usize, M::State)> = Vec::new();
    let mut longest: Option<(Vec<usize>, usize)> = None;
    let mut place = events.next[events.head()];
    while left > 0 {
        // An end comes before the list does, as a call that has returned is left.
        let Event { call, is_end } = events.events[place];
        if !is_end {
            let Call {
                request, returned, ..
            } = &history[calls[call]];
            let response = returned.as_ref().map(|(_, response)| response);
            let after = M::apply(&state, request, response).filter(|after| {
                taken.flip(call);
                let is_new = seen.insert((taken.clone(), after.clone()));
                if !is_new {
                    taken.flip(call);
                }
                is_new
            });
            match after {
                None => place = events.next[place],
                Some(after) => {
                    events.take(call);
                    left -= usize::from(response.is_some());
                    order.push((call, std::mem::replace(&mut state, after)));
                    place = events.next[events.head()];
                }
            }
            continue;
        }
        // A call that has ended should have been taken: the last choice was wrong.
        if longest
            .as_ref()
            .is_none_or(|(explained, _)| explained.len() < order.len())
        {
            let explained = order.iter().map(|(call, _)| calls[*call]).collect();
            longest = Some((explained, calls[call]));
        }
        let Some((call, before)) = order.pop() else {
            let (explained, stuck) = longest.expect("it was set above");
            return Err(Counterexample {
                calls,
                explained,
                stuck,
            });
        };
        state = before;
        taken.flip(call);
        events.put_back(call);
        left += usize::from(events.places[call].1.is_some());
        place = events.next[events.places[call].0];
    }
    Ok(())
}
