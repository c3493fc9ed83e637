//! Reductions and scans of plain bytes, for callers who know the elements only when they run: in both forms what sums are.

use crate::common::plans_of;
use corecast_collectives::operator::{Element, Named, erased};
use corecast_plan::Pattern;
use corecast_team::{Failure, Member, Request, Team};

const N: usize = 3;
const COUNTS: [usize; N] = [0, 2, 1];

/// The results of one rank.
#[derive(Clone, Debug, PartialEq)]
struct Results {
    reduced: [u16; 3],
    reduced_for_all: [u16; 3],
    scattered: [u16; 1],
    scattered_by_counts: Vec<u16>,
    up_to_own: [u16; 3],
    before: [u16; 3],
}

fn own(rank: usize) -> [u16; 3] {
    [1, rank as u16, 10 * rank as u16 + 300]
}

fn sum(ranks: impl Iterator<Item = usize>) -> [u16; 3] {
    ranks.map(own).fold([0; 3], |sum, next| {
        [sum[0] + next[0], sum[1] + next[1], sum[2] + next[2]]
    })
}

/// Room for the results of `rank`, with what it gives where results take that place.
fn room(rank: usize) -> Results {
    Results {
        reduced: own(rank),
        reduced_for_all: own(rank),
        scattered: [0],
        scattered_by_counts: vec![0; COUNTS[rank]],
        up_to_own: own(rank),
        before: own(rank),
    }
}

fn blocking(member: &mut Member) -> Result<Results, Failure> {
    let by = erased(Named::Sum, Element::U16).unwrap();
    let given = own(member.rank());
    let (given, mut to) = (bytemuck::bytes_of(&given), room(member.rank()));
    member.reduce_by(1, bytemuck::bytes_of_mut(&mut to.reduced), by)?;
    member.allreduce_by(bytemuck::bytes_of_mut(&mut to.reduced_for_all), by)?;
    member.reduce_scatter_by(given, bytemuck::bytes_of_mut(&mut to.scattered), by)?;
    let part = bytemuck::cast_slice_mut(&mut to.scattered_by_counts);
    member.reduce_scatterv_by(given, &COUNTS, part, by)?;
    member.scan_by(bytemuck::bytes_of_mut(&mut to.up_to_own), by)?;
    member.exscan_by(bytemuck::bytes_of_mut(&mut to.before), by)?;
    Ok(to)
}

fn in_flight(member: &mut Member) -> Result<Results, Failure> {
    let by = erased(Named::Sum, Element::U16).unwrap();
    let given = own(member.rank());
    let (given, mut to) = (bytemuck::bytes_of(&given), room(member.rank()));
    let Results {
        reduced,
        reduced_for_all,
        scattered,
        scattered_by_counts,
        up_to_own,
        before,
    } = &mut to;
    let flown = member.overlap(|flight| -> Result<(), Failure> {
        let part = bytemuck::cast_slice_mut(scattered_by_counts);
        let requests = [
            flight.reduce_by(1, bytemuck::bytes_of_mut(reduced), by)?,
            flight.allreduce_by(bytemuck::bytes_of_mut(reduced_for_all), by)?,
            flight.reduce_scatter_by(given, bytemuck::bytes_of_mut(scattered), by)?,
            flight.reduce_scatterv_by(given, &COUNTS, part, by)?,
            flight.scan_by(bytemuck::bytes_of_mut(up_to_own), by)?,
            flight.exscan_by(bytemuck::bytes_of_mut(before), by)?,
        ];
        requests.into_iter().try_for_each(Request::wait)
    });
    flown.unwrap()?;
    Ok(to)
}

#[test]
fn bytes_are_combined_as_the_elements_that_they_are() {
    let plans = plans_of(N, Pattern::Binomial);
    let team = Team::new(plans).unwrap();
    let run = |member: &mut Member| Ok::<_, Failure>([blocking(member)?, in_flight(member)?]);
    for (rank, results) in team.run(run).into_iter().enumerate() {
        let all = sum(0..N);
        for results in results.unwrap() {
            assert_eq!(results.reduced_for_all, all);
            assert!(rank != 1 || results.reduced == all);
            assert_eq!(results.scattered, [all[rank]]);
            let first: usize = COUNTS[..rank].iter().sum();
            assert_eq!(results.scattered_by_counts, all[first..][..COUNTS[rank]]);
            assert_eq!(results.up_to_own, sum(0..rank + 1));
            let before = if rank == 0 { own(0) } else { sum(0..rank) };
            assert_eq!(results.before, before);
        }
    }
}

#[test]
#[should_panic(expected = "5 bytes are no whole number of elements of 2")]
fn bytes_of_half_an_element_are_refused() {
    let team = Team::new(plans_of(1, Pattern::Binomial));
    let by = erased(Named::Sum, Element::U16).unwrap();
    let mut member = team.as_ref().unwrap().join(0).unwrap();
    let _ = member.allreduce_by(&mut [0; 5], by);
}
