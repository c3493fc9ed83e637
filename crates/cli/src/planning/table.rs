//! Plans as a table: latency, bound and gap of each.

use comfy_table::Table;
use corecast_bench::Forecast;
use corecast_model::words::decimals;
use corecast_plan::{Plan, Scope};

use super::search::gap;
use corecast_plan::Members;
use corecast_tune::contest::Timed;

/// A table with one line per plan, and columns for the models' forecasts of them if there are any.
pub(crate) fn table<'a>(
    team: &Members,
    plans: impl Iterator<Item = &'a Timed>,
    forecasts: &[Option<Forecast>],
) -> Table {
    let plans: Vec<&Timed> = plans.collect();
    let unit = team.unit();
    let foreseen = forecasts.iter().any(Option::is_some);
    let latency = format!("latency {unit}");
    let bound = format!("bound {unit}");
    let mut header = vec![
        "pattern",
        "root",
        &latency,
        "to best",
        &bound,
        "gap",
        "search ms",
    ];
    if foreseen {
        header.extend(Forecast::COLUMNS);
    }
    let numbers = 1..header.len();
    let mut table = corecast_draw::table(header, numbers);
    let best = plans.first().map_or(0.0, |t| t.plan.latency);
    let d = decimals(plans.iter().map(|t| t.plan.latency).fold(0.0, f64::max));
    for (at, Timed { plan, search_ms }) in plans.into_iter().enumerate() {
        let ratio = if best > 0.0 { plan.latency / best } else { 1.0 };
        let mut row = vec![
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
        ];
        if foreseen {
            let time =
                |time: Option<f64>| time.map_or("-".to_owned(), |time| format!("{time:.d$}"));
            row.extend(Forecast::columns(forecasts[at]).map(time));
        }
        table.add_row(row);
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
