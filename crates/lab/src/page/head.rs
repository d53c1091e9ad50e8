//! The head of the page: what was run, where, when, by which servers, and what the reader must be warned of.

use super::words::{capitalized, counted, date_text, duration_text, sentence};
use super::{Sides, rows};
use crate::results::{CellResults, Results};
use crate::statistics::{Summary, TURNS_MIN};
use maud::{Markup, html};

/// Returns the title, which is never empty.
pub(super) fn title(results: &Results) -> &str {
    [results.title.as_str(), results.name.as_str()].into_iter().find(|text| !text.is_empty()).unwrap_or("Benchmark")
}

/// Returns the head of the page.
pub(super) fn header(results: &Results) -> Markup {
    let warnings = warnings(results);
    html! {
        header {
            h1 { (title(results)) }
            p.source {
                (results.source) " Bobbin is a data server for clients of Redis, memcached and MemcacheQ; this page is made by its own "
                "benchmark tool, bobbin-lab."
            }
            @if !warnings.is_empty() {
                section.warnings aria-label="Warnings" {
                    ul { @for warning in &warnings { li { (warning) } } }
                }
            }
            (facts(results))
            (servers(results))
        }
    }
}

fn facts(results: &Results) -> Markup {
    let turns = format!("at most {} of each cell", counted(results.turns as usize, "turn"));
    let took = format!("{}, took {}", date_text(&results.began), duration_text(results.took_s));
    let facts = [
        ("Machine", results.machine.as_str()),
        ("Run", &took),
        ("Turns", &turns),
        ("Sources of Bobbin where the lab ran", &results.commit),
        ("Machine of the published figures", &results.published_machine),
    ];
    html! {
        dl.facts {
            @for (name, value) in facts {
                @if !value.is_empty() { div { dt { (name) } dd { (value) } } }
            }
        }
    }
}

fn servers(results: &Results) -> Markup {
    let sides = Sides(&results.sides);
    html! {
        @if !results.sides.is_empty() {
            section.servers aria-labelledby="servers" {
                h2 id="servers" { "The servers" }
                div.scroll role="region" aria-labelledby="servers" tabindex="0" {
                    table {
                        thead {
                            tr {
                                th scope="col" { "Server" }
                                th.text scope="col" { "Version" }
                                th.text scope="col" { "What a power failure leaves" }
                                th.text scope="col" { "Started with" }
                            }
                        }
                        tbody {
                            @for side in &results.sides {
                                tr {
                                    th scope="row" { (sides.named(&side.label)) }
                                    td.text {
                                        (side.version)
                                        @if side.is_untried {
                                            p.note { "Its adapter was never tried by the tests of this tool." }
                                        }
                                    }
                                    td.text { (capitalized(power_failure_text(&side.durability))) }
                                    td.text { code { (side.settings) } }
                                }
                            }
                        }
                    }
                }
            }
        }
        @if !results.absent.is_empty() {
            section.absent aria-labelledby="absent" {
                h2 id="absent" { "Not here" }
                ul {
                    @for side in &results.absent {
                        li { strong { (side.label) } ": " (sentence(&side.reason)) " " (sentence(&side.remedy)) }
                    }
                }
            }
        }
    }
}

/// Returns what a power failure leaves, where the durability has a name alone.
fn power_failure_text(durability: &str) -> &str {
    if durability == "none" { "nothing: data are in memory only" } else { durability }
}

/// Returns what the reader must know before any figure, as sentences.
fn warnings(results: &Results) -> Vec<String> {
    let cells: Vec<(&CellResults, &crate::results::RowResults)> =
        rows(results).flat_map(|(_, row)| row.cells.iter().map(move |cell| (cell, row))).collect();
    let count =
        |is: &dyn Fn(&(&CellResults, &crate::results::RowResults)) -> bool| cells.iter().filter(|it| is(it)).count();
    let noisy = count(&|(cell, row)| Summary::of(&cell.values(row.figure)).is_some_and(|summary| summary.is_noisy()));
    let bound = count(&|(cell, _)| cell.turns.iter().any(|turn| turn.is_generator_bound));
    let failed = count(&|(cell, _)| cell.failure.is_some());
    let unchecked = rows(results).filter(|(_, row)| !row.is_checked).count();
    let all = cells.len();
    let mut texts = Vec::new();
    if results.is_quick {
        texts.push(
            "Quick run: sizes are smaller than in the report, so these figures show that it works, no more.".into(),
        );
    }
    if results.is_partial {
        texts.push("The run was interrupted: what is here was measured, the rest is missing.".into());
    }
    if !cells.is_empty() && (results.turns as usize) < TURNS_MIN {
        let turns = counted(results.turns as usize, "turn");
        texts.push(format!("{turns} of each cell: too few to tell a difference from noise ({TURNS_MIN} are needed)."));
    }
    let mut of_cells = |count: usize, what: &str| {
        if count > 0 {
            texts.push(format!("{count} of {} {what}", counted(all, "cell")));
        }
    };
    of_cells(noisy, "are noisy: their turns differ by more than 10 %.");
    of_cells(bound, "were limited by the load generator: with cores of its own, the server may be faster.");
    of_cells(failed, "have no figure or lack turns; the reason is in the table of the row.");
    if unchecked > 0 {
        let rows = counted(unchecked, "row");
        texts.push(format!("{rows}: another tool made the load, and it does not check what the server replies."));
    }
    texts
}
