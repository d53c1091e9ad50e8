//! Tables for a terminal: columns as wide as their widest cell.
//!
//! ```text
//! cell           old        new        a number ends where its column ends,
//! GET       52.1 k/s   40.0 k/s        a text begins where its column begins
//! ```

/// The side of its column at which a cell is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Align {
    Left,
    Right,
}

/// Returns the lines of a table, each with its end. A row has a cell for each column.
pub(crate) fn text_table(aligns: &[Align], rows: &[Vec<String>]) -> String {
    let signs = |text: &str| text.chars().count();
    let width = |column: usize| rows.iter().map(|row| signs(&row[column])).max().unwrap_or(0);
    let widths: Vec<usize> = (0..aligns.len()).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(aligns).zip(&widths).map(|((cell, align), width)| match align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["cell", "µs"], ["a", "1"], ["longer", "1000"]].map(|row| row.map(str::to_owned).to_vec());
        let text = text_table(&[Align::Left, Align::Right], &rows);
        assert_eq!(text, "cell      µs\na          1\nlonger  1000\n");
    }
}
