//! Room for the data of a race.

use std::fs;

use corecast_bench::sized::Task;

use super::error::ContestError;

type Result<T> = std::result::Result<T, ContestError>;

/// Contestants besides Corecast's own threads that keep their data: two floors, and one process or peer at a time.
const OTHERS: usize = 3;

/// So many contestants are counted at least.
const HOLDERS_LEAST: usize = 8;

/// Refuses data that do not fit into memory where `own` teams of threads race.
///
/// # Errors
///
/// [`ContestError::TooLarge`] if the buffers of all contestants need more than nine tenths of the available memory.
pub fn check_memory(task: &Task, own: usize) -> Result<()> {
    let need = task
        .footprint()
        .saturating_mul((own + OTHERS).max(HOLDERS_LEAST));
    let Some(there) = available_bytes() else {
        return Ok(());
    };
    if need > there / 10 * 9 {
        return Err(ContestError::TooLarge {
            task: *task,
            need_mib: need >> 20,
            there_mib: there >> 20,
        });
    }
    Ok(())
}

/// The available memory of this machine in bytes; `None` where the system does not say.
pub fn available_bytes() -> Option<usize> {
    available(&fs::read_to_string("/proc/meminfo").ok()?)
}

/// The available memory in bytes, from the text of `/proc/meminfo`.
fn available(meminfo: &str) -> Option<usize> {
    let mut lines = meminfo.lines();
    let line = lines.find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: usize = line.split_ascii_whitespace().next()?.parse().ok()?;
    kib.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use corecast_model::Collective;

    #[test]
    fn what_does_not_fit_is_refused_with_the_way_out() {
        let mut task = Task {
            operation: Collective::Alltoall,
            ranks: 2,
            bytes: 8,
        };
        check_memory(&task, 1).unwrap();
        task.bytes = 1 << 50;
        let error = check_memory(&task, 1).unwrap_err().to_string();
        assert!(error.contains("1125899906842624"), "{error}");
        assert!(error.contains("fewer --ranks"), "{error}");
        assert_eq!(available("A: 1 kB\nMemAvailable:  3 kB\n"), Some(3072));
        assert_eq!(available("nothing"), None);
    }
}
