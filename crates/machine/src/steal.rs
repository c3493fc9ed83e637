//! The share of its processors' time that a virtual machine's host has taken.

/// Time of some hardware threads since the system was started, in the kernel's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuTime {
    stolen: u64,
    all: u64,
}

/// Returns the time of these hardware threads so far; `None` where the kernel does not tell.
///
/// # Cost
///
/// One small file is read.
///
/// # Examples
///
/// ```
/// let pus: Vec<u32> = corecast_machine::discover().machine.pus.iter().map(|pu| pu.os_index).collect();
/// if let (Some(begin), Some(end)) = (corecast_machine::cpu_time(&pus), corecast_machine::cpu_time(&pus)) {
///     assert!((0.0..=1.0).contains(&end.stolen_since(&begin)));
/// }
/// ```
#[must_use]
pub fn cpu_time(pus: &[u32]) -> Option<CpuTime> {
    parse(&std::fs::read_to_string("/proc/stat").ok()?, pus)
}

impl CpuTime {
    /// Returns the share of the time since `earlier` that the host took, from 0 to 1.
    #[must_use]
    pub fn stolen_since(&self, earlier: &Self) -> f64 {
        let all = self.all.saturating_sub(earlier.all);
        let stolen = self.stolen.saturating_sub(earlier.stolen).min(all);
        stolen as f64 / all.max(1) as f64
    }
}

/// Lines are `cpuN user nice system idle iowait irq softirq steal guest guest_nice`; guest time is part of
/// user time.
fn parse(stat: &str, pus: &[u32]) -> Option<CpuTime> {
    const COUNTED: usize = 8;
    const STEAL: usize = 7;
    let mut time = CpuTime { stolen: 0, all: 0 };
    let mut found = 0;
    for line in stat.lines() {
        let mut words = line.split_whitespace();
        let number = words.next().and_then(|name| name.strip_prefix("cpu"));
        let Some(number) = number.and_then(|digits| digits.parse::<u32>().ok()) else {
            continue;
        };
        if !pus.contains(&number) {
            continue;
        }
        let ticks: Vec<u64> = words.map_while(|word| word.parse().ok()).collect();
        time.stolen += ticks.get(STEAL)?;
        time.all += ticks.iter().take(COUNTED).sum::<u64>();
        found += 1;
    }
    (found > 0).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_a_part_of_the_time_that_passed() {
        let stat = |steal: u64, idle: u64| {
            format!(
                "cpu 9 9 9 9 9 9 9 9 9 9\ncpu0 10 0 5 {idle} 0 0 0 {steal} 3 0\ncpu1 1 1 1 1 1 1 1 1 0 0\nintr 5\n"
            )
        };
        let begin = parse(&stat(10, 100), &[0]).unwrap();
        let end = parse(&stat(40, 370), &[0]).unwrap();
        assert_eq!(end.stolen_since(&begin), 0.1);
        assert_eq!(begin.stolen_since(&end), 0.0);
        assert_eq!(begin.stolen_since(&begin), 0.0);
        let both = parse(&stat(10, 100), &[0, 1]).unwrap();
        assert_eq!(
            both,
            CpuTime {
                stolen: 11,
                all: 133
            }
        );
        assert_eq!(parse(&stat(1, 1), &[7]), None);
        assert_eq!(parse("cpu0 1 2 3\n", &[0]), None);
        assert_eq!(parse("", &[0]), None);
    }
}
