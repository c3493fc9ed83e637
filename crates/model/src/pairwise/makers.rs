//! Models made from functions, and models with other NUMA nodes or other costs of shared lines.

use std::borrow::Cow;

use super::{CostError, CostModel, Hosts, Matrix, Unit};
use crate::lines::{LineCosts, Lines, Place};

impl CostModel {
    /// Makes a model from two functions of the ordered pair, with one thread for each entry of
    /// `numa`.
    ///
    /// # Errors
    ///
    /// Those of [`CostModel::new`].
    pub fn from_fn(
        unit: Unit,
        numa: Vec<u32>,
        mut send: impl FnMut(usize, usize) -> f64,
        mut receive: impl FnMut(usize, usize) -> f64,
    ) -> Result<Self, CostError> {
        let n = numa.len();
        if n == 0 {
            return Err(CostError::Empty);
        }
        let send = Matrix::from_fn(n, |i, j| if i == j { 0.0 } else { send(i, j) });
        let receive = Matrix::from_fn(n, |i, j| if i == j { 0.0 } else { receive(i, j) });
        send.check("send")?;
        receive.check("receive")?;
        Ok(Self {
            unit,
            send,
            receive,
            numa,
            lines: None,
            hosts: None,
        })
    }

    /// Replaces the NUMA nodes, one for each thread, and keeps the costs.
    ///
    /// # Panics
    ///
    /// When the list's length is not [`CostModel::n`].
    #[must_use]
    pub fn with_numa(mut self, numa: Vec<u32>) -> Self {
        assert_eq!(numa.len(), self.n(), "one NUMA node for each thread");
        if let Some(lines) = &mut self.lines {
            lines.set_numa(&numa);
        }
        self.numa = numa;
        self
    }

    /// Adds costs of shared lines, in the same unit, and the place of each thread.
    ///
    /// # Errors
    ///
    /// A cost that [`LineCosts::check`] refuses, or not one place for each thread.
    pub fn with_lines(mut self, costs: LineCosts, places: Vec<Place>) -> Result<Self, CostError> {
        if places.len() != self.n() {
            return Err(CostError::Length {
                what: "lines",
                found: places.len(),
                expected: self.n(),
            });
        }
        self.lines = Some(Lines::new(costs, places)?);
        Ok(self)
    }

    /// Sets the host of each thread, and whether its NUMA node owns a network card.
    ///
    /// # Panics
    ///
    /// When the list's length is not [`CostModel::n`].
    #[must_use]
    pub fn with_hosts(mut self, places: Vec<(u32, bool)>) -> Self {
        assert_eq!(places.len(), self.n(), "one host for each thread");
        let (of, cards) = places.into_iter().unzip();
        self.hosts = Some(Hosts { of, cards });
        self
    }

    /// Returns the model without costs of shared lines, for a caller that can run no groups. It is
    /// a copy only where there are such costs.
    #[must_use]
    pub fn without_lines(&self) -> Cow<'_, Self> {
        match self.lines {
            None => Cow::Borrowed(self),
            Some(_) => Cow::Owned(Self {
                lines: None,
                ..self.clone()
            }),
        }
    }
}
