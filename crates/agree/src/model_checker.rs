//! A small explicit-state model checker: all states that actions lead to, breadth first, so a counterexample is a shortest one.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::rc::Rc;

/// What is explored.
pub(crate) trait Model {
    type State: Clone + Hash;
    type Action: Copy;
    fn start(&self) -> Self::State;
    /// The actions that are possible; those that change nothing cost time alone.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);
    /// Takes an action, and says which invariant it broke.
    fn apply(&self, state: &mut Self::State, action: &Self::Action) -> Result<(), String>;
    /// An action in words.
    fn told(&self, action: &Self::Action) -> String;
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Explored {
    pub(crate) states: usize,
    /// Steps to the state that is farthest away.
    pub(crate) depth: usize,
    pub(crate) broken: Option<Counterexample>,
}

impl Explored {
    /// The number of states within these bounds, all of which must keep the invariants.
    #[track_caller]
    pub(crate) fn states_of_all(self, bounds: &impl fmt::Debug) -> usize {
        let Self {
            states,
            depth,
            broken,
        } = self;
        println!("{bounds:?}: {states} states, up to {depth} steps");
        assert!(broken.is_none(), "{bounds:?}: {broken:#?}");
        states
    }
}

/// A shortest way to a state that must not be.
#[derive(Debug)]
pub(crate) struct Counterexample {
    pub(crate) invariant: String,
    pub(crate) actions: Vec<String>,
}

/// Explores until an invariant is broken, or all states are known.
///
/// # Panics
///
/// There are more than `states_max` states: then the bounds of the model are too wide to prove anything.
pub(crate) fn explore<M: Model>(model: &M, states_max: usize) -> Explored {
    let start = model.start();
    let mut seen: HashSet<u64, BuildHasherDefault<Identity>> = HashSet::default();
    seen.insert(digest(&start));
    // For each state the one before, and which of its actions led here.
    let mut origins = vec![(0, 0)];
    let (mut frontier, mut depth) = (vec![(0, start)], 0);
    let mut actions = Vec::new();
    while !frontier.is_empty() {
        let mut reached = Vec::new();
        for (number, state) in &frontier {
            actions.clear();
            model.actions(state, &mut actions);
            for (place, action) in actions.iter().copied().enumerate() {
                let mut next = state.clone();
                let result = model.apply(&mut next, &action);
                if let Err(invariant) = result {
                    let mut actions = way(model, &origins, *number);
                    actions.push(model.told(&action));
                    return Explored {
                        states: seen.len(),
                        depth: depth + 1,
                        broken: Some(Counterexample { invariant, actions }),
                    };
                }
                if seen.insert(digest(&next)) {
                    assert!(
                        seen.len() <= states_max,
                        "over {states_max} states, {depth} steps away"
                    );
                    reached.push((origins.len(), next));
                    origins.push((*number, place));
                }
            }
        }
        frontier = reached;
        depth += usize::from(!frontier.is_empty());
    }
    Explored {
        states: seen.len(),
        depth,
        broken: None,
    }
}

/// The actions that led to a state.
fn way<M: Model>(model: &M, origins: &[(usize, usize)], mut number: usize) -> Vec<String> {
    let mut places = Vec::new();
    while number != 0 {
        places.push(origins[number].1);
        number = origins[number].0;
    }
    let mut state = model.start();
    let mut told = Vec::new();
    for place in places.into_iter().rev() {
        let mut actions = Vec::new();
        model.actions(&state, &mut actions);
        told.push(model.told(&actions[place]));
        model
            .apply(&mut state, &actions[place])
            .expect("an earlier state broke nothing");
    }
    told
}

/// Values by number, each once: states of many parts are made of numbers, which are soon copied, compared and hashed.
#[derive(Debug)]
pub(crate) struct Interned<T> {
    values: Vec<Rc<T>>,
    numbers: HashMap<Rc<T>, u16, Hashed>,
}

impl<T: Eq + Hash> Interned<T> {
    pub(crate) fn new() -> Self {
        Self {
            values: Vec::new(),
            numbers: HashMap::default(),
        }
    }

    pub(crate) fn number(&mut self, value: T) -> u16 {
        if let Some(number) = self.numbers.get(&value) {
            return *number;
        }
        let number = u16::try_from(self.values.len()).expect("at most 65,536 values of a part");
        let value = Rc::new(value);
        self.values.push(Rc::clone(&value));
        self.numbers.insert(value, number);
        number
    }

    pub(crate) fn value(&self, number: u16) -> Rc<T> {
        Rc::clone(&self.values[usize::from(number)])
    }
}

/// A set of interned values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct NumberSet([u64; 8]);

impl NumberSet {
    pub(crate) fn insert(&mut self, number: u16) {
        let word = usize::from(number / 64);
        assert!(word < self.0.len(), "more than 512 values in a set");
        self.0[word] |= 1 << (number % 64);
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = u16> {
        (0..).zip(self.0).flat_map(|(place, mut word)| {
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros() as u16);
                word &= word.wrapping_sub(1);
                bit.map(|bit| 64 * place + bit)
            })
        })
    }
}

/// Hashes by [`Folded`].
pub(crate) type Hashed = BuildHasherDefault<Folded>;

/// States are told apart by 64 bits: among 10 million two share them with a probability of 3 in a million.
fn digest(state: &impl Hash) -> u64 {
    let mut hasher = Folded::default();
    state.hash(&mut hasher);
    hasher.finish()
}

/// Multiplies to 128 bits and folds the halves, which mixes small numbers well.
pub(crate) struct Folded(u64);

impl Default for Folded {
    fn default() -> Self {
        Self(0x243f_6a88_85a3_08d3)
    }
}

impl Hasher for Folded {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
        self.write_u64(bytes.len() as u64);
    }

    fn write_u16(&mut self, word: u16) {
        self.write_u64(word.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_u8(&mut self, word: u8) {
        self.write_u64(word.into());
    }

    fn write_u64(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word) * 0x9e37_79b9_7f4a_7c15;
        self.0 = (product as u64).rotate_left(23) ^ (product >> 64) as u64;
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }
}

/// Digests are mixed already.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("digests are words");
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = word;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two counters to 3, of which no two may be 3 and 2.
    struct Counters {
        allowed: bool,
    }

    impl Model for Counters {
        type State = [u8; 2];
        type Action = usize;

        fn start(&self) -> [u8; 2] {
            [0, 0]
        }

        fn actions(&self, state: &[u8; 2], actions: &mut Vec<usize>) {
            actions.extend((0..2).filter(|place| state[*place] < 3));
        }

        fn apply(&self, state: &mut [u8; 2], action: &usize) -> Result<(), String> {
            state[*action] += 1;
            let broken = !self.allowed && *state == [3, 2];
            if broken {
                Err("3 and 2".to_owned())
            } else {
                Ok(())
            }
        }

        fn told(&self, action: &usize) -> String {
            action.to_string()
        }
    }

    #[test]
    fn all_states_are_reached_and_the_shortest_way_is_told() {
        let all = explore(&Counters { allowed: true }, 16);
        assert_eq!((all.states, all.depth), (16, 6));
        assert!(all.broken.is_none());
        let broken = explore(&Counters { allowed: false }, 16).broken.unwrap();
        assert_eq!(broken.actions.len(), 5);
        assert_eq!(broken.actions.iter().filter(|it| *it == "0").count(), 3);
    }

    #[test]
    fn digests_of_small_states_differ() {
        let mut seen = HashSet::new();
        for a in 0..200_u8 {
            for b in 0..200_u64 {
                for c in 0..25_usize {
                    seen.insert(digest(&(a, b, vec![c])));
                }
            }
        }
        assert_eq!(seen.len(), 200 * 200 * 25);
    }
}
