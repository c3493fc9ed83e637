//! Checks of a deep section: only a section that passes them is used.

use super::{Curve, Deep, Figure, SCHEMA};
use crate::file::FileError;
use crate::pairwise::CostModel;

impl Deep {
    /// Checks the version and every number.
    ///
    /// # Errors
    ///
    /// An unknown version; a number that is NaN, infinite, or beyond [`CostModel::COST_MAX`]; a negative one where nothing can be
    /// negative; points of a curve that are not in order.
    pub fn check(&self) -> Result<(), FileError> {
        if self.schema != SCHEMA {
            return Err(FileError::DeepSchema {
                found: self.schema.to_string(),
            });
        }
        let plain = [
            ("seconds", self.seconds),
            ("clock.ticks_per_ns", self.clock.ticks_per_ns),
            ("clock.drift", self.clock.drift),
            ("clock.steal", self.clock.steal),
        ];
        for (what, value) in plain {
            positive(|| what.to_owned(), value)?;
        }
        for (at, latency) in self.latencies.iter().enumerate() {
            figure(&format!("latencies[{at}]"), &latency.ns, false)?;
        }
        for (name, parameter) in &self.parameters {
            figure(&format!("parameters.{name:?}"), parameter, false)?;
        }
        for (at, curve) in self.curves.iter().enumerate() {
            check_curve(&format!("curves[{at}]"), curve)?;
        }
        for (at, reader) in self.readers.iter().enumerate() {
            let what = format!("readers[{at}]");
            figure(&what, &reader.ns, false)?;
            positive(|| format!("{what}.first"), reader.first)?;
            positive(|| format!("{what}.place"), reader.place)?;
        }
        for quantity in &self.quantities {
            figure(
                &format!("quantity {:?}", quantity.name),
                &quantity.figure,
                false,
            )?;
        }
        Ok(())
    }
}

fn check_curve(what: &str, curve: &Curve) -> Result<(), FileError> {
    for (at, point) in curve.points.iter().enumerate() {
        figure(&format!("{what}.points[{at}]"), &point.ns, false)?;
        let before = at.checked_sub(1).map_or(0, |before| curve.points[before].x);
        if point.x <= before {
            return Err(FileError::Deep {
                reason: format!("{what}.points[{at}].x is {} after {before}", point.x),
            });
        }
    }
    let Some(fit) = &curve.fit else { return Ok(()) };
    // A fitted coefficient may have either sign.
    figure(&format!("{what}.fit.base"), &fit.base, true)?;
    figure(&format!("{what}.fit.slope"), &fit.slope, true)?;
    if let Some(inverse) = &fit.inverse {
        figure(&format!("{what}.fit.inverse"), inverse, true)?;
    }
    positive(|| format!("{what}.fit.misfit"), fit.misfit)
}

fn figure(what: &str, figure: &Figure, signed: bool) -> Result<(), FileError> {
    let value = if signed {
        figure.value.abs()
    } else {
        figure.value
    };
    positive(|| format!("{what}.value"), value)?;
    positive(|| format!("{what}.half_width"), figure.half_width)
}

fn positive(what: impl Fn() -> String, value: f64) -> Result<(), FileError> {
    // NaN fails the range test, as it must.
    if (0.0..=CostModel::COST_MAX).contains(&value) {
        return Ok(());
    }
    Err(FileError::Deep {
        reason: format!(
            "{} is {value}, expected 0 to {}",
            what(),
            CostModel::COST_MAX
        ),
    })
}
