//! The page of one machine.

use corecast_model::words::digits;
use corecast_model::words::time;
use maud::{DOCTYPE, Markup, PreEscaped, html};

use corecast_bench::digest::{Duel, Prediction};

use super::facts::{Facts, Figure, Part};

/// The style sheet of all pages, which they contain, so they load nothing.
pub(super) const STYLE: &str = include_str!("style.css");

/// The page as HTML.
pub(super) fn draw(facts: &Facts<'_>) -> String {
    let data = facts.data;
    let title = format!("{}: communication between its cores", facts.name);
    let sections = [
        ("peers", "Against others", peers(facts)),
        ("sizes", "By size", figures(facts, Part::Sizes)),
        ("ranks", "By ranks", figures(facts, Part::Ranks)),
        ("predictions", "Predicted and measured", predictions(facts)),
        ("plans", "Plans", plans(facts)),
        ("costs", "What messages cost", figures(facts, Part::Costs)),
        ("machine", "The machine", machine(facts)),
        ("method", "How this was measured", Some(method(facts))),
    ];
    let shown = || {
        sections
            .iter()
            .filter_map(|(id, name, part)| Some((id, name, part.as_ref()?)))
    };
    let page = frame(
        &title,
        &html! {
            header {
                h1 { (title) }
                p { (data.tool) ", " time datetime=(data.when) { (data.when) } ", " code { (data.command) } }
                nav { @for (id, name, _) in shown() { a href={ "#" (id) } { (name) } " " } }
            }
            @for (id, name, part) in shown() {
                section id=(id) { h2 { (name) } (part) }
            }
        },
    );
    page.into_string()
}

/// The HTML around the body of every page.
pub(super) fn frame(title: &str, body: &Markup) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { main { (body) } }
        }
    }
}

fn figures(facts: &Facts<'_>, part: Part) -> Option<Markup> {
    let of = || facts.figures.iter().filter(|figure| figure.part == part);
    of().next()?;
    Some(html! { @for one in of() { (figure(one)) } })
}

fn figure(figure: &Figure) -> Markup {
    html! {
        figure id={ "figure-" (figure.name) } {
            div.picture { (PreEscaped(inlined(figure))) }
            figcaption { (figure.caption) }
        }
    }
}

/// The picture with its element ids made unique, since all pictures of a page share one namespace.
fn inlined(figure: &Figure) -> String {
    let own = |before: &str| format!("{before}{}-", figure.name);
    let named = figure.svg.replace(" id=\"", &own(" id=\""));
    named.replace("url(#", &own("url(#"))
}

fn peers(facts: &Facts<'_>) -> Option<Markup> {
    if facts.duels.is_empty() {
        return None;
    }
    let beaten = |duel: &&Duel| duel.to_peer.is_some_and(|[_, _, high]| high < 1.0);
    let lost = |duel: &&Duel| duel.to_peer.is_some_and(|[_, low, _]| low > 1.0);
    let raced = facts
        .duels
        .iter()
        .filter(|duel| duel.to_peer.is_some())
        .count();
    let (faster, slower) = (
        facts.duels.iter().filter(beaten).count(),
        facts.duels.iter().filter(lost).count(),
    );
    Some(html! {
        @if raced > 0 {
            p { "Of " (raced) " races against peers, each at its best setting, Corecast is faster in " (faster)
                ", slower in " (slower) ", and as fast within the interval in " (raced - faster - slower) "." }
        }
        (figures(facts, Part::Peers).unwrap_or_default())
        div.wide { table {
            thead { tr {
                th { "race" } th { "Corecast" } th { "of the floor" } th { "fastest peer" } th { "of that peer" }
            } }
            tbody { @for duel in &facts.duels { tr {
                th scope="row" { (duel.what) }
                td title=(duel.ours.setting) { (time(duel.ours.ns)) " " small { (duel.ours.name) } }
                td title=[duel.floor.as_ref().map(|floor| floor.name.clone())] { (ratio(duel.to_floor)) }
                td title=[duel.peer.as_ref().map(|peer| peer.setting.clone())] {
                    @if let Some(peer) = &duel.peer { (time(peer.ns)) " " small { (peer.name) } } @else { "–" }
                }
                td { (ratio(duel.to_peer)) }
            } } }
        } }
    })
}

fn ratio(ratio: Option<[f64; 3]>) -> Markup {
    html! {
        @match ratio {
            Some([value, low, high]) => { (digits(value)) " " small { (digits(low)) " to " (digits(high)) } },
            None => "–",
        }
    }
}

fn predictions(facts: &Facts<'_>) -> Option<Markup> {
    if facts.predictions.is_empty() {
        return None;
    }
    let cell = |ns: Option<f64>| ns.map_or_else(|| "–".to_owned(), time);
    let row = |one: &Prediction| {
        let of = one
            .simulated
            .map_or_else(|| "–".to_owned(), |ns| digits(ns / one.measured));
        html! { tr {
            th scope="row" { (one.what) } td { (one.name) }
            td { (cell(one.t_min)) } td { (cell(one.t_max)) } td { (cell(one.simulated)) }
            td { (time(one.measured)) } td { (of) }
        } }
    };
    Some(html! {
        (figures(facts, Part::Predictions).unwrap_or_default())
        div.wide { table {
            thead { tr {
                th { "race" } th { "contestant" } th { "at least" } th { "at most" } th { "simulated" }
                th { "measured" } th { "simulated / measured" }
            } }
            tbody { @for one in &facts.predictions { (row(one)) } }
        } }
    })
}

fn plans(facts: &Facts<'_>) -> Option<Markup> {
    let pictures = figures(facts, Part::Plans);
    if facts.reasons.is_empty() && pictures.is_none() {
        return None;
    }
    Some(html! {
        ul { @for reason in &facts.reasons { li { (reason) } } }
        (pictures.unwrap_or_default())
    })
}

fn machine(facts: &Facts<'_>) -> Option<Markup> {
    Some(html! {
        table.facts { tbody { @for (what, value) in &facts.machine { tr {
            th scope="row" { (what) } td { (value) }
        } } } }
        (figures(facts, Part::Machine)?)
        @if let Some(depth) = &facts.depth {
            details { summary { "measured in depth" } pre { (depth) } }
        }
    })
}

fn method(facts: &Facts<'_>) -> Markup {
    let races = &facts.data.comparisons;
    let mut notes: Vec<&String> = races.iter().flat_map(|race| &race.notes).collect();
    notes.extend(&facts.data.notes);
    let mut said: Vec<&String> = Vec::new();
    for note in notes {
        if !said.contains(&note) {
            said.push(note);
        }
    }
    html! {
        p { "All contestants of a race run by turns in one process after each was verified; programs of peers are \
             started anew for their turns. Times are medians with 95 % intervals; ratios are paired by rounds, so that \
             a noisy minute falls on all alike." }
        @if !said.is_empty() { ul { @for note in said { li { (note) } } } }
        @if !facts.absent.is_empty() {
            details { summary { "who did not take part" } ul { @for one in &facts.absent { li { (one) } } } }
        }
        @if !races.is_empty() { details {
            summary { "every contestant of every race" }
            div.wide { table {
                thead { tr { th { "race" } th { "contestant" } th { "setting" } th { "median" } th { "interval" } th { "samples" } } }
                tbody { @for race in races { @for entry in &race.entries {
                    @if let Some(found) = &entry.ns_per_op { tr {
                        td { (race.title) ", " (race.ranks) } td { (entry.name) } td { small { (entry.setting) } }
                        td { (time(found.median)) }
                        td { (time(found.interval.low)) " to " (time(found.interval.high)) }
                        td { (found.samples) }
                    } }
                } } }
            } }
        } }
    }
}
