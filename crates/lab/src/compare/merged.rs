//! Joins two results in one, so that the page of a run shows them side by side.
//!
//! ```text
//!  old: memlink > A.1 > insert > [bobbin, redis]  --.   memlink: bobbin > A.1 > insert > [new, old]
//!  new: memlink > A.1 > insert > [bobbin, redis]  --+-> memlink: redis  > A.1 > insert > [new, old]
//! ```
//!
//! Each side of a scenario becomes a scenario whose subject is the new run and whose baseline is the old one.

use super::versions;
use crate::results::{CellResults, Results, RowResults, ScenarioResults, SideResults, TableResults};

const OLD: &str = "old";
const NEW: &str = "new";

/// Joins two results.
pub(super) fn merged(old: &Results, new: &Results, warnings: &[String]) -> Results {
    let both = |old: &str, new: &str| if old == new { new.to_owned() } else { format!("old: {old}; new: {new}") };
    let mut scenarios = Vec::new();
    for name in union(&old.scenarios, &new.scenarios, |scenario| scenario.name.as_str()) {
        let of_old = old.scenarios.iter().find(|scenario| scenario.name == name);
        let of_new = new.scenarios.iter().find(|scenario| scenario.name == name);
        for side in union(&sides_of(of_old), &sides_of(of_new), |side| *side) {
            scenarios.push(scenario(of_old, of_new, side, warnings));
        }
    }
    let mut source = vec![format!("New results of {} beside old ones of {}.", new.name, old.name)];
    source.extend(warnings.iter().map(|warning| format!("Warning: {warning}.")));
    Results {
        format: new.format,
        name: both(&old.name, &new.name),
        title: format!("New against old: {}", if new.title.is_empty() { &new.name } else { &new.title }),
        source: source.join(" "),
        published_machine: String::new(),
        began: new.began.clone(),
        took_s: new.took_s,
        command: new.command.clone(),
        machine: both(&old.machine, &new.machine),
        commit: both(&old.commit, &new.commit),
        turns: old.turns.min(new.turns),
        is_quick: old.is_quick || new.is_quick,
        is_partial: old.is_partial || new.is_partial,
        sides: vec![run_as_side(new, NEW), run_as_side(old, OLD)],
        absent: Vec::new(),
        scenarios,
    }
}

/// Returns the names of all, in the order of the first and then of the second.
fn union<'a, T>(first: &'a [T], second: &'a [T], name: impl Fn(&'a T) -> &'a str) -> Vec<&'a str> {
    let mut names = Vec::new();
    for item in first.iter().chain(second) {
        if !names.contains(&name(item)) {
            names.push(name(item));
        }
    }
    names
}

fn sides_of(scenario: Option<&ScenarioResults>) -> Vec<&str> {
    let rows = scenario.into_iter().flat_map(|scenario| &scenario.tables).flat_map(|table| &table.rows);
    let mut sides: Vec<&str> = Vec::new();
    for cell in rows.flat_map(|row| &row.cells) {
        if !sides.contains(&cell.side.as_str()) {
            sides.push(&cell.side);
        }
    }
    sides
}

fn run_as_side(results: &Results, label: &str) -> SideResults {
    let each = |text: fn(&SideResults) -> &str| {
        let mut texts: Vec<String> =
            results.sides.iter().map(|side| format!("{}: {}", side.label, text(side))).collect();
        texts.dedup();
        texts.join("; ")
    };
    SideResults {
        label: label.to_owned(),
        program: String::new(),
        version: format!("{}, {}", versions(results), results.began),
        durability: each(|side| &side.durability),
        settings: each(|side| &side.settings),
        is_untried: results.sides.iter().any(|side| side.is_untried),
    }
}

fn scenario(
    old: Option<&ScenarioResults>,
    new: Option<&ScenarioResults>,
    side: &str,
    warnings: &[String],
) -> ScenarioResults {
    let tables = |scenario: Option<&ScenarioResults>| scenario.map(|it| it.tables.clone()).unwrap_or_default();
    let (of_old, of_new) = (tables(old), tables(new));
    let table_of = |tables: &[TableResults], name: &str| tables.iter().find(|table| table.name == name).cloned();
    let names = union(&of_old, &of_new, |table| table.name.as_str());
    let joined = names.into_iter().map(|name| table(table_of(&of_old, name), table_of(&of_new, name), side));
    let either = new.or(old);
    ScenarioResults {
        name: format!("{}: {side}", either.map_or("", |scenario| &scenario.name)),
        what: format!("{side}: {}", either.map_or("", |scenario| &scenario.what)),
        notes: warnings.to_vec(),
        baseline: OLD.to_owned(),
        subject: NEW.to_owned(),
        stack: Vec::new(),
        tables: joined.filter(|table| !table.rows.is_empty()).collect(),
    }
}

fn table(old: Option<TableResults>, new: Option<TableResults>, side: &str) -> TableResults {
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    let either = if new.rows.is_empty() { &old } else { &new };
    let columns: Vec<String> =
        union(&old.columns, &new.columns, |column| column.as_str()).into_iter().map(str::to_owned).collect();
    let names = union(&old.rows, &new.rows, |row| row.name.as_str());
    let rows = names.into_iter().filter_map(|name| row([&old, &new], &columns, name, side));
    // The page lists tables by their names alone.
    let name = if either.name.is_empty() { String::new() } else { format!("{side}: {}", either.name) };
    TableResults {
        name,
        what: either.what.clone(),
        columns_what: either.columns_what.clone(),
        rows: rows.collect(),
        columns: columns.clone(),
    }
}

/// Joins the rows of a name; `None` if the side has no cell in either.
fn row([old, new]: [&TableResults; 2], columns: &[String], name: &str, side: &str) -> Option<RowResults> {
    let row_of = |table: &'_ TableResults| table.rows.iter().find(|row| row.name == name).cloned();
    let either = row_of(new).or_else(|| row_of(old))?;
    let cell_of = |table: &TableResults, column: &str| {
        let index = table.columns.iter().position(|it| it == column)?;
        row_of(table)?.cells.into_iter().find(|cell| cell.column == index && cell.side == side)
    };
    let mut cells = Vec::new();
    for (index, column) in columns.iter().enumerate() {
        let (of_old, of_new) = (cell_of(old, column), cell_of(new, column));
        if of_old.is_none() && of_new.is_none() {
            continue;
        }
        // A cell that one run lacks is there without turns, so that the page shows that it was not run.
        let renamed = |cell: Option<CellResults>, label: &str| CellResults {
            side: label.to_owned(),
            column: index,
            ..cell.unwrap_or_default()
        };
        cells.extend([renamed(of_new, NEW), renamed(of_old, OLD)]);
    }
    (!cells.is_empty()).then_some(RowResults { cells, published: Vec::new(), ..either })
}
