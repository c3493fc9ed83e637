//! Arguments of operations that do not fit each other are panics that say so.

use crate::common::plans_of;
use corecast_collectives::Parts;
use corecast_plan::Pattern;
use corecast_team::{Failure, Member, Team};

/// What a member of a team of one, which waits for nobody, says of its arguments.
#[track_caller]
fn refused(expected: &str, body: impl FnOnce(&mut Member) -> Result<(), Failure>) {
    let plans = plans_of(1, Pattern::Binary);
    let team = Team::new(plans).unwrap();
    let mut member = team.join(0).unwrap();
    let call = std::panic::AssertUnwindSafe(|| body(&mut member));
    let said = std::panic::catch_unwind(call).expect_err(expected);
    assert_eq!(said.downcast_ref::<String>().unwrap(), expected);
}

#[test]
fn parts_that_do_not_fit_their_buffers_are_panics_that_say_so() {
    let parts = || Parts::new(&[3], &[0]);
    let recv = "this rank's `recv` has 2 elements, its part 3";
    let send = "this rank's `send` has 2 elements, its part 3";
    let (two, three) = ([1u8; 2], [1u8; 3]);
    refused(recv, |member| {
        member.scatterv(0, Some((&three, parts())), &mut [0; 2])
    });
    refused(send, |member| {
        member.gatherv(0, &two, Some((&mut [0; 3], parts())))
    });
    refused(send, |member| member.allgatherv(&two, &mut [0; 3], parts()));
    let part = "this rank's `recv` has 2 elements, its part 3";
    refused(part, |member| {
        let less = Parts::new(&[2], &[0]);
        member.alltoallv((&three, parts()), (&mut [0; 2], less))
    });
    let add = |a: u8, b: u8| a + b;
    refused("blocks of [2] of 3 elements", |member| {
        member.reduce_scatterv(&three, &[2], &mut [0; 2], add)
    });
    refused("counts for 2 ranks in a team of 1", |member| {
        member.reduce_scatterv(&three, &[2, 1], &mut [0; 2], add)
    });
}

/// Partial results would not be aligned for it.
#[test]
fn elements_with_a_larger_alignment_are_refused_where_they_are_combined() {
    #[derive(Clone, Copy, bytemuck::Zeroable)]
    #[repr(C, align(32))]
    struct Wide([u8; 32]);
    // SAFETY: as many bytes as its alignment, any of which are valid.
    unsafe impl bytemuck::Pod for Wide {}
    let one = || [Wide([1; 32])];
    let first = |a: Wide, _: Wide| a;
    let expected = "elements are aligned to 32, buffers to 16";
    refused(expected, |member| member.reduce(0, &mut one(), first));
    refused(expected, |member| member.allreduce(&mut one(), first));
    refused(expected, |member| member.scan(&mut one(), first));
    refused(expected, |member| {
        member.reduce_scatter(&one(), &mut one(), first)
    });
    refused(expected, |member| {
        let (mut data, first) = (one(), &first);
        let flown = member.overlap(|flight| flight.allreduce(&mut data, first)?.wait());
        flown.unwrap()
    });
    refused("no panic", |member| {
        member.broadcast(0, &mut one())?;
        panic!("{}", "no panic")
    });
}
