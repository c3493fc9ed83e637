//! A progress bar with the time left, on standard error, where that is a terminal.

use indicatif::{ProgressBar, ProgressStyle};

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
    if let Ok(style) =
        ProgressStyle::with_template("{prefix} [{bar:30}] {percent} %, {eta} left, {msg}")
    {
        bar.set_style(style.progress_chars("=> "));
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

    /// Shows what is going on.
    pub(crate) fn say(&self, message: &str) {
        self.bar.set_message(message.to_owned());
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
