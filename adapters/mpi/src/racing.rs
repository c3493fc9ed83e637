//! Layer 2: one race between a team and the library: whose turn a call is, what of it is timed, and who has won.
//!
//! Programs call in two manners, and one contestant may be faster in the one and slower in the other: where calls follow each other
//! closely those of an operation in which some ranks only send overlap, and where a program computes in between they do not. So a
//! race has blocks of both kinds, in rounds:
//!
//! | block | ranks meet in a barrier before | what is timed |
//! | --- | --- | --- |
//! | *apart*, for the team and for the library | each call | each call but the first one, which has to do with what the block before left behind |
//! | *close*, for the team and for the library | the first call | from the beginning of a call on to the end of the last one, with all that the program does in between |
//!
//! The program itself says which manner is its own: its calls are close if a block of them takes about as long as its calls do
//! apart. Nothing else is compared with a length of time. Long data are raced apart only, as one call takes as long as many
//! short ones.

use std::time::{Duration, Instant};

/// From this length on data are long.
pub(crate) const LONG: usize = 256 << 10;
/// Up to this length data are short: their calls are so too, and only many of them in a row show how they overlap.
const SHORT: usize = 4 << 10;

/// How long a race is.
#[derive(Debug)]
struct Schedule {
    /// Calls in one block of calls that are apart.
    apart: u32,
    /// Calls in one block of calls that are close, and how many of them come before the clock starts.
    close: u32,
    before: u32,
    /// After so many rounds the ranks compare, and decide if the one takes so many times as long as the other.
    looks: &'static [(u32, f64)],
}

/// Rounds of blocks that are apart alone, before the first look: where one contestant is far behind, many calls in a row would take
/// it very long, as with more ranks than cores by a library that never yields.
const FIRST: u32 = 2;
const LOOKS: &[(u32, f64)] = &[(2, 8.0), (4, 2.0), (5, 1.3), (7, 1.0)];

static SCHEDULES: [Schedule; 3] = [
    Schedule {
        apart: 5,
        close: 64,
        before: 16,
        looks: LOOKS,
    },
    Schedule {
        apart: 5,
        close: 16,
        before: 4,
        looks: LOOKS,
    },
    Schedule {
        apart: 3,
        close: 0,
        before: 0,
        looks: &[(2, 2.0), (4, 1.3), (7, 1.0)],
    },
];

/// Calls are close if, on the team and by the library, one takes at most so many times as long as one apart, with what the program
/// does in between.
const CLOSELY: f64 = 2.0;

/// The library is chosen where it takes at most this part of the team's time. What cannot be told apart stays with the team.
const CLEARLY: f64 = 0.97;

/// What a call of a race does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) on_team: bool,
    /// Whether ranks meet in a barrier before it.
    pub(crate) meets: bool,
    pub(crate) timed: Timed,
}

impl Step {
    /// One of many calls in a row, of which nothing is known but who runs it.
    fn between(on_team: bool) -> Self {
        Self {
            on_team,
            meets: false,
            timed: Timed::No,
        }
    }
}

/// Which time is noted after a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timed {
    /// None.
    No,
    /// How long it takes, from after the barrier on.
    Call,
    /// How long it is since then, when it has ended.
    Since(Instant),
}

/// Seconds a call, of each kind of block, on the team and by the library.
pub(crate) type Times = [f64; 4];

/// A race that is not decided.
#[derive(Debug)]
pub(crate) struct Racing {
    schedule: &'static Schedule,
    /// The place of the next call.
    next: Place,
    /// The place of the call before.
    last: Place,
    /// Of each block that has ended, in the order of [`Times`].
    times: [Vec<f64>; 4],
    /// Seconds of the calls of the current block.
    sum: f64,
    /// When the clock was started in the current block.
    began: Option<Instant>,
    /// So many calls from now on are between those that do something else than to run, for the team or not.
    between: u32,
    on_team: bool,
}

/// A call of a race.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    round: u32,
    /// As [`Times`] counts blocks.
    block: usize,
    /// Its place in the block.
    within: u32,
}

impl Place {
    fn is_close(self) -> bool {
        self.block >= 2
    }
}

impl Racing {
    /// A race of calls with so many bytes.
    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            schedule: match bytes {
                _ if bytes < SHORT => &SCHEDULES[0],
                _ if bytes < LONG => &SCHEDULES[1],
                _ => &SCHEDULES[2],
            },
            next: Place::default(),
            last: Place::default(),
            times: Default::default(),
            sum: 0.0,
            began: None,
            between: 0,
            on_team: true,
        }
    }

    /// Goes on by so many places of one block.
    fn advance(&mut self, calls_on: u32) {
        let (place, schedule) = (&mut self.next, self.schedule);
        let calls = match place.is_close() {
            true => schedule.close,
            false => schedule.apart,
        };
        place.within += calls_on;
        if place.within < calls {
            return;
        }
        place.within = 0;
        place.block += 1;
        let blocks = match place.round < FIRST || schedule.close == 0 {
            true => 2,
            false => 4,
        };
        if place.block == blocks {
            place.block = 0;
            place.round += 1;
        }
    }

    /// What the next call does, if it is one between others: so quickly that it does not make both seem slow.
    #[inline]
    pub(crate) fn step_between(&mut self) -> Option<Step> {
        self.between = self.between.checked_sub(1)?;
        Some(Step::between(self.on_team))
    }

    /// Leaves out the calls between others that come now, and returns their number.
    pub(crate) fn skip_between(&mut self) -> u32 {
        std::mem::take(&mut self.between)
    }

    /// What the next call does that is none between others.
    pub(crate) fn step(&mut self) -> Step {
        let (place, schedule) = (self.next, self.schedule);
        self.last = place;
        let (is_close, within) = (place.is_close(), place.within);
        self.on_team = place.block.is_multiple_of(2);
        self.between = match within {
            0 if is_close => schedule.before - 1,
            _ if is_close && within == schedule.before => schedule.close - schedule.before - 2,
            _ => 0,
        };
        self.advance(1 + self.between);
        if is_close && within == schedule.before {
            self.began = Some(Instant::now());
        }
        let timed = match self.began {
            _ if !is_close => Timed::Call,
            Some(began) if within + 1 == schedule.close => Timed::Since(began),
            _ => Timed::No,
        };
        Step {
            on_team: self.on_team,
            meets: !is_close || within == 0,
            timed,
        }
    }

    /// Notes the time of the call that [`step`](Self::step) was asked for last.
    pub(crate) fn note(&mut self, took: Duration) {
        let (place, schedule) = (self.last, self.schedule);
        let took = took.as_secs_f64();
        if place.is_close() {
            let mean = took / f64::from(schedule.close - schedule.before);
            self.times[place.block].push(mean);
            return;
        }
        if place.within == 0 {
            self.sum = 0.0;
        } else {
            self.sum += took;
        }
        if place.within + 1 == schedule.apart {
            let mean = self.sum / f64::from(schedule.apart - 1);
            self.times[place.block].push(mean);
        }
    }

    /// Whether this is a call before which ranks compare, and by how much the times must differ.
    pub(crate) fn look(&self) -> Option<f64> {
        let Place {
            round,
            block,
            within,
        } = self.next;
        let begins = (block, within) == (0, 0);
        let looks = self.schedule.looks.iter();
        let found = looks.copied().find(|&(after, _)| begins && after == round);
        found.map(|(_, limit)| limit)
    }

    /// Medians; of two blocks the shorter one: the first call at a length may have to touch new memory. 0 where there is no block.
    pub(crate) fn medians(&self) -> Times {
        self.times.each_ref().map(|times| {
            let mut sorted = times.clone();
            sorted.sort_by(f64::total_cmp);
            let middle = sorted.len().saturating_sub(1) / 2;
            sorted.get(middle).copied().unwrap_or(0.0)
        })
    }
}

/// Seconds a call on the team and by the library, in the program's own manner. `times` are the greatest of all ranks.
pub(crate) fn in_the_programs_manner(times: Times) -> [f64; 2] {
    let [team, library, close_team, close_library] = times;
    let is = |close: f64, apart: f64| close > 0.0 && close <= CLOSELY * apart;
    match is(close_team, team) && is(close_library, library) {
        true => [close_team, close_library],
        false => [team, library],
    }
}

/// Whether the library has won, by the limit of a [look](Racing::look); `None` if the race goes on.
pub(crate) fn library_wins([team, library]: [f64; 2], limit: f64) -> Option<bool> {
    let is_last = limit <= 1.0;
    let is_clear = team > limit * library || library > limit * team;
    (is_last || is_clear).then_some(library < CLEARLY * team)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first steps: who runs, where ranks meet, and what is timed.
    #[test]
    fn rounds_have_blocks_apart_and_then_also_close_ones() {
        let told = |bytes: usize, calls| -> String {
            let mut racing = Racing::new(bytes);
            let step = |_| {
                let step = racing.step_between().unwrap_or_else(|| racing.step());
                let timed = match step.timed {
                    Timed::No => '.',
                    Timed::Call => '1',
                    Timed::Since(_) => '+',
                };
                let who = if step.on_team { 't' } else { 'l' };
                [if step.meets { '|' } else { ' ' }, who, timed]
            };
            (0..calls).flat_map(step).collect()
        };
        let apart = |calls| format!("{}{}", "|t1".repeat(calls), "|l1".repeat(calls));
        let close = |who: &str, calls: usize| {
            format!("|{who}.{} {who}+", format!(" {who}.").repeat(calls - 2))
        };
        for (bytes, calls) in [(8, 64), (SHORT, 16)] {
            let round = [apart(5), close("t", calls), close("l", calls)].concat();
            let all = apart(5).repeat(2) + &round.repeat(2);
            assert_eq!(told(bytes, all.len() / 3), all);
        }
        assert_eq!(told(LONG, 42), apart(3).repeat(7));
    }

    #[test]
    fn a_first_block_that_is_slow_decides_nothing() {
        let mut racing = Racing::new(LONG);
        for round in 0..2_u64 {
            for took in [90, 5, 5, 90, 7 - 4 * round, 7 - 4 * round] {
                racing.step();
                racing.note(Duration::from_secs(took));
            }
        }
        assert_eq!(racing.medians(), [5.0, 3.0, 0.0, 0.0]);
        assert_eq!(racing.look(), Some(2.0));
    }

    #[test]
    fn a_block_of_close_calls_is_timed_as_a_whole() {
        let mut racing = Racing::new(8);
        while racing.between > 0 || racing.look() != Some(2.0) {
            let step = racing.step_between().unwrap_or_else(|| racing.step());
            match step.timed {
                Timed::No => {}
                Timed::Call => racing.note(Duration::from_secs(if step.on_team { 2 } else { 3 })),
                Timed::Since(began) => {
                    assert!(began <= Instant::now());
                    racing.note(Duration::from_secs(if step.on_team { 48 } else { 96 }));
                }
            }
        }
        assert_eq!(racing.medians(), [2.0, 3.0, 1.0, 2.0]);
    }

    #[test]
    fn the_manner_of_the_program_decides() {
        // What overlaps by the library only: close it wins, apart it loses.
        assert_eq!(in_the_programs_manner([1.0, 2.0, 0.9, 0.5]), [0.9, 0.5]);
        // A program that computes for long between calls.
        assert_eq!(in_the_programs_manner([1.0, 2.0, 50.0, 50.0]), [1.0, 2.0]);
        assert_eq!(in_the_programs_manner([1.0, 2.0, 1.9, 4.1]), [1.0, 2.0]);
        // Long data, of which there are no close blocks.
        assert_eq!(in_the_programs_manner([1.0, 2.0, 0.0, 0.0]), [1.0, 2.0]);
    }

    #[test]
    fn clear_cases_end_early_and_unclear_ones_stay_with_the_team() {
        assert_eq!(library_wins([3.0, 1.0], 2.0), Some(true));
        assert_eq!(library_wins([1.0, 3.0], 2.0), Some(false));
        assert_eq!(library_wins([1.5, 1.0], 2.0), None);
        assert_eq!(library_wins([1.5, 1.0], 1.3), Some(true));
        assert_eq!(library_wins([1.1, 1.0], 1.0), Some(true));
        assert_eq!(library_wins([1.0, 0.98], 1.0), Some(false));
    }
}
