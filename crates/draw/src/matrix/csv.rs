//! Pairwise costs as CSV: one line per ordered pair, so that any tool can pivot it.
//!
//! ```text
//! schema,from,to,from_numa,to_numa,send,send_half_width,receive,receive_half_width,unit
//! ```
//!
//! `from` and `to` are operating-system numbers; a half width that was not measured is empty.
//! `schema` grows with each change of the columns or their order.

use std::fmt::Write;

use super::grid::Grid;

/// The header, which is the first line.
pub const HEADER: &str =
    "schema,from,to,from_numa,to_numa,send,send_half_width,receive,receive_half_width,unit";

/// Both matrices as CSV.
///
/// # Panics
///
/// If they are not over the same threads.
#[must_use]
pub fn csv(send: &Grid, receive: &Grid) -> String {
    assert_eq!(
        send.labels, receive.labels,
        "both matrices cover the same threads"
    );
    let number = |v: Option<f64>| v.map_or(String::new(), |v| v.to_string());
    let mut out = format!("{HEADER}\n");
    for i in 0..send.len() {
        for j in (0..send.len()).filter(|&j| j != i) {
            let _ = writeln!(
                out,
                "1,{},{},{},{},{},{},{},{},{}",
                send.labels[i],
                send.labels[j],
                send.numa[i],
                send.numa[j],
                number(send.get(i, j)),
                number(send.spread(i, j)),
                number(receive.get(i, j)),
                number(receive.spread(i, j)),
                send.unit
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_per_ordered_pair() {
        let make = |t: &str, add: f64| {
            Grid::new(
                t,
                "ns",
                vec![3, 8],
                vec![0, 1],
                move |i, _| i as f64 + add,
                None,
            )
        };
        let csv = csv(&make("send", 1.5), &make("receive", 2.0));
        assert_eq!(
            csv,
            format!("{HEADER}\n1,3,8,0,1,1.5,,2,,ns\n1,8,3,1,0,2.5,,3,,ns\n")
        );
    }
}
