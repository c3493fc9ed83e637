//! Calls of a team that learns.

use super::learner::{Class, Learned, Learner, longest};
use super::race::Race;
use crate::allreduce;
use crate::combine::On;
use crate::context::OpContext;
use crate::registry::{Need, Registered, Request, Selection, TeamTraits};
use corecast_wire::Fabric;
use corecast_wire::sync::mutated;

/// Runs an operation by the algorithm whose turn it is, or by the one that was found to be the fastest.
fn run_turn<F: Fabric, A: Registered>(
    learner: &mut Learner,
    context: &mut OpContext<F>,
    usual: A,
    request: &Request,
    run: impl FnOnce(&mut OpContext<F>, Selection<A>) -> Result<(), F::Error>,
) -> Result<(), F::Error> {
    let (class, at) = Learner::class_of(A::COLLECTIVE, request.bytes);
    if let Class::New = learner.classes[at] {
        let contenders = contenders(usual, request, context);
        learner.classes[at] = match contenders[..] {
            [only] => Class::Known(only),
            _ => Class::Racing(Box::new(Race::new(contenders))),
        };
    }
    let Some(algorithm) = turn::<A>(&learner.classes[at], request, context.traits()) else {
        return run(context, usual.into());
    };
    let Class::Racing(race) = &mut learner.classes[at] else {
        return run(context, algorithm.into());
    };
    let began = (learner.clock)();
    run(context, algorithm.into())?;
    let took = (learner.clock)().wrapping_sub(began);
    let Some(times) = race.note(took) else {
        return Ok(());
    };
    greatest(context, times)?;
    let Some(won) = race.conclude() else {
        return Ok(());
    };
    learner.classes[at] = Class::Known(won.winner);
    learner.learned.push(Learned {
        collective: A::COLLECTIVE,
        up_to: longest(class),
        algorithm: A::ALL[usize::from(won.winner)].entry().name,
        usual: usual.entry().name,
        ratio: won.ratio,
    });
    // As far as the shortest lengths go on with what they would run without a race, they need no choice.
    let usual = place(usual);
    let is_usual = |class: &&Class| matches!(class, Class::Known(winner) if *winner == usual);
    let of_operation = &learner.classes[at - class..];
    match of_operation.iter().take_while(is_usual).count() {
        0 => {}
        classes => context.no_choice_for_short(A::COLLECTIVE, longest(classes - 1)),
    }
    Ok(())
}

/// The algorithm of the next call; `None` for the usual one where nothing was called before, and where another root or
/// operator needs another algorithm than the one whose turn it is.
fn turn<A: Registered>(class: &Class, request: &Request, traits: &TeamTraits) -> Option<A> {
    let turn = match class {
        Class::New => return None,
        Class::Racing(race) => race.next(),
        Class::Known(winner) => *winner,
    };
    let algorithm = A::ALL[usize::from(turn)];
    algorithm
        .entry()
        .serves(request, traits)
        .then_some(algorithm)
}

/// The place of an algorithm among all of its operation.
fn place<A: Registered>(algorithm: A) -> u8 {
    let place = A::ALL.iter().position(|&one| one == algorithm);
    place.expect("one of all") as u8
}

/// The places of the algorithms that can run the request, the usual one first.
fn contenders<F: Fabric, A: Registered>(
    usual: A,
    request: &Request,
    context: &OpContext<F>,
) -> Vec<u8> {
    let can_run = |algorithm: A| {
        let entry = algorithm.entry();
        // Their tree is made where they are asked for when the team is made.
        let made = context.schedule.packages.is_some() || !entry.needs.contains(&Need::Packages);
        made && entry.serves(request, context.traits())
    };
    let all = A::ALL.iter().copied();
    let others = all.filter(|&one| one != usual && can_run(one));
    std::iter::once(usual).chain(others).map(place).collect()
}

/// The greatest of all ranks' `times`, one by one.
fn greatest<F: Fabric>(context: &mut OpContext<F>, times: &mut [u64]) -> Result<(), F::Error> {
    // A seeded fault: each rank concludes from its own times.
    if mutated!(LearnsAlone) {
        return Ok(());
    }
    let combine = On::<u64, _>::new(&u64::max);
    let times = bytemuck::cast_slice_mut(times);
    allreduce::run(
        allreduce::Algorithm::Messages.into(),
        context,
        times,
        &combine,
    )
}

impl<F: Fabric> OpContext<F> {
    /// From now on operations for which no algorithm is asked race those that can run them, and use the fastest. `clock` tells
    /// the time in any unit. All ranks of the team do it, or none, from the same operation on. A deterministic team learns
    /// nothing, since its results must not depend on times.
    pub fn learn(&mut self, clock: fn() -> u64) {
        if !self.schedule.deterministic && self.fabric.size() > 1 {
            self.published = 0..0;
            self.short = Default::default();
            self.learner = Some(Box::new(Learner::new(clock)));
        }
    }

    /// What the ranks have learned so far; nothing unless they [`learn`](Self::learn).
    pub fn learned(&self) -> &[Learned] {
        self.learner
            .as_ref()
            .map_or(&[], |learner| learner.learned())
    }

    /// The algorithm that the next call runs: the one that was chosen, or, where the team learns and none was asked for, the one
    /// whose turn it is.
    pub(crate) fn next<A: Registered>(
        &self,
        asked: Option<Selection<A>>,
        chosen: Selection<A>,
        request: &Request,
    ) -> Selection<A> {
        let learner = self.learner.as_ref().filter(|_| asked.is_none());
        let turn = learner.and_then(|learner| {
            let (_, at) = Learner::class_of(A::COLLECTIVE, request.bytes);
            turn::<A>(&learner.classes[at], request, self.traits())
        });
        turn.map_or(chosen, Selection::from)
    }

    /// Runs an operation by the algorithm that was chosen, or, where the team learns and none was asked for, by the one
    /// whose turn it is.
    #[inline(always)]
    pub(crate) fn run_chosen<A: Registered>(
        &mut self,
        asked: Option<Selection<A>>,
        chosen: Selection<A>,
        request: &Request,
        run: impl FnOnce(&mut Self, Selection<A>) -> Result<(), F::Error>,
    ) -> Result<(), F::Error> {
        match self.learner.is_some() {
            false => run(self, chosen),
            true => self.run_learning(asked.is_some(), chosen, request, run),
        }
    }

    /// Operations within this one find no learner: their ranks may call different ones, and what they do must not change
    /// during a race.
    #[inline(never)]
    fn run_learning<A: Registered>(
        &mut self,
        is_asked: bool,
        chosen: Selection<A>,
        request: &Request,
        run: impl FnOnce(&mut Self, Selection<A>) -> Result<(), F::Error>,
    ) -> Result<(), F::Error> {
        let mut learner = self.learner.take();
        let ended = match &mut learner {
            Some(learner) if !is_asked => run_turn(learner, self, chosen.algorithm, request, run),
            _ => run(self, chosen),
        };
        self.learner = learner;
        ended
    }
}
