//! The end of the page: how to run it again, and how to read it.

use super::canvas::SIDE_INKS;
use super::words::percent_text;
use crate::results::Results;
use crate::statistics::{NOISY_SHARE, TURNS_MIN};
use maud::{Markup, html};

/// The words of the page and what they mean. `{noisy}` and `{turns}` stand for the limits of [`crate::statistics`].
const TERMS: [(&str, &str); 10] = [
    ("Cell", "One server doing one task at one size. Each cell has a line in a table."),
    (
        "Turn",
        "One measurement of a cell. In each turn a server is started in an empty folder and does the tasks of a table one \
        after another; its memory holds what earlier tasks left. The servers take turns, so that a machine that slows down \
        for a while slows all of them.",
    ),
    ("Median", "The turn in the middle when they are sorted. One odd turn does not move it."),
    (
        "Range of the turns, 95 % interval",
        "With five turns or fewer: from the least to the greatest. With more: where the median would lie in 95 of 100 \
        repetitions, estimated from the turns by drawing them again and again (bootstrap). The thin line at the end of a \
        bar shows it.",
    ),
    (
        "Ratio",
        "The server's median divided by that of the baseline. 2.00 × the rate is twice as fast; 2.00 × the time or \
        2.00 × the memory is twice as costly. Below it is its range or interval.",
    ),
    (
        "Ahead, behind, no clear difference",
        "If the range or interval of the ratio contains 1, the turns do not show which is better. With three turns each, \
        chance alone makes a difference seem clear in one comparison of ten between equal servers: more turns \
        (--turns 6) make that rare. With fewer than {turns} turns nothing is said.",
    ),
    ("Noisy", "The turns of the cell differ by more than {noisy} of their median. Trust it less."),
    (
        "p50, p95, p99, p99.9",
        "Latency is how long a client waits for a reply. p99 is the latency that 99 of 100 requests stay below: the \
        slow ones are what users notice. A latency chart gives each further nine the same room, and each factor of ten of \
        time.",
    ),
    (
        "CPU a request",
        "The CPU time that the server used, divided by the requests. The load generator runs on the same machine and \
        takes its share of the cores, so the rate says how the two do together. CPU a request says what the server \
        costs by itself. The kernel counts it in steps of 10 ms, so that it means little in a cell of less than a second.",
    ),
    (
        "Limited by the load generator",
        "The load generator had no idle time in that cell: with the server it used up the cores. With cores of its own, \
        the server may be faster than its figure.",
    ),
];

/// Says how to run everything again.
pub(super) fn again(results: &Results) -> Markup {
    html! {
        section aria-labelledby="again" {
            h2 id="again" { "Run it again" }
            p { "In Bobbin's sources, " code { "make release" } " builds bobbin-lab. This makes the page with the figures of your machine:" }
            pre tabindex="0" { code { (results.command) } }
            p {
                code { "bobbin-lab run SCENARIO/CASE" } " runs one row alone. Each row lists what its cells did."
            }
        }
    }
}

/// Explains the words of the page.
pub(super) fn section() -> Markup {
    let (noisy, turns) = (percent_text(NOISY_SHARE), TURNS_MIN.to_string());
    html! {
        section.help aria-labelledby="help" {
            h2 id="help" { "How to read this page" }
            dl {
                @for (term, words) in TERMS {
                    dt { (term) }
                    dd { (words.replace("{noisy}", &noisy).replace("{turns}", &turns)) }
                }
                dt { span class=(format!("swatch b{SIDE_INKS}")) aria-hidden="true" {} "Grey" }
                dd {
                    "Published figures, as their authors printed them, from other hardware and other versions. They show "
                    "the shape of the old result. No ratio is made with them."
                }
            }
        }
    }
}
