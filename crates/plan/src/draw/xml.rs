//! What both SVG pictures write alike.

use std::fmt::Write as _;

/// Begins a picture of this size with a title and a white ground.
pub(super) fn begin(width: f64, height: f64, title: &str) -> String {
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"sans-serif\" font-size=\"11\" \
         role=\"img\">",
    );
    let title = escaped(title);
    let _ = writeln!(out, "<title>{title}</title>");
    let _ = writeln!(
        out,
        "<rect width=\"{width:.0}\" height=\"{height:.0}\" fill=\"#fff\"/>"
    );
    out
}

/// Text as it stands inside of an element or attribute of XML, or of a label in DOT.
///
/// # Examples
///
/// ```
/// assert_eq!(corecast_plan::draw::escaped("a < \"b\""), "a &lt; &quot;b&quot;");
/// ```
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// Width of a text in a sans-serif font of this size: DejaVu's, the widest in common use, in the
/// mean.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    0.58 * size * text.chars().count() as f64
}

/// Round times from `first` to `last`, about as many as asked for, as numbers and as text.
pub(super) fn ticks(first: f64, last: f64, about: usize) -> Vec<(f64, String)> {
    let rough = (last - first) / about.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    if !power.is_normal() {
        return vec![(first, format!("{first:.0}"))];
    }
    let step = [1.0, 2.0, 5.0]
        .into_iter()
        .map(|k| k * power)
        .find(|&step| step >= rough)
        .unwrap_or(10.0 * power);
    let digits = (-step.log10().floor()).clamp(0.0, 12.0) as usize;
    let begin = (first / step).ceil();
    (0..)
        .map(|k| (begin + f64::from(k)) * step)
        .take_while(|&t| t <= last)
        // A span below what the numbers can tell apart would never end.
        .take(4 * about + 2)
        .map(|t| (t, format!("{t:.digits$}")))
        .collect()
}
