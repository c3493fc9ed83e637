//! A progress bar with the time left, on standard error, where that is a terminal.

use std::fmt::Display;

use corecast_bench::Progress;
use indicatif::{ProgressBar, ProgressState, ProgressStyle};

/// Steps that a whole task is divided into.
const STEPS: u64 = 1000;

/// A bar for one task.
pub(crate) struct Bar {
    bar: ProgressBar,
}

/// A bar for `task`; invisible where standard error is no terminal.
pub(crate) fn bar(task: &'static str) -> Bar {
    let bar = ProgressBar::new(STEPS);
    // The template is constant; were it wrong, the default style would do.
    if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:30}] {percent} %, {left}{msg}")
    {
        let left = |state: &ProgressState, out: &mut dyn std::fmt::Write| {
            // Before that, a guess would be wild.
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
    /// Shows that `done` of the task, from 0 to 1, is over.
    pub(crate) fn at(&self, done: f64, message: &str) {
        self.bar
            .set_position((done.clamp(0.0, 1.0) * STEPS as f64) as u64);
        self.say(message);
    }

    /// Shows how a race of `what` comes along: a `part` of the task, which begins when so much `before` it is
    /// over, both from 0 to 1.
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

    /// Shows what is going on.
    pub(crate) fn say(&self, message: &str) {
        self.bar.set_message(message.to_owned());
    }

    /// Begins to guess the time left: what came before tells nothing about the pace from now on.
    pub(crate) fn start(&self) {
        self.bar.reset_eta();
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
