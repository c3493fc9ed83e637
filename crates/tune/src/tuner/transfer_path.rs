//! The transfer path between processes: long data race through bounce buffers and copied by the kernel.

use super::{Tuner, shares};
use crate::outcome::{TeamRace, raced};
use crate::racer::{Contender, RaceFailed};
use crate::transfer_paths::{OPERATIONS, SIZES, start};
use corecast_team::KernelCopies;

impl Tuner<'_> {
    /// Tunes from which length on the kernel copies data between processes.
    pub(super) fn tune_transfer_path(&mut self) -> Result<(), RaceFailed> {
        let paths = [KernelCopies::Never, KernelCopies::From(1)];
        let mut ratios = Vec::new();
        for bytes in SIZES {
            let mut of_size = Vec::new();
            for operation in OPERATIONS {
                if bytes > self.racer.bytes_max(operation) {
                    self.races.1 -= shares(bytes);
                    continue;
                }
                let named = ["bounce buffers", "kernel copies"].map(|path| (path.to_owned(), None));
                let contenders: Vec<Contender> = paths
                    .iter()
                    .zip(&named)
                    .map(|(&path, (path_name, _))| {
                        let mut form = self.form(operation, None);
                        form.kernel_copies = Some(path);
                        Contender {
                            name: path_name.clone(),
                            form,
                        }
                    })
                    .collect();
                let subject = self.task(operation, bytes);
                // All sizes beyond decide as well, so one replicate of each is enough.
                let Some(test) =
                    self.race(subject, "transfer paths", &contenders, Vec::new(), Some(1))?
                else {
                    return Ok(());
                };
                of_size.extend(test.ratio(1, 0));
                if let Some(winner) = test.winner() {
                    self.team.push(TeamRace {
                        what: "long data between processes".to_owned(),
                        subject: subject.to_string(),
                        candidates: raced(&test, &named, Some(winner)),
                        winner,
                    });
                }
            }
            ratios.push((bytes, of_size));
        }
        self.kernel_copies = Some(start(&ratios));
        Ok(())
    }
}
