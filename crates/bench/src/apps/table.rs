//! Sums and minima over all ranks by a shared table and a barrier.
//!
//! ```text
//! sum    own row ── barrier ── own columns of all rows → totals ── barrier ── totals
//! min    own row ── barrier ── first column of all rows
//! ```
//!
//! Invariant 1: operations use the two sets of rows in turn. A row is written again two operations
//! later, and no rank passes a barrier of the operation between before all ranks have read the row.
//!
//! Invariant 2: totals are written between the two barriers of a sum and read after the second one;
//! no rank passes the first barrier of the next sum before all ranks have read them.

use super::{Lost, SyncBackend, share};
use std::sync::atomic::{AtomicI64, Ordering};

/// Columns of a row; longer data are summed in several parts.
const WIDTH: usize = 256;

/// A row on cache lines of its own.
#[derive(Debug)]
#[repr(align(128))]
struct TableRow([AtomicI64; WIDTH]);

impl TableRow {
    fn new() -> TableRow {
        TableRow(std::array::from_fn(|_| AtomicI64::new(0)))
    }
}

/// Memory in which ranks combine values.
#[derive(Debug)]
pub struct Table {
    /// Rows of the first set by rank, then those of the second set.
    rows: Box<[TableRow]>,
    totals: TableRow,
    ranks: usize,
}

impl Table {
    /// A table for `ranks` ranks.
    pub fn new(ranks: usize) -> Table {
        Table {
            rows: (0..2 * ranks).map(|_| TableRow::new()).collect(),
            totals: TableRow::new(),
            ranks,
        }
    }

    fn row(&self, set: usize, rank: usize) -> &[AtomicI64; WIDTH] {
        &self.rows[set * self.ranks + rank].0
    }
}

/// A rank at a table, whose barrier is `pass`.
pub(super) struct TableRank<'a, P> {
    table: &'a Table,
    rank: usize,
    pass: P,
    set: usize,
    barriers: u64,
}

impl<'a, P: FnMut() -> Result<(), Lost>> TableRank<'a, P> {
    pub(super) fn new(table: &'a Table, rank: usize, pass: P) -> Self {
        TableRank {
            table,
            rank,
            pass,
            set: 0,
            barriers: 0,
        }
    }

    fn next_set(&mut self) -> usize {
        self.set = 1 - self.set;
        self.set
    }

    /// The first column of every row.
    fn gathered(&self, set: usize) -> impl Iterator<Item = i64> {
        let rows = (0..self.table.ranks).map(move |rank| self.table.row(set, rank));
        rows.map(|row| row[0].load(Ordering::Relaxed))
    }
}

impl<P: FnMut() -> Result<(), Lost>> SyncBackend for TableRank<'_, P> {
    fn barrier(&mut self) -> Result<(), Lost> {
        self.barriers += 1;
        (self.pass)()
    }

    // Relaxed throughout: the barrier orders all accesses, and is verified to do so.
    fn sum(&mut self, data: &mut [i64]) -> Result<(), Lost> {
        let table = self.table;
        for part in data.chunks_mut(WIDTH) {
            let set = self.next_set();
            for (cell, value) in table.row(set, self.rank).iter().zip(&*part) {
                cell.store(*value, Ordering::Relaxed);
            }
            self.barrier()?;
            for column in share(part.len(), self.rank, table.ranks) {
                let cells = (0..table.ranks).map(|rank| &table.row(set, rank)[column]);
                // The sum wraps, since a barrier under test may have let wrong values through.
                let total = cells.fold(0_i64, |sum, cell| {
                    sum.wrapping_add(cell.load(Ordering::Relaxed))
                });
                table.totals.0[column].store(total, Ordering::Relaxed);
            }
            self.barrier()?;
            for (value, total) in part.iter_mut().zip(&table.totals.0) {
                *value = total.load(Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn min(&mut self, value: i64) -> Result<i64, Lost> {
        let set = self.next_set();
        self.table.row(set, self.rank)[0].store(value, Ordering::Relaxed);
        self.barrier()?;
        Ok(self.gathered(set).min().unwrap_or(value))
    }

    fn join_sum(&mut self, value: i64) -> Result<i64, Lost> {
        let set = self.next_set();
        self.table.row(set, self.rank)[0].store(value, Ordering::Relaxed);
        self.barrier()?;
        Ok(match self.rank {
            0 => self.gathered(set).fold(0, i64::wrapping_add),
            _ => value,
        })
    }

    fn synchronisations(&self) -> u64 {
        self.barriers
    }
}
