//! Plans as a table: latency, bound and gap of each.

use comfy_table::{Cell, CellAlignment, Table, presets};
use corecast_bench::Forecast;
use corecast_model::words::decimals;
use corecast_plan::{Plan, Scope};

use super::search::gap;
use corecast_plan::Members;
use corecast_tune::contest::Timed;

/// A table with one line per plan, and columns for the models' forecasts if there are any.
pub(crate) fn with_forecasts(
    team: &Members,
    plans: &[Timed],
    forecasts: &[Option<Forecast>],
) -> Table {
    let mut table = table(team, plans.iter());
    if forecasts.iter().all(Option::is_none) {
        return table;
    }
    let d = decimals(plans.iter().map(|t| t.plan.latency).fold(0.0, f64::max));
    let time = |time: Option<f64>| time.map_or("-".to_owned(), |time| format!("{time:.d$}"));
    let header = table.header().cloned().unwrap_or_default();
    let cells = header.cell_iter().cloned();
    let names = Forecast::COLUMNS.map(Cell::from);
    table.set_header(cells.chain(names).collect::<Vec<Cell>>());
    for (row, &forecast) in table.row_iter_mut().zip(forecasts) {
        for found in Forecast::columns(forecast) {
            row.add_cell(Cell::from(time(found)));
        }
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// A table with one line per plan.
pub(crate) fn table<'a>(team: &Members, plans: impl Iterator<Item = &'a Timed>) -> Table {
    let plans: Vec<&Timed> = plans.collect();
    let unit = team.unit();
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "pattern",
        "root",
        &format!("latency {unit}"),
        "to best",
        &format!("bound {unit}"),
        "gap",
        "search ms",
    ]);
    let best = plans.first().map_or(0.0, |t| t.plan.latency);
    let d = decimals(plans.iter().map(|t| t.plan.latency).fold(0.0, f64::max));
    for Timed { plan, search_ms } in plans {
        let ratio = if best > 0.0 { plan.latency / best } else { 1.0 };
        table.add_row([
            plan.pattern.to_string(),
            match plan.rounds() {
                Some(_) => "-".to_owned(),
                None => plan.root.to_string(),
            },
            format!("{:.d$}", plan.latency),
            format!("{ratio:.2}"),
            format!("{:.d$}", plan.lower_bound),
            gap(plan),
            format!("{search_ms:.3}"),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// What the bounds of plans hold for, one line for each set of schedules; the line of most plans is last.
pub(crate) fn scopes<'a>(plans: impl Iterator<Item = &'a Plan>) -> String {
    let mut scopes: Vec<(Scope, Vec<String>)> = Vec::new();
    for plan in plans {
        let name = plan.pattern.to_string();
        match scopes.iter_mut().find(|(scope, _)| *scope == plan.scope) {
            Some((_, names)) => names.push(name),
            None => scopes.push((plan.scope, vec![name])),
        }
    }
    scopes.sort_by_key(|(_, names)| names.len());
    let several = scopes.len() > 1;
    let Some((most, _)) = scopes.pop() else {
        return String::new();
    };
    let mut text = String::new();
    for (scope, names) in scopes {
        text += &format!("bound of {}: no {scope} is faster\n", names.join(", "));
    }
    let others = if several { " of the others" } else { "" };
    text + &format!("bound{others}: no {most} is faster\n")
}
