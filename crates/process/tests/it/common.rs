//! Plans for teams of any size; programs over a second fabric, of channels, and an operator for them.

use crate::channels::{Channels, Sent};
use corecast_collectives::{Combine, Groups, Plans, PlansError};
use corecast_plan::Pattern;
use corecast_process::ProcessGroup;
use corecast_team::{Failure, Member, Options};
use std::ops::Add;

/// The plans of a pattern for `n` ranks on cores that are all alike.
pub(crate) fn plans_of(n: usize, pattern: Pattern) -> Plans {
    let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
    Plans::of_pattern(machine.costs(), pattern, None).unwrap()
}

/// The plans of a binomial tree, as whoever makes a team of processes is asked for them.
pub(crate) fn binomial(n: usize) -> Result<Plans, PlansError> {
    Ok(plans_of(n, Pattern::Binomial))
}

/// What `body` comes to on two ranks, which are joined as those of two processes are.
pub(crate) fn two_processes(
    body: impl Fn(&mut Member) -> Result<(), Failure> + Sync,
) -> Vec<Result<(), Failure>> {
    let (plans, options) = (plans_of(2, Pattern::Sequential), Options::default());
    let memory = ProcessGroup::found(&plans, &options).unwrap();
    let part = |rank| {
        let team = ProcessGroup::attach(&memory, &[rank], &options).unwrap();
        team.run(&body).remove(0)
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| part(1));
        vec![part(0), other.join().unwrap()]
    })
}

/// Runs `body` on `n` ranks and returns what all of them sent. Everything must have been received.
pub(crate) fn run(n: usize, body: impl Fn(&mut Channels) + Sync) -> Sent {
    run_with(&Groups::new(n), n, body)
}

/// Does what [`run`] does, on ranks of which these groups share lines.
pub(crate) fn run_with(groups: &Groups, n: usize, body: impl Fn(&mut Channels) + Sync) -> Sent {
    let mut fabrics = Channels::all(n, groups, usize::MAX);
    std::thread::scope(|scope| {
        let body = &body;
        let threads: Vec<_> = fabrics
            .iter_mut()
            .map(|fabric| scope.spawn(move || body(fabric)))
            .collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    });
    fabrics.iter().for_each(Channels::assert_received);
    let sent = fabrics.iter().map(|fabric| fabric.sent);
    sent.fold(Sent::default(), Add::add)
}

/// An operator that combines bytes one by one.
pub(crate) struct Consume(pub(crate) fn(u8, u8) -> u8);

impl Combine for Consume {
    fn element_size(&self) -> usize {
        1
    }

    fn ordered(&self) -> bool {
        false
    }

    fn combine(&self, into: &mut [u8], with: &[u8]) {
        into.iter_mut()
            .zip(with)
            .for_each(|(a, b)| *a = self.0(*a, *b));
    }

    fn combine_left(&self, into: &mut [u8], with: &[u8]) {
        into.iter_mut()
            .zip(with)
            .for_each(|(a, b)| *a = self.0(*b, *a));
    }

    fn combine_into(&self, out: &mut [u8], a: &[u8], b: &[u8]) {
        out.copy_from_slice(a);
        self.combine(out, b);
    }
}

pub(crate) const ADD: Consume = Consume(u8::wrapping_add);
