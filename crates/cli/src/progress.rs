//! A progress bar with the time left, on standard error, where that is a terminal.

use std::fmt::Display;

use corecast_bench::Progress;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// Steps into which a whole task is divided.
const STEPS: u64 = 1000;

/// The progress bar of one task.
pub(crate) struct Bar {
    bar: ProgressBar,
}

/// A bar for `task`; invisible where standard error is no terminal.
pub(crate) fn bar(task: &'static str) -> Bar {
    let bar = ProgressBar::new(STEPS);
    // The template is constant; if it were wrong, the default style would be used.
    if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:30}] {percent} %, {left}{msg}")
    {
        let left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            // An earlier estimate would be too rough.
            if state.fraction() >= 0.01 {
                let _ = write!(out, "{:.0} s left, ", state.eta().as_secs_f64());
            }
        };
        bar.set_style(style.progress_chars("=> ").with_key("left", left));
    }
    bar.set_prefix(task);
    Bar { bar }
}

impl Bar {
    /// Shows that the part `done` of the task, from 0 to 1, is over.
    pub(crate) fn at(&self, done: f64, message: &str) {
        self.bar
            .set_position((done.clamp(0.0, 1.0) * STEPS as f64) as u64);
        self.say(message);
    }

    /// Shows the progress of a race of `what`, which is the part `part` of the task and begins when the part `before`
    /// is over; both are from 0 to 1.
    pub(crate) fn race(&self, what: impl Display, before: f64, part: f64, step: Progress<'_>) {
        match step {
            Progress::Preparing { name, .. } => self.say(&format!("{what}: checking {name}")),
            Progress::Round { round, done } => {
                if before == 0.0 && round == 0 {
                    self.start();
                }
                self.at(before + part * done, &format!("{what}, round {round}"));
            }
        }
    }

    /// Shows a message.
    pub(crate) fn say(&self, message: &str) {
        self.bar.set_message(message.to_owned());
    }

    /// Restarts the estimate of the time left, since preparation says nothing about the pace of the task.
    pub(crate) fn start(&self) {
        self.bar.reset_eta();
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
