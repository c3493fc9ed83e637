use std::collections::HashMap;

use super::*;
use crate::pace::unwatched;

fn counted(frame: CountInput, limit: usize, work: u64) -> (CountTable, usize, bool) {
    unwatched(|pace| CountTable::until_enough(frame, limit, work, pace))
}

/// The recursion of [`super::super`] as it is written there.
struct Naive<'a> {
    frame: &'a CountInput,
    known: HashMap<(usize, Room), i16>,
}

impl Naive<'_> {
    fn count(&mut self, t: usize, room: Room) -> i16 {
        if let Some(&count) = self.known.get(&(t, room)) {
            return count;
        }
        let mut best = 1;
        for (level, price) in self.frame.price.into_iter().enumerate() {
            if t < price.total {
                continue;
            }
            for (a, b) in self.shares(level, room) {
                let sum = self.count(t - price.send, a) + self.count(t - price.total, b);
                best = best.max(sum);
            }
        }
        best = best.min(self.frame.enough);
        self.known.insert((t, room), best);
        best
    }

    /// All ways to share room after a message of a level.
    fn shares(&self, level: usize, room: Room) -> Vec<(Room, Room)> {
        let mut all = vec![(room, self.frame.size.map(|m| m - 1))];
        for at in level..GROUPINGS {
            let mut next = Vec::new();
            for (a, b) in all {
                for share in 0..room[at] {
                    let (mut a, mut b) = (a, b);
                    a[at] = share;
                    b[at] = room[at] - 1 - share;
                    next.push((a, b));
                }
            }
            all = next;
        }
        all
    }
}

#[test]
fn tables_are_the_recursion() {
    let mut rng = fastrand::Rng::with_seed(8);
    let mut random = |below: u64| rng.u64(..below);
    for case in 0..60 {
        let inner = if case % 3 == 0 { 1 + random(2) } else { 1 } as usize;
        let middle = inner * (1 + random(3)) as usize;
        let outer = middle + random(14) as usize;
        let size = [inner, middle, outer];
        let first = size.map(|m| random(m as u64) as usize);
        let mut price = [TimeSteps::NEVER; GROUPINGS + 1];
        for (level, price) in price.iter_mut().enumerate() {
            if level == GROUPINGS || size[level] > 1 {
                let send = 1 + random(4) as usize;
                let total = send + random(9) as usize;
                *price = TimeSteps { send, total };
            }
        }
        let frame = CountInput {
            size,
            price,
            enough: 20 + random(40) as i16,
            first,
        };
        let (table, time, whole) = counted(frame.clone(), 1000, u64::MAX);
        assert!(whole);
        let mut naive = Naive {
            frame: &frame,
            known: HashMap::new(),
        };
        assert!(naive.count(time, first) >= frame.enough);
        assert!(time == 0 || naive.count(time - 1, first) < frame.enough);
        for t in 0..=time {
            for k in 0..size.iter().product() {
                let room = [k % size[0], k / size[0] % size[1], k / size[0] / size[1]];
                assert_eq!(
                    table.at(t, room),
                    naive.count(t, room),
                    "{frame:?} {t} {room:?}"
                );
            }
        }
    }
}

#[test]
fn little_work_rules_out_less() {
    let price = [(1, 2), (1, 3), (2, 5), (3, 9)].map(|(send, total)| TimeSteps { send, total });
    let size = [4, 12, 30];
    let frame = CountInput {
        size,
        price,
        enough: 240,
        first: size.map(|m| m - 1),
    };
    let (_, all, whole) = counted(frame.clone(), 1000, u64::MAX);
    assert!(whole);
    let mut last = 0;
    for work in [0, 1000, 100_000] {
        let (_, time, whole) = counted(frame.clone(), 1000, work);
        assert!(
            !whole && time >= last && time < all,
            "{work}: {time} of {all}"
        );
        last = time;
    }
}
