//! Counts given as text: `{requests}`, `{items}`, `{middle}` (half of the items), `{middle_end}` (99 further), `{last}`
//! (items less one), `{most}` (1.4 times the items). `{middle:12}` is filled with zeros to 12 digits.

use crate::LabError;

/// A number of twelve digits below the count of items, drawn anew for each call.
pub(crate) const RANDOM: &str = "{random:12}";
/// A number of twelve digits, the one after the last call's.
pub(crate) const NEXT: &str = "{next:12}";

/// The values of the placeholders.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlaceholderValues {
    pub(crate) requests: u64,
    pub(crate) items: u64,
}

impl PlaceholderValues {
    /// The text with its placeholders filled; unknown ones stay as they are.
    pub(crate) fn fill(self, text: &str) -> String {
        let middle = self.items / 2;
        let values = [
            ("requests", self.requests),
            ("items", self.items),
            ("middle", middle),
            ("middle_end", middle + 99),
            ("last", self.items.saturating_sub(1)),
            ("most", self.items * 14 / 10),
        ];
        let mut text = text.to_owned();
        for (name, value) in values {
            text = text.replace(&format!("{{{name}}}"), &value.to_string());
            text = text.replace(&format!("{{{name}:12}}"), &format!("{value:012}"));
        }
        text
    }

    /// A count given as text.
    ///
    /// # Errors
    /// The text is no number.
    pub(crate) fn number(self, text: &str) -> Result<u64, LabError> {
        let filled = self.fill(text);
        filled.parse().map_err(|_| LabError::Step(format!("`{filled}` is no count")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_filled() {
        let counts = PlaceholderValues { requests: 70, items: 1000 };
        assert_eq!(counts.fill("{requests} {items} {middle} {middle_end} {last} {most}"), "70 1000 500 599 999 1400");
        assert_eq!(counts.fill("{middle:12}"), "000000000500");
        assert_eq!(counts.number("{items}").unwrap(), 1000);
        counts.number("{other}").unwrap_err();
    }
}
