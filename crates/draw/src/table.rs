//! Tables as text.

use comfy_table::{CellAlignment, Row, Table, presets};

/// A table without rules, whose columns at `numbers` are aligned right.
pub fn table(header: impl Into<Row>, numbers: impl IntoIterator<Item = usize>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    for column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}
