//! Fibers are suspended, resumed and unwound.

use super::*;
use std::cell::RefCell;
use std::time::Duration;

const LOOK: Look = Look::Long(Duration::from_nanos(7));

#[test]
fn fibers_take_turns_and_stacks_come_back() {
    let mut stacks = Stacks::new(3).unwrap();
    for _ in 0..100 {
        let order = RefCell::new(Vec::new());
        scope(&mut stacks, |fibers| {
            for slot in 0..3 {
                let order = &order;
                let ended = fibers.start(slot, move || {
                    for step in 0..=slot {
                        order.borrow_mut().push((slot, step));
                        let mut asked = Vec::new();
                        assert!(suspend_until(|look| {
                            asked.push(look);
                            asked.len() > slot
                        }));
                        assert_eq!(asked, vec![LOOK; slot + 1]);
                    }
                });
                assert!(!ended && !fibers.is_idle(slot) && !is_inside());
            }
            while !(0..3).all(|slot| fibers.is_idle(slot)) {
                for slot in 0..3 {
                    fibers.resume(slot, LOOK);
                }
            }
        });
        let order = order.into_inner();
        // Fiber k goes on with every (k + 1)-th look.
        assert_eq!(order, [(0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (2, 2)]);
        assert_eq!(stacks.count(), 3);
    }
    assert!(!suspend_until(|_| unreachable!("this is no fiber")));
}

/// Counts how often values of this type are dropped.
struct Counted<'a>(&'a Cell<u32>);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

#[test]
fn unfinished_fibers_are_unwound() {
    let dropped = Cell::new(0);
    let mut stacks = Stacks::new(1).unwrap();
    scope(&mut stacks, |fibers| {
        let counted = Counted(&dropped);
        fibers.start(0, move || {
            let _counted = counted;
            suspend_until(|_| true);
            unreachable!("nobody resumes it");
        });
    });
    assert_eq!((dropped.get(), stacks.count()), (1, 1));
}

/// A fiber within a fiber is unwound, and a value that it drops tries to wait.
#[test]
fn what_is_unwound_suspends_nobody() {
    struct Waits<'a>(&'a Cell<u32>);
    impl Drop for Waits<'_> {
        fn drop(&mut self) {
            assert!(!suspend_until(|_| true) && !is_inside());
            self.0.set(self.0.get() + 1);
        }
    }
    let dropped = Cell::new(0);
    let (mut outer, mut inner) = (Stacks::new(1).unwrap(), Stacks::new(1).unwrap());
    scope(&mut outer, |fibers| {
        fibers.start(0, || {
            scope(&mut inner, |fibers| {
                let waits = Waits(&dropped);
                fibers.start(0, move || {
                    let _waits = waits;
                    suspend_until(|_| true);
                });
            });
            assert!(is_inside());
            suspend_until(|_| true);
        });
        assert_eq!(dropped.get(), 1);
        assert!(fibers.resume(0, Look::Quick));
    });
}

#[test]
fn a_fiber_cannot_resume_itself() {
    let mut stacks = Stacks::new(1).unwrap();
    scope(&mut stacks, |fibers| {
        let ended = fibers.start(0, || assert!(!fibers.resume(0, Look::Quick)));
        assert!(ended && !fibers.resume(0, Look::Quick));
    });
}

#[test]
fn a_panic_comes_out_of_resume_and_leaves_the_fiber_usable() {
    let mut stacks = Stacks::new(1).unwrap();
    scope(&mut stacks, |fibers| {
        fibers.start(0, || {
            suspend_until(|_| true);
            panic!("on purpose");
        });
        let resume = || fibers.resume(0, Look::Quick);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(resume));
        assert_eq!(
            *caught.unwrap_err().downcast::<&str>().unwrap(),
            "on purpose"
        );
        assert!(fibers.is_idle(0) && !is_inside());
        assert!(fibers.start(0, || ()));
    });
    assert_eq!(stacks.count(), 1);
}

#[test]
fn fibers_nest() {
    let (mut outer, mut inner) = (Stacks::new(1).unwrap(), Stacks::new(1).unwrap());
    let steps = Cell::new(0);
    scope(&mut outer, |fibers| {
        fibers.start(0, || {
            scope(&mut inner, |fibers| {
                fibers.start(0, || {
                    steps.set(steps.get() + 1);
                    suspend_until(|_| true);
                    steps.set(steps.get() + 1);
                });
                suspend_until(|_| true);
                assert!(fibers.resume(0, Look::Quick));
            });
            suspend_until(|_| true);
        });
        assert_eq!(steps.get(), 1);
        assert!(fibers.resume(0, Look::Quick));
        assert_eq!((steps.get(), fibers.is_idle(0)), (2, false));
        assert!(fibers.resume(0, Look::Quick) && fibers.is_idle(0));
    });
}

/// The mapping that holds `address`, and the accesses that are allowed to each mapping within `below` bytes below it.
fn mappings(address: usize, below: usize) -> (std::ops::Range<usize>, Vec<String>) {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let parsed: Vec<_> = maps
        .lines()
        .map(|line| {
            let mut words = line.split(' ');
            let (low, high) = words.next().unwrap().split_once('-').unwrap();
            let [low, high] = [low, high].map(|end| usize::from_str_radix(end, 16).unwrap());
            (low..high, words.next().unwrap().to_owned())
        })
        .collect();
    let (own, _) = parsed
        .iter()
        .find(|(range, _)| range.contains(&address))
        .unwrap();
    let near = parsed
        .iter()
        .filter(|(range, _)| range.start < own.start && range.end > own.start - below);
    (
        own.clone(),
        near.map(|(_, access)| access.clone()).collect(),
    )
}

#[test]
fn a_guard_lies_below_each_stack() {
    const STACK: usize = STACK_BYTES + 300_000;
    let page = rustix::param::page_size();
    for (mut stacks, bytes, guard) in [
        (Stacks::new(3).unwrap(), STACK_BYTES, page),
        (Stacks::for_operators(3, STACK).unwrap(), STACK, GUARD_BYTES),
        (
            Stacks::for_operators(3, 0).unwrap(),
            STACK_BYTES,
            GUARD_BYTES,
        ),
    ] {
        for slot in &mut stacks.0 {
            let stack = slot.stack.get_mut().as_ref().unwrap();
            let base = corosensei::stack::Stack::base(stack).get();
            let (own, below) = mappings(base - 1, guard);
            // Another mapping may follow at once, so only its lower end is that of the stack.
            assert_eq!(base - own.start, bytes.next_multiple_of(page));
            // Nothing may be mapped there, but it is reserved, so that nothing ever is.
            assert_eq!(below, ["---p"], "{own:x?}");
        }
        // The fibers run on them.
        scope(&mut stacks, |fibers| assert!(fibers.start(1, || ())));
    }
    assert!(Stacks::for_operators(1, usize::MAX).is_err());
}

/// Values that are dropped while a fiber is unwound may look at the fibers of the scope and resume them, but start
/// none: nobody would unwind it.
#[test]
fn what_is_unwound_uses_fibers_that_are_there_still() {
    struct Looks<'s, 'e, 'r> {
        fibers: &'s Fibers<'s, 'e>,
        seen: &'r RefCell<Vec<(usize, bool, bool)>>,
    }
    impl Drop for Looks<'_, '_, '_> {
        fn drop(&mut self) {
            let fibers = self.fibers;
            let start = || fibers.start(0, || ());
            let started = std::panic::catch_unwind(std::panic::AssertUnwindSafe(start));
            let seen = (
                fibers.count(),
                started.is_ok(),
                fibers.resume(2, Look::Quick),
            );
            self.seen.borrow_mut().push(seen);
        }
    }
    let seen = RefCell::new(Vec::new());
    let (steps, mut stacks) = (Cell::new(0), Stacks::new(3).unwrap());
    scope(&mut stacks, |fibers| {
        for slot in 0..3 {
            let (seen, steps) = (&seen, &steps);
            let ended = fibers.start(slot, move || {
                let _looks = (slot == 1).then(|| Looks { fibers, seen });
                suspend_until(|_| true);
                steps.set(steps.get() + slot);
            });
            assert!(!ended);
        }
    });
    assert_eq!(seen.into_inner(), [(3, false, true)]);
    assert_eq!((steps.get(), stacks.count()), (2, 3));
}

/// A job that goes on in spite of being unwound, and panics, keeps no other fiber from being unwound.
#[test]
fn a_panic_while_one_is_unwound_leaves_no_other_behind() {
    let dropped = Cell::new(0);
    let mut stacks = Stacks::new(3).unwrap();
    let run = || {
        scope(&mut stacks, |fibers| {
            fibers.start(0, || {
                let wait = || suspend_until(|_| true);
                let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(wait));
                panic!("on purpose");
            });
            for slot in 1..3 {
                let counted = Counted(&dropped);
                fibers.start(slot, move || {
                    let _counted = counted;
                    suspend_until(|_| true);
                });
            }
        });
    };
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    let said = *caught.unwrap_err().downcast::<&str>().unwrap();
    assert_eq!((said, dropped.get()), ("on purpose", 2));
    scope(&mut stacks, |fibers| {
        assert!(fibers.start(1, || ()) && fibers.start(2, || ()));
    });
}
