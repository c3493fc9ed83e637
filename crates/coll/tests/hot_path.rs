//! Nothing is allocated on the way of an operation that succeeds.

use corecast_coll::{Member, Plans, Team};
use corecast_plan::Pattern;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, counted by thread.
struct Counting;

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    // SAFETY: the contract is the caller's, passed on.
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's layout.
        unsafe { System.alloc(layout) }
    }

    // SAFETY: the contract is the caller's, passed on.
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's memory, which came from the system's allocator.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn all_operations(member: &mut Member) {
    let mut long = [1u64; 300];
    for root in 0..member.size() {
        member.barrier().unwrap();
        assert_eq!(member.broadcast_value(root, 7u8), Ok(7));
        member.broadcast(root, &mut long).unwrap();
        member.reduce_value(root, 1u32, |a, b| a + b).unwrap();
        member.reduce(root, &mut long, u64::max).unwrap();
        member.allreduce(&mut long, u64::min).unwrap();
    }
}

#[test]
fn operations_do_not_allocate() {
    for pattern in ["smelt", "chain", "dissemination:2"] {
        for n in [2, 4] {
            let machine = corecast_model::synthetic(&format!("core:{n}")).unwrap();
            let pattern: Pattern = pattern.parse().unwrap();
            let plans = Plans::of_pattern(machine.costs(), pattern, None).unwrap();
            let counts = Team::new(plans).unwrap().run(|member| {
                let before = ALLOCATIONS.get();
                for _ in 0..20 {
                    all_operations(member);
                }
                ALLOCATIONS.get() - before
            });
            assert!(
                counts.iter().all(|&count| count == 0),
                "{pattern}, {n} ranks: {counts:?}"
            );
        }
    }
}

#[test]
fn the_counter_counts() {
    let before = ALLOCATIONS.get();
    let boxed = std::hint::black_box(Box::new(1));
    assert_eq!(ALLOCATIONS.get() - before, 1);
    drop(boxed);
}
