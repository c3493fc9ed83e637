//! The measurement of one part: the threads that take part, and the place of its figures in the section.

use std::time::Duration;

use corecast_model::deep::{
    Access, Curve, CurveKind, Deep, Figure, Latency, Level, Near, Point, Quantity, Reader, State,
};
use corecast_wire::hardware_wait::{self, HardwareWait};
use corecast_wire::microbench::{self, BareFutex, HugePages};

use super::circumstances::{self, ObservedProcessors};
use super::crew::{self, Mate, Stop};
use super::latency::{self, LatencyCase, Roles};
use super::site::Site;
use super::task::{THREADS_MAX, Task, counts};
use super::{bandwidth, congestion, contention, fit, lines, readers, stores, waits};
use crate::ProbeError;

/// The measurement of parts, with the section that collects their figures.
pub(super) struct Measuring<'a> {
    pub(super) site: &'a Site<'a>,
    pub(super) found: &'a mut Deep,
    pub(super) seen: &'a mut ObservedProcessors,
    /// The most time for one figure.
    pub(super) limit: Duration,
}

impl Measuring<'_> {
    pub(super) fn measure(&mut self, task: Task) -> Result<(), ProbeError> {
        match task {
            Task::Latency { by, of, level } => self.latency(by, of, level),
            Task::Contention { near, state } => self.contention(near, state),
            Task::Congestion { near } => self.congestion(near),
            Task::Lines { near, state } => self.lines(near, state),
            Task::Readers => self.readers(),
            Task::Stores => self.stores(),
            Task::Waits => self.waits(),
            Task::Bandwidth => self.bandwidth(),
        }
    }

    /// Runs `program` on a crew of these positions, and records how fast their cores are and which pages
    /// they have.
    fn crew<T: Send>(
        &mut self,
        positions: &[usize],
        bytes: usize,
        program: impl Fn(&mut Mate<'_>) -> Result<T, Stop> + Sync,
    ) -> Result<T, ProbeError> {
        let pus: Vec<_> = positions.iter().map(|&at| self.site.pus[at]).collect();
        let results = crew::run(&pus, bytes, |mate| {
            let found = program(mate)?;
            let huge = mate.lines_of(mate.rank).huge_pages().clone();
            Ok((found, circumstances::pace(&mate.timer), huge))
        })?;
        let mut first = None;
        for (pu, (found, pace, huge)) in pus.iter().zip(results) {
            self.seen.note(pu.os_index, pace);
            if let HugePages::Refused(why) = huge {
                self.found.clock.huge_pages = false;
                self.note(format!("lines lie in small pages: {why}"));
            }
            first.get_or_insert(found);
        }
        Ok(first.expect("a crew has a first thread"))
    }

    fn note(&mut self, sentence: String) {
        if !self.found.notes.contains(&sentence) {
            self.found.notes.push(sentence);
        }
    }

    /// Returns the positions of a reader, an owner, and a third thread where there is one, with their
    /// roles.
    fn trio(&self, by: usize, of: usize) -> (Vec<usize>, Roles) {
        let owner = usize::from(of != by);
        let mut positions = vec![by];
        positions.extend((of != by).then_some(of));
        positions.extend(self.site.neighbours(of, &[by]).first());
        let third = positions.len() > owner + 1;
        let sharer = if third { owner + 1 } else { 0 };
        (positions, Roles { owner, sharer })
    }

    fn latency(&mut self, by: usize, of: usize, level: Level) -> Result<(), ProbeError> {
        let site = self.site;
        let (positions, roles) = self.trio(by, of);
        let states: &[State] = match level {
            Level::Memory => &[State::Invalid],
            Level::Cache(_) => &[State::Modified, State::Exclusive, State::Shared],
        };
        if roles.owner != 0 && roles.sharer == 0 && states.contains(&State::Shared) {
            self.note(
                "with two hardware threads a line of another is shared with the reader, which has driven \
                 it out of its own private caches"
                    .to_owned(),
            );
        }
        let cases: Vec<LatencyCase> = [Access::Read, Access::Write]
            .into_iter()
            .flat_map(|access| {
                states.iter().map(move |&state| LatencyCase {
                    access,
                    state,
                    level,
                })
            })
            .collect();
        let (drive, limit) = (site.drive(of, level), self.limit);
        let figures = self.crew(&positions, drive.buffer_bytes(), |mate| {
            let all = cases.iter();
            all.map(|&case| latency::measure(mate, case, roles, drive, limit))
                .collect::<Result<Vec<_>, _>>()
        })?;
        for (case, figure) in cases.into_iter().zip(figures) {
            let Some(ns) = figure else { continue };
            self.found.latencies.push(Latency {
                access: case.access,
                state: case.state,
                level,
                near: site.near(by, of),
                by: site.pus[by].os_index,
                of: site.pus[of].os_index,
                ns,
            });
        }
        Ok(())
    }

    fn contention(&mut self, near: Near, state: State) -> Result<(), ProbeError> {
        let positions = self.site.readers(near, THREADS_MAX - 1);
        // No thread has an invalid line in its cache, so its owner can be a reader as well.
        let most = positions.len() - usize::from(state != State::Invalid);
        let (xs, limit) = (counts(most), self.limit);
        let figures = self.crew(&positions, 0, |mate| {
            let all = xs.iter();
            all.map(|&x| contention::measure(mate, state, x, limit))
                .collect()
        })?;
        self.curve(CurveKind::Contention, near, state, &xs, figures);
        Ok(())
    }

    fn congestion(&mut self, near: Near) -> Result<(), ProbeError> {
        let mut pairs = self.site.pairs(near, THREADS_MAX);
        if pairs.is_empty() {
            // Pairs that are so near are only among the last threads of a large machine.
            pairs = self.site.pairs(near, self.site.pus.len());
            pairs.truncate(THREADS_MAX / 2);
        }
        let mut positions: Vec<usize> = pairs.iter().flat_map(|&(by, of)| [by, of]).collect();
        positions.sort_unstable();
        positions.dedup();
        let rank = |position| positions.binary_search(&position).expect("just collected");
        let ranks: Vec<_> = pairs.iter().map(|&(by, of)| (rank(by), rank(of))).collect();
        let (xs, limit) = (counts(ranks.len()), self.limit);
        let figures = self.crew(&positions, 0, |mate| {
            let all = xs.iter();
            all.map(|&x| congestion::measure(mate, &ranks, x, limit))
                .collect()
        })?;
        self.curve(CurveKind::Congestion, near, State::Modified, &xs, figures);
        Ok(())
    }

    fn lines(&mut self, near: Near, state: State) -> Result<(), ProbeError> {
        let pairs = self.site.pairs(near, self.site.pus.len());
        let Some(&(by, of)) = pairs.first() else {
            return Ok(());
        };
        let (positions, roles) = self.trio(by, of);
        let (drive, limit) = (self.site.drive(of, Level::Cache(1)), self.limit);
        let xs = lines::COUNTS;
        let figures = self.crew(&positions, drive.buffer_bytes(), |mate| {
            let all = xs.iter();
            all.map(|&x| lines::measure(mate, state, x, roles, drive, limit))
                .collect()
        })?;
        self.curve(
            CurveKind::Lines,
            near,
            state,
            &xs.map(|x| x as usize),
            figures,
        );
        Ok(())
    }

    fn curve(
        &mut self,
        kind: CurveKind,
        near: Near,
        state: State,
        xs: &[usize],
        figures: Vec<Option<Figure>>,
    ) {
        let points: Vec<Point> = xs
            .iter()
            .zip(figures)
            .filter_map(|(&x, figure)| {
                Some(Point {
                    x: u32::try_from(x).ok()?,
                    ns: figure?,
                })
            })
            .collect();
        let fit = match kind {
            CurveKind::Congestion => fit::line(&points),
            CurveKind::Contention | CurveKind::Lines => fit::line_or_curve(&points),
        };
        self.found.curves.push(Curve {
            kind,
            state,
            near,
            points,
            fit,
        });
    }

    fn readers(&mut self) -> Result<(), ProbeError> {
        if !microbench::counter_is_steady() {
            self.note(
                "who sees a change first needs a counter that all cores have in common".to_owned(),
            );
            return Ok(());
        }
        let mut positions = self.site.by_cores();
        positions.truncate(THREADS_MAX);
        let limit = 5 * self.limit;
        let seen = self.crew(&positions, 0, |mate| readers::measure(mate, limit))?;
        let pu = |at: usize| self.site.pus[at].os_index;
        for (&at, seen) in positions[1..].iter().zip(seen) {
            self.found.readers.push(Reader {
                by: pu(at),
                of: pu(positions[0]),
                near: self.site.near(positions[0], at),
                first: seen.first,
                place: seen.place,
                ns: seen.ns,
            });
        }
        Ok(())
    }

    fn stores(&mut self) -> Result<(), ProbeError> {
        let limit = 5 * self.limit;
        let depth = if microbench::FLUSHES {
            self.crew(&[0], 0, |mate| stores::measure(mate, limit))?
        } else {
            None
        };
        match depth {
            Some(figure) => self.quantity("store buffer", "stores", figure),
            None => self.note("no depth of the store buffer was seen".to_owned()),
        }
        Ok(())
    }

    fn waits(&mut self) -> Result<(), ProbeError> {
        let limit = self.limit;
        match HardwareWait::here() {
            Some(found) => {
                let name = found.instruction().name();
                self.note(format!("this CPU waits for a write of a line by {name}"));
            }
            None => self.note(hardware_wait::MISSING.to_owned()),
        }
        let mut pair = vec![0];
        pair.extend(self.site.neighbours(0, &[]).first());
        let bell = BareFutex::default();
        let all = self.crew(&pair, 0, |mate| {
            let mut all = waits::alone(mate, limit)?;
            all.extend(waits::wakes(mate, &bell, limit)?);
            Ok(all)
        })?;
        for (name, figure) in all {
            self.quantity(name, "ns", figure);
        }
        Ok(())
    }

    fn bandwidth(&mut self) -> Result<(), ProbeError> {
        let limit = self.limit;
        let mut all = self.crew(&[0], 0, |mate| bandwidth::alone(mate, limit))?;
        let mut positions = self.site.by_cores();
        positions.truncate(THREADS_MAX);
        all.extend(self.crew(&positions, 0, |mate| bandwidth::together(mate, limit))?);
        for (name, figure) in all {
            self.quantity(&name, "GB/s", figure);
        }
        Ok(())
    }

    fn quantity(&mut self, name: &str, unit: &str, figure: Figure) {
        let found = Quantity {
            name: name.to_owned(),
            unit: unit.to_owned(),
            figure,
        };
        let mut known = self.found.quantities.iter_mut();
        match known.find(|known| known.name == name) {
            Some(known) => *known = found,
            None => self.found.quantities.push(found),
        }
    }
}
