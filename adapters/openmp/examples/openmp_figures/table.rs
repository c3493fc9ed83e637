//! Tables of times and ratios, as the records have them.

use super::epcc::Row;
use super::runs::Setting;
use std::error::Error;
use std::fmt::Write;
use std::process::Command;

/// Machine, date and command.
pub(crate) fn heading(command: &[String]) -> Result<String, Box<dyn Error>> {
    let cpus = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpus
        .lines()
        .find_map(|line| line.strip_prefix("model name"));
    let model = model.map_or("unknown processor", |rest| {
        rest.trim_start_matches(['\t', ' ', ':'])
    });
    let usable = std::thread::available_parallelism()?;
    let printed = |program: &str, option: &str| {
        let output = Command::new(program).arg(option).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        Some(text.lines().next()?.to_owned())
    };
    let known = |text: Option<String>| text.unwrap_or_else(|| "unknown".into());
    let versions = ["gcc", "clang"].map(|name| known(printed(name, "--version")));
    Ok(format!(
        "{model}, {usable} processors usable; Linux {}; {}\n{}\n$ {}\n",
        known(printed("uname", "-r")),
        known(printed("date", "-I")),
        versions.join("; "),
        command.join(" ")
    ))
}

/// The median of some numbers, and its 95 % interval from order statistics; the interval is the whole range where there
/// are fewer than six.
pub(crate) fn median(numbers: impl IntoIterator<Item = f64>) -> (f64, f64, f64) {
    let mut sorted: Vec<f64> = numbers.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let number = sorted.len();
    assert!(number > 0, "a median of nothing");
    let median = (sorted[(number - 1) / 2] + sorted[number / 2]) / 2.0;
    // The largest k such that the k least and the k largest of the sample hold 5 % of all cases together: the number of
    // values below the true median is binomial.
    let mut chance = 0.5_f64.powi(i32::try_from(number).unwrap_or(i32::MAX));
    let (mut below, mut k) = (0.0, 0);
    while k < number / 2 && below + chance <= 0.025 {
        below += chance;
        chance *= (number - k) as f64 / (k + 1) as f64;
        k += 1;
    }
    let cut = k.saturating_sub(1);
    (median, sorted[cut], sorted[number - 1 - cut])
}

fn name(setting: &Setting) -> String {
    let how = if setting.bound { "bound" } else { "free" };
    format!("{} threads, {how}", setting.threads)
}

fn ratio(pairs: &[(f64, f64)]) -> String {
    let (middle, low, high) = median(pairs.iter().map(|&(without, with)| with / without));
    format!("{middle:.2} ({low:.2}..{high:.2})")
}

/// Times of constructs in nanoseconds, and ratios, by runtime.
pub(crate) fn of_constructs(setting: &Setting, rows: &[Row]) -> String {
    let mut text = format!("\n{}, ns of a construct\n", name(setting));
    let width = rows.iter().map(|row| row.0.len()).max().unwrap_or(0);
    for (construct, runtimes) in rows {
        let _ = write!(text, "{construct:width$}");
        for (runtime, pairs) in runtimes {
            let (without, ..) = median(pairs.iter().map(|pair| pair.0));
            let (with, ..) = median(pairs.iter().map(|pair| pair.1));
            let ratio = ratio(pairs);
            let _ = write!(text, "  {runtime:4} {without:6.0} {with:6.0}  {ratio:18}");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// A command, how it ran, and its seconds in pairs without and with the adapter.
pub(crate) type Whole<'a> = (&'a str, &'a Setting, Vec<(f64, f64)>);

/// Seconds of whole programs, and ratios.
pub(crate) fn of_commands(rows: &[Whole<'_>]) -> String {
    let mut text = String::from("\nseconds of whole programs: without, with, ratio\n");
    for (command, setting, pairs) in rows {
        let (without, ..) = median(pairs.iter().map(|pair| pair.0));
        let (with, ..) = median(pairs.iter().map(|pair| pair.1));
        let (setting, ratio) = (name(setting), ratio(pairs));
        let _ = writeln!(
            text,
            "{setting:16} {without:8.2} {with:8.2}  {ratio}  {command}"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The positions are those of tables of the sign test.
    #[test]
    fn intervals_are_those_of_order_statistics() {
        for (number, cut) in [(5, 0), (6, 0), (9, 1), (15, 3), (25, 7)] {
            let (middle, low, high) = median((0..number).map(f64::from));
            assert_eq!(middle, f64::from(number - 1) / 2.0);
            assert_eq!((low, high), (f64::from(cut), f64::from(number - 1 - cut)));
        }
        assert_eq!(median([3.0, 1.0]), (2.0, 1.0, 3.0));
    }
}
