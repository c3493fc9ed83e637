//! Explores a model, and shows that it catches seeded faults. The loom tests of other crates use this file, too.

use corecast_wire::mutant::{self, Mutant};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Mutants are seeded process-wide, so one model runs at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// Explores `model` whole, or within `preemptions`, and returns the number of executions.
fn explore(preemptions: Option<usize>, model: impl Fn() + Send + Sync + 'static) -> usize {
    let executions = std::sync::Arc::new(AtomicUsize::new(0));
    let counter = executions.clone();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = preemptions;
    builder.max_branches = 10_000;
    builder.check(move || {
        counter.fetch_add(1, Ordering::Relaxed);
        model();
    });
    executions.load(Ordering::Relaxed)
}

/// Checks that the model holds, in more than three executions, and that it catches each of `mutants`.
pub(crate) fn check(
    name: &str,
    preemptions: Option<usize>,
    mutants: &[Mutant],
    model: impl Fn() + Clone + Send + Sync + 'static,
) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(|e| e.into_inner());
    mutant::seed(Mutant::None);
    let executions = explore(preemptions, model.clone());
    println!("{name}: {executions} executions");
    assert!(executions > 3, "{name}: only {executions} executions");
    for &seeded in mutants {
        mutant::seed(seeded);
        let model = model.clone();
        let caught = catch_unwind(AssertUnwindSafe(|| explore(preemptions, model)));
        mutant::seed(Mutant::None);
        let Err(why) = caught else {
            panic!("{name}: the seeded fault {seeded:?} went unnoticed");
        };
        let literal = why.downcast_ref::<&str>().copied();
        let why = why.downcast_ref::<String>().map(String::as_str);
        let why = why.or(literal).expect("a panic says why");
        assert!(
            !why.contains("maximum number of branches"),
            "{name}: {seeded:?}: {why}"
        );
        println!("{name}: {seeded:?} caught");
    }
}
