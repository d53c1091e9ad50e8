//! Comparisons of results that are made up.

use super::*;
use crate::results::{Measurement, ScenarioResults, SideResults, TableResults};
use clap::Parser;

/// Results with one row for each of the cases, all of a figure, with one cell of bobbin each.
fn results(figure: Figure, cases: &[(&str, &[f64])]) -> Results {
    let measurement =
        |value: &f64| Measurement { figures: [(figure.name().to_owned(), *value)].into(), ..Measurement::default() };
    let row = |(name, values): &(&str, &[f64])| RowResults {
        name: (*name).to_owned(),
        what: format!("How {name} does"),
        figure,
        is_checked: true,
        cells: vec![CellResults {
            side: "bobbin".to_owned(),
            column: 0,
            turns: values.iter().map(measurement).collect(),
            failure: None,
        }],
        published: Vec::new(),
    };
    let table = TableResults {
        name: "one".to_owned(),
        columns: vec!["10 items".to_owned()],
        rows: cases.iter().map(row).collect(),
        ..TableResults::default()
    };
    Results {
        format: results::FORMAT,
        name: "reads".to_owned(),
        machine: "a box".to_owned(),
        turns: 3,
        sides: vec![SideResults {
            label: "bobbin".to_owned(),
            version: "1.0".to_owned(),
            settings: "bobbin --threads 2".to_owned(),
            durability: "none".to_owned(),
            ..SideResults::default()
        }],
        scenarios: vec![ScenarioResults {
            name: "reads".to_owned(),
            what: "Reads".to_owned(),
            tables: vec![table],
            ..ScenarioResults::default()
        }],
        ..Results::default()
    }
}

/// The mark of a cell and its loss in whole percent.
fn judged(figure: Figure, old: &[f64], new: &[f64]) -> (Mark, i64) {
    let (old, new) = (results(figure, &[("get", old)]), results(figure, &[("get", new)]));
    let comparison = ResultsComparison::of(&old, &new);
    (comparison.cells[0].mark, comparison.cells[0].loss_percent.round() as i64)
}

fn cell_of(results: &mut Results) -> &mut CellResults {
    &mut results.scenarios[0].tables[0].rows[0].cells[0]
}

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    compare: CompareArguments,
}

/// Runs the command on two results that are written to a folder; returns its error, if any, and the page, if asked for.
fn run_command(old: &Results, new: &Results, flags: &[&str]) -> (Result<(), LabError>, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    let [old_path, new_path, page] = ["old.json", "new.json", "page.html"].map(|name| folder.path().join(name));
    for (path, results) in [(&old_path, old), (&new_path, new)] {
        fs::write(path, serde_json::to_string(results).unwrap()).unwrap();
    }
    let shown = |path: &Path| path.to_str().unwrap().to_owned();
    let mut words = vec!["compare".to_owned(), shown(&old_path), shown(&new_path)];
    words.extend(flags.iter().map(|flag| flag.replace("{page}", &shown(&page))));
    let done = run(&Arguments::try_parse_from(words).unwrap().compare);
    (done, fs::read_to_string(&page).ok())
}

#[test]
fn turns_that_overlap_are_within_noise() {
    assert_eq!(judged(Figure::RequestsPerS, &[10.0, 12.0, 14.0], &[11.0, 12.5, 13.0]), (Mark::WithinNoise, -4));
}

#[test]
fn a_higher_rate_is_better() {
    assert_eq!(judged(Figure::RequestsPerS, &[10.0, 10.0, 11.0], &[20.0, 20.0, 21.0]), (Mark::Better, -100));
}

#[test]
fn a_longer_latency_is_worse() {
    assert_eq!(judged(Figure::P99Ms, &[10.0, 10.0, 11.0], &[15.0, 15.0, 16.0]), (Mark::Worse, 50));
}

#[test]
fn two_turns_are_marked_as_too_few() {
    assert_eq!(judged(Figure::P99Ms, &[10.0, 10.0], &[15.0, 15.0, 16.0]).0, Mark::TooFewTurns);
}

#[test]
fn growth_from_zero_is_worse_without_a_ratio() {
    let (old, new) = ([0.0; 3], [5.0, 6.0, 7.0]);
    let (old, new) =
        (results(Figure::MemoryGrowthBytes, &[("get", &old)]), results(Figure::MemoryGrowthBytes, &[("get", &new)]));
    let comparison = ResultsComparison::of(&old, &new);
    let cell = &comparison.cells[0];
    assert_eq!((cell.mark, cell.ratio, cell.loss_percent), (Mark::Worse, None, f64::INFINITY));
    assert_eq!(judged(Figure::MemoryGrowthBytes, &[0.0; 3], &[0.0; 3]), (Mark::WithinNoise, 0));
    assert_eq!(judged(Figure::MemoryGrowthBytes, &[0.0, 0.0, 9.0], &[0.0, 1.0, 2.0]).0, Mark::WithinNoise);
}

#[test]
fn the_table_is_sorted_worst_first() {
    let three = [10.0, 10.0, 10.0];
    let figure = Figure::RequestsPerS;
    let old = results(figure, &[("even", &three), ("up", &three), ("down", &three), ("far-down", &three)]);
    let up_and_down: [(&str, &[f64]); 4] =
        [("even", &three), ("up", &[20.0; 3]), ("down", &[9.0; 3]), ("far-down", &[5.0; 3])];
    let new = results(figure, &up_and_down);
    let comparison = ResultsComparison::of(&old, &new);
    let cases: Vec<&str> = comparison.cells.iter().map(|cell| cell.place.case).collect();
    assert_eq!(cases, ["far-down", "down", "even", "up"]);
    let text = comparison.text(&old, &new);
    let line = text.lines().find(|line| line.contains("far-down")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    let expected = "worse reads/one/far-down@10 items bobbin 10.0 /s 5.00 /s 0.50 × the rate";
    assert_eq!(words.join(" "), expected);
    assert!(text.contains("cells compared: 4 (2 worse, 0 too few turns, 1 within noise, 1 better)\n"), "{text}");
}

#[test]
fn cells_of_one_folder_are_listed() {
    let three = [10.0; 3];
    let old = results(Figure::RequestsPerS, &[("get", &three), ("gone", &three)]);
    let new = results(Figure::RequestsPerS, &[("get", &three), ("added", &three)]);
    let comparison = ResultsComparison::of(&old, &new);
    let lone: Vec<(&str, &str)> = comparison.lone.iter().map(|cell| (cell.place.case, cell.reason.as_str())).collect();
    assert_eq!(lone, [("added", "only in NEW"), ("gone", "only in OLD")]);
    assert_eq!(comparison.worse_than(0.0), 0);
    let text = comparison.text(&old, &new);
    assert!(text.contains("cells not compared: 2\n  reads/one/added@10 items, bobbin: only in NEW\n"), "{text}");
}

#[test]
fn a_cell_that_fails_since_counts_as_worse() {
    let old = results(Figure::RequestsPerS, &[("get", &[10.0; 3])]);
    let mut new = results(Figure::RequestsPerS, &[("get", &[])]);
    cell_of(&mut new).failure = Some("the server ended".to_owned());
    let comparison = ResultsComparison::of(&old, &new);
    assert_eq!(comparison.lone[0].reason, "no figure in NEW: the server ended");
    assert_eq!(comparison.worse_than(100.0), 1);
    // The other way round something was mended.
    assert_eq!(ResultsComparison::of(&new, &old).worse_than(0.0), 0);
}

#[test]
fn a_loss_within_the_tolerance_does_not_fail() {
    let old = results(Figure::RequestsPerS, &[("get", &[100.0; 3])]);
    let new = results(Figure::RequestsPerS, &[("get", &[94.0; 3])]);
    run_command(&old, &new, &[]).0.unwrap();
    run_command(&old, &new, &["--fail-if-worse", "--tolerance", "6.5"]).0.unwrap();
    let error = run_command(&old, &new, &["--fail-if-worse"]).0.unwrap_err().to_string();
    assert!(error.contains("worse by more than 5 %"), "{error}");
    // Turns that are too few show nothing.
    let few = results(Figure::RequestsPerS, &[("get", &[50.0])]);
    run_command(&old, &few, &["--fail-if-worse"]).0.unwrap();
}

#[test]
fn equal_circumstances_give_no_warning() {
    let old = results(Figure::RequestsPerS, &[("get", &[10.0; 3])]);
    assert_eq!(warnings(&old, &old.clone()), Vec::<String>::new());
}

#[test]
fn different_circumstances_are_warned_of_first() {
    let old = results(Figure::RequestsPerS, &[("get", &[10.0; 3])]);
    let mut new = old.clone();
    new.machine = "another box".to_owned();
    new.is_quick = true;
    new.is_partial = true;
    new.sides[0].settings = "bobbin --threads 4".to_owned();
    cell_of(&mut new).failure = Some("turn 2 failed".to_owned());
    let expected = [
        "different machines: a box; now another box",
        "different sizes: a whole run; now a quick run",
        "different settings of bobbin: `bobbin --threads 2` (durability: none); \
         now `bobbin --threads 4` (durability: none)",
        "NEW was interrupted, so that some cells or turns are missing",
        "cells of NEW that lack turns, because these failed: 1",
    ];
    assert_eq!(warnings(&old, &new), expected);
    let text = ResultsComparison::of(&old, &new).text(&old, &new);
    assert!(text.find("warning: different machines").unwrap() < text.find("reads/one/get").unwrap());
}

#[test]
fn a_run_of_some_scenarios_has_no_different_settings() {
    let old = results(Figure::RequestsPerS, &[("get", &[10.0; 3])]);
    let mut new = old.clone();
    new.sides.push(SideResults { settings: "bobbin --threads 4".to_owned(), ..old.sides[0].clone() });
    assert_eq!(warnings(&old, &new), Vec::<String>::new());
    assert_eq!(warnings(&new, &old), Vec::<String>::new());
}

#[test]
fn results_of_another_form_are_refused() {
    let old = results(Figure::RequestsPerS, &[("get", &[10.0; 3])]);
    let new = Results { format: 99, ..old.clone() };
    let error = run_command(&old, &new, &[]).0.unwrap_err().to_string();
    assert!(error.contains("form 99"), "{error}");
}

#[test]
fn the_page_shows_new_and_old_as_sides() {
    let old = results(Figure::RequestsPerS, &[("get", &[100.0; 3]), ("gone", &[7.0; 3])]);
    let new = results(Figure::RequestsPerS, &[("get", &[94.0; 3])]);
    let joined = merged::merged(&old, &new, &["a warning".to_owned()]);
    let scenario = &joined.scenarios[0];
    assert_eq!((scenario.subject.as_str(), scenario.baseline.as_str()), ("new", "old"));
    let medians = |row: usize| {
        let cells = &scenario.tables[0].rows[row].cells;
        cells
            .iter()
            .map(|cell| (cell.side.as_str(), cell.values(Figure::RequestsPerS).first().copied()))
            .collect::<Vec<_>>()
    };
    assert_eq!(medians(0), [("new", Some(94.0)), ("old", Some(100.0))]);
    assert_eq!(medians(1), [("new", None), ("old", Some(7.0))]);
    let page = run_command(&old, &new, &["--out", "{page}"]).1.unwrap();
    for text in ["94.0 /s", "100 /s", "7.00 /s", "0.94 × the rate", "Bobbin: one", "Not run."] {
        assert!(page.contains(text), "{text} is on the page");
    }
}
