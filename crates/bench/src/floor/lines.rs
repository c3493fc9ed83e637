//! Hand-written short collectives: the data travel in the cache line of the flag, or in its pair of lines.
//!
//! Each rank has pairs of lines of its own, with a number that says that the words behind it are
//! there. The number is written last and read first, so no reader takes old words for new ones.

use super::await_number::await_turn;
use super::exchange::exchange;
use crate::engine::Role;
use crate::race::Entrant;
use crate::sized::{Conditions, ELEMENT_BYTES, Library, Player, Task, Trial};
use corecast_model::Collective;
use std::sync::atomic::{AtomicU64, Ordering};

/// Words behind the number, in its pair of lines.
const WORDS: usize = 15;

/// The floors of `task`, if a pair of lines holds a block and no rank gets more than one block from another; with an
/// [`exchange`](super::exchange) of the two ranks where that is one.
pub fn lines<'a>(task: Task, conditions: impl Into<Conditions>) -> Vec<Entrant<'a>> {
    let conditions = conditions.into();
    let fits = task.bytes <= WORDS * ELEMENT_BYTES;
    let simple = matches!(
        task.operation,
        Collective::Broadcast
            | Collective::Reduce
            | Collective::Allreduce
            | Collective::Gather
            | Collective::Allgather
            | Collective::Scan
    );
    let line = (fits && simple).then(|| {
        Entrant::threads(Trial::new(
            LineBroadcast::new(task, conditions.oversubscribed),
            task,
            conditions,
        ))
    });
    line.into_iter().chain(exchange(task, conditions)).collect()
}

/// A pair of lines, since x86 prefetchers fetch lines so: short data leave the second one empty.
#[derive(Default)]
#[repr(align(128))]
struct NumberedLine {
    number: AtomicU64,
    words: [AtomicU64; WORDS],
}

const _: () = assert!(size_of::<NumberedLine>() == 128);

struct LineBroadcast {
    task: Task,
    oversubscribed: bool,
    /// The lines with data, by rank, then by place.
    data: Vec<Vec<NumberedLine>>,
    come: Vec<NumberedLine>,
}

impl LineBroadcast {
    fn new(task: Task, oversubscribed: bool) -> LineBroadcast {
        let places = |_| {
            (0..task.places())
                .map(|_| NumberedLine::default())
                .collect()
        };
        LineBroadcast {
            task,
            oversubscribed,
            data: (0..task.ranks).map(places).collect(),
            come: (0..task.ranks).map(|_| NumberedLine::default()).collect(),
        }
    }

    /// Waits for `number` or more.
    #[inline(always)]
    fn wait(&self, line: &NumberedLine, number: u64) {
        await_turn(&line.number, number, self.oversubscribed);
    }
}

impl Library for LineBroadcast {
    fn name(&self) -> &str {
        "floor: one line"
    }

    fn setting(&self) -> String {
        "up to a pair of lines".into()
    }

    fn role(&self) -> Role {
        Role::Floor
    }

    fn player<'a>(&'a self, rank: usize) -> Box<dyn Player + 'a> {
        Box::new(LineWriter {
            lines: self,
            rank,
            come: 0,
            number: 0,
            input: vec![0.0; self.task.count()],
            result: vec![0.0; self.task.gets(rank)],
        })
    }
}

struct LineWriter<'a> {
    lines: &'a LineBroadcast,
    rank: usize,
    /// Number of barriers so far; `number` counts the operations.
    come: u64,
    number: u64,
    input: Vec<f64>,
    result: Vec<f64>,
}

impl LineWriter<'_> {
    #[inline(always)]
    fn send(&self, place: usize) {
        let line = &self.lines.data[self.rank][place];
        // Relaxed: the number orders the words. Release pairs with the Acquire in `wait`.
        for (word, value) in line.words.iter().zip(&self.input) {
            word.store(value.to_bits(), Ordering::Relaxed);
        }
        line.number.store(self.number, Ordering::Release);
    }

    #[inline(always)]
    fn line(&self, of: usize, place: usize) -> &[AtomicU64; WORDS] {
        let line = &self.lines.data[of][place];
        self.lines.wait(line, self.number);
        &line.words
    }

    /// Stores the words of the first `ranks` ranks in the result, side by side or, if `add`, as a
    /// sum. This rank's own words come from its input.
    #[inline(always)]
    fn collect(&mut self, ranks: usize, place: usize, add: bool) {
        let count = self.input.len();
        let mut result = std::mem::take(&mut self.result);
        for of in 0..ranks {
            let into = match add {
                true => &mut result[..],
                false => &mut result[of * count..(of + 1) * count],
            };
            let add = add && of > 0;
            let put = |into: &mut f64, value: f64| *into = if add { *into + value } else { value };
            if of == self.rank {
                into.iter_mut()
                    .zip(&self.input)
                    .for_each(|(i, v)| put(i, *v));
            } else {
                let words = self.line(of, place);
                let values = words
                    .iter()
                    .map(|w| f64::from_bits(w.load(Ordering::Relaxed)));
                into.iter_mut().zip(values).for_each(|(i, v)| put(i, v));
            }
        }
        self.result = result;
    }
}

impl Player for LineWriter<'_> {
    fn barrier(&mut self) -> Result<(), String> {
        self.come += 1;
        let come = &self.lines.come;
        // Release pairs with the Acquire in `wait`.
        come[self.rank].number.store(self.come, Ordering::Release);
        come.iter()
            .for_each(|other| self.lines.wait(other, self.come));
        Ok(())
    }

    fn prepare(&mut self, _place: usize, write: &mut dyn FnMut(&mut [f64])) {
        write(&mut self.input);
    }

    fn perform(&mut self, place: usize) -> Result<(), String> {
        self.number += 1;
        let Task {
            operation, ranks, ..
        } = self.lines.task;
        let root = self.rank == Task::ROOT;
        match operation {
            Collective::Broadcast if root => self.send(place),
            Collective::Broadcast => {
                let mut result = std::mem::take(&mut self.result);
                let words = self.line(Task::ROOT, place);
                let values = words
                    .iter()
                    .map(|w| f64::from_bits(w.load(Ordering::Relaxed)));
                result
                    .iter_mut()
                    .zip(values)
                    .for_each(|(into, value)| *into = value);
                self.result = result;
            }
            Collective::Reduce | Collective::Gather if !root => self.send(place),
            Collective::Reduce => self.collect(ranks, place, true),
            Collective::Gather => self.collect(ranks, place, false),
            Collective::Scan => {
                self.send(place);
                self.collect(self.rank + 1, place, true);
            }
            _ => {
                self.send(place);
                self.collect(ranks, place, operation == Collective::Allreduce);
            }
        }
        Ok(())
    }

    fn result(&mut self, _place: usize, read: &mut dyn FnMut(&[f64])) {
        read(&self.result);
    }
}
