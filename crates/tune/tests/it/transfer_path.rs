//! The path of long data between processes, on a synthetic machine.

use crate::synthetic::{Synthetic, plain, search_space};
use corecast_model::Collective;
use corecast_team::KernelCopies;
use corecast_tune::predict::Unknown;
use corecast_tune::racer::{Contender, RaceFailed, Racer, Subject};
use corecast_tune::search_space::SearchSpace;
use corecast_tune::sequential_test::SequentialTest;
use corecast_tune::tuner::{TuneRequest, tune};
use std::time::Duration;

#[test]
fn the_path_between_processes_that_wins_is_that_of_all_later_races() {
    struct Watched {
        machine: Synthetic,
        paths: Vec<Option<KernelCopies>>,
    }
    impl Racer for Watched {
        fn race(
            &mut self,
            subject: Subject,
            contenders: &[Contender],
            test: &mut SequentialTest,
            limit: Duration,
        ) -> Result<(), RaceFailed> {
            let paths = contenders.iter().map(|one| one.form.kernel_copies);
            self.paths.extend(paths);
            self.machine.race(subject, contenders, test, limit)
        }
        fn now(&self) -> Duration {
            self.machine.now()
        }
    }
    // The kernel is faster from a length on, or nowhere.
    let run = |from: usize, request: &TuneRequest| {
        let law = move |operation, bytes, name: &str| match name {
            "bounce buffers" => Some(100.0),
            "kernel copies" => Some(if bytes < from { 300.0 } else { 50.0 }),
            _ => plain(operation, bytes, name),
        };
        let mut racer = Watched {
            machine: Synthetic::new(law),
            paths: Vec::new(),
        };
        let space = SearchSpace {
            processes: true,
            transfer_paths: true,
            wait_configs: Vec::new(),
            ..search_space(8)
        };
        let outcome = tune(&mut racer, &space, &Unknown, request, &mut |_| {}).unwrap();
        (outcome, racer.paths)
    };
    for (from, expected) in [
        (1 << 20, KernelCopies::From(1 << 20)),
        (0, KernelCopies::From(64 << 10)),
        (usize::MAX, KernelCopies::Never),
    ] {
        let (outcome, paths) = run(from, &TuneRequest::default());
        assert_eq!(outcome.kernel_copies, Some(expected));
        assert_eq!(paths.first(), Some(&None));
        assert_eq!(paths.last(), Some(&Some(expected)));
        let races = outcome.team.iter();
        let of_paths = races.filter(|race| race.what == "long data between processes");
        // Two operations at five sizes.
        assert_eq!(of_paths.count(), 10);
        assert_eq!(outcome.operations.len(), Collective::WITH_ALGORITHMS.len());
    }
    // A tuning of other operations, or of short data, does not say anything of the path.
    let short = TuneRequest {
        sizes: vec![8, 4096],
        ..TuneRequest::default()
    };
    let other = TuneRequest {
        operations: vec![Collective::Scan],
        ..TuneRequest::default()
    };
    for request in [short, other] {
        let (outcome, paths) = run(0, &request);
        assert_eq!(outcome.kernel_copies, None);
        assert!(paths.iter().all(Option::is_none));
    }
}
