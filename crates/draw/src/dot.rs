//! Helpers of both writers of Graphviz's language.

/// `text` as a quoted string of the DOT language.
pub(crate) fn quoted(text: &str) -> String {
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n");
    format!("\"{escaped}\"")
}
