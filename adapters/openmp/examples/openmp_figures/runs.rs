//! Runs of a program with the adapter and without, in turn.

use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Instant;

/// How a program runs.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) threads: usize,
    /// Whether the runtime binds each thread to a core.
    pub(crate) bound: bool,
    pub(crate) adapter: PathBuf,
}

impl Setting {
    fn set(&self, command: &mut Command, is_with: bool) {
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let foreign = ["OMP_", "GOMP_", "KMP_"];
            if foreign.iter().any(|start| text.starts_with(start)) || text == "LD_PRELOAD" {
                command.env_remove(&name);
            }
        }
        command.env("OMP_NUM_THREADS", self.threads.to_string());
        if self.bound {
            command.envs([("OMP_PLACES", "cores"), ("OMP_PROC_BIND", "true")]);
        }
        if is_with {
            command.env("LD_PRELOAD", &self.adapter);
        }
    }
}

/// The adapter that was built together with this program.
pub(crate) fn adapter() -> Result<PathBuf, Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let built = program.ancestors().nth(2).ok_or("no folder of builds")?;
    let name = "libcorecast_openmp.so";
    let places = [built.join("deps").join(name), built.join(name)];
    let newest = places
        .into_iter()
        .filter_map(|place| Some((place.metadata().ok()?.modified().ok()?, place)))
        .max();
    let missing = || {
        format!(
            "{name} is missing in {}; cargo build --release -p corecast-openmp makes it",
            built.display()
        )
    };
    Ok(newest.ok_or_else(missing)?.1)
}

/// Runs `command` without the adapter and with it, `pairs` times; which of them is first changes with each pair. `take`
/// gets each run's output and seconds, and makes a result of them.
pub(crate) fn pairs<T>(
    command: &dyn Fn() -> Command,
    setting: &Setting,
    pairs: usize,
    take: impl Fn(&Output, f64) -> Result<T, Box<dyn Error>>,
) -> Result<Vec<(T, T)>, Box<dyn Error>> {
    let one = |is_with| -> Result<T, Box<dyn Error>> {
        let mut command = command();
        setting.set(&mut command, is_with);
        let began = Instant::now();
        let output = command
            .output()
            .map_err(|error| format!("{command:?}: {error}"))?;
        let seconds = began.elapsed().as_secs_f64();
        match output.status.success() {
            true => take(&output, seconds),
            false => {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                Err(format!("{command:?}: {}\n{said}", output.status).into())
            }
        }
    };
    (0..pairs)
        .map(|pair| match pair % 2 {
            0 => {
                let without = one(false)?;
                Ok((without, one(true)?))
            }
            _ => {
                let with = one(true)?;
                Ok((one(false)?, with))
            }
        })
        .collect()
}

/// Seconds of a whole command, in pairs without and with the adapter.
///
/// # Errors
///
/// If a run fails, or two of them write different things.
pub(crate) fn whole(
    command: &str,
    setting: &Setting,
    number: usize,
) -> Result<Vec<(f64, f64)>, Box<dyn Error>> {
    let shell = || {
        let mut shell = Command::new("sh");
        shell.args(["-c", command]);
        shell
    };
    let runs = pairs(&shell, setting, number, |output, seconds| {
        Ok((output.stdout.clone(), seconds))
    })?;
    let mut outputs = runs
        .iter()
        .flat_map(|(without, with)| [&without.0, &with.0]);
    let first = outputs.next();
    if !outputs.all(|output| Some(output) == first) {
        return Err(format!("{command:?} wrote different things in two runs ({setting:?})").into());
    }
    Ok(runs
        .iter()
        .map(|(without, with)| (without.1, with.1))
        .collect())
}
