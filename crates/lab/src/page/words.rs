//! Words and numbers for readers: names of figures, values with units, ratios, dates and durations.

use crate::report::Scale;
use crate::scenario::Figure;

/// Figures by their names in results, in the order of the page: a short heading, and words for who does not know it.
const FIGURES: &[(&str, &str, &str)] = &[
    ("requests_per_s", "Rate", "requests per second"),
    ("p50_ms", "p50", "latency: half of all requests are faster"),
    ("p95_ms", "p95", "latency: 95 of 100 requests are faster"),
    ("p99_ms", "p99", "latency: 99 of 100 requests are faster"),
    ("p999_ms", "p99.9", "latency: 999 of 1,000 requests are faster"),
    ("max_ms", "Slowest", "latency of the slowest request"),
    ("cpu_us_per_request", "CPU a request", "CPU time that the server used for a request"),
    ("server_us_per_request", "Server's time", "time in commands for a request, as the server reports it"),
    ("rss_bytes", "Memory", "memory of the server process (resident set)"),
    ("bytes_each", "Memory an item", "memory for each item"),
    ("bytes_per_connection", "Memory a connection", "memory for each connection"),
    ("memory_growth_bytes", "Memory growth", "memory at the height of a checkpoint, above that before it"),
    ("longest_gap_ms", "Longest gap", "longest time in which no client had a reply"),
    ("single_p999_ms", "Single write p99.9", "999 of 1,000 single writes beside the load waited less"),
    ("single_max_ms", "Single write, slowest", "longest wait of a single write beside the load"),
    ("longest_turn_us", "Longest turn", "longest turn of the server's event loop, as the server reports it"),
    ("longest_lock_hold_us", "Longest lock hold", "longest time a lock was held, as the server reports it"),
    ("longest_lock_wait_us", "Longest lock wait", "longest wait for a lock, as the server reports it"),
    ("longest_shard_turn_us", "Longest shard turn", "longest turn of a shard, as the server reports it"),
    ("machine_stall_us", "Machine's stall", "longest stall of the machine itself, without a server"),
    ("longest_generator_step_us", "Generator's step", "longest work of the load generator for one pipeline"),
    ("folder_bytes", "Disk", "size of the data folder at the end"),
    ("folder_bytes_max", "Disk at most", "greatest size of the data folder"),
    ("written_per_byte", "Written a byte", "bytes written to disk for each byte of data"),
    ("found_nothing_percent", "Found nothing", "share of calls that found nothing"),
    ("first_reply_ms", "First reply", "time from the start of the program to the first reply"),
    ("loaded_ms", "Loaded", "time from the start of the program until all data are loaded"),
];

/// Returns a short name for a column.
pub(super) fn heading(name: &str) -> String {
    let known = FIGURES.iter().find(|figure| figure.0 == name);
    known.map_or_else(|| name.replace('_', " "), |figure| figure.1.to_owned())
}

/// Returns words that say what a figure is.
pub(super) fn phrase(name: &str) -> String {
    let known = FIGURES.iter().find(|figure| figure.0 == name);
    known.map_or_else(|| name.replace('_', " "), |figure| figure.2.to_owned())
}

/// Returns the place of a figure among the columns of a table; unknown ones are last.
pub(super) fn order(name: &str) -> usize {
    FIGURES.iter().position(|figure| figure.0 == name).unwrap_or(FIGURES.len())
}

/// Returns the figure of a name, if it is one of the lab's.
pub(super) fn figure_of(name: &str) -> Option<Figure> {
    Figure::ALL.into_iter().find(|figure| figure.name() == name)
}

/// Returns a value of a figure with its unit.
pub(super) fn value_text(name: &str, value: f64) -> String {
    match figure_of(name) {
        Some(figure) => Scale::of(value, figure).text_with_unit(value),
        None => significant(value),
    }
}

/// Returns `50.1 to 53.0 k/s`, in the unit that suits the value between.
pub(super) fn range_text(figure: Figure, low: f64, middle: f64, high: f64) -> String {
    let scale = Scale::of(middle, figure);
    format!("{} to {}", scale.text(low), scale.text_with_unit(high))
}

/// Returns a number with three digits that matter, or all of those before the point.
pub(super) fn significant(value: f64) -> String {
    let magnitude = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    let decimals = usize::try_from(2 - magnitude.clamp(-9, 2)).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { grouped(&text) }
}

/// Returns a published value, which has no more digits than were printed.
pub(super) fn published_text(figure: Figure, value: f64) -> String {
    let text = value_text(figure.name(), value);
    let (number, unit) = text.split_once(' ').unwrap_or((&text, ""));
    let whole = number.split_once('.').filter(|(_, decimals)| decimals.bytes().all(|digit| digit == b'0'));
    format!("{} {unit}", whole.map_or(number, |(whole, _)| whole))
}

/// Returns a ratio as times the other.
pub(super) fn times_text(ratio: f64) -> String {
    format!("{} ×", number_text(ratio))
}

/// Returns a number with three digits at most, trailing zeros kept so that a column of them is even.
pub(super) fn number_text(ratio: f64) -> String {
    match ratio.abs() {
        magnitude if magnitude >= 99.5 => grouped(&format!("{ratio:.0}")),
        magnitude if magnitude >= 9.95 => format!("{ratio:.1}"),
        magnitude if magnitude >= 0.0995 || magnitude == 0.0 => format!("{ratio:.2}"),
        _ => significant(ratio),
    }
}

/// Puts a comma after each three digits: `1,000,000`.
fn grouped(digits: &str) -> String {
    let (sign, digits) = digits.strip_prefix('-').map_or(("", digits), |rest| ("-", rest));
    let mut text = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a count with commas.
pub(super) fn count_text(count: u64) -> String {
    grouped(&count.to_string())
}

/// Returns `1 cell`, `2 cells`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", count_text(count as u64), if count == 1 { "" } else { "s" })
}

/// Returns a share in whole percent.
pub(super) fn percent_text(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Returns `2 March 2026, 10:20 UTC` for `2026-03-02T10:20:30Z`; any other text as it is.
pub(super) fn date_text(stamp: &str) -> String {
    const MONTHS: [&str; 12] = [
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December",
    ];
    let parse = || {
        let (date, time) = stamp.split_once('T')?;
        let mut parts = date.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let month = MONTHS.get(month.parse::<usize>().ok()?.checked_sub(1)?)?;
        Some(format!("{} {month} {year}, {} UTC", day.parse::<u32>().ok()?, time.get(..5)?))
    };
    parse().unwrap_or_else(|| stamp.to_owned())
}

/// Returns `1 h 12 min`, `4 min 20 s` or `35 s`.
pub(super) fn duration_text(seconds: f64) -> String {
    let seconds = seconds.max(0.0).round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// Returns the text with a capital letter first.
pub(super) fn capitalized(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or_else(String::new, |first| first.to_uppercase().chain(signs).collect())
}

/// Returns the text with a full stop, unless it ends with a mark already or is empty.
pub(super) fn sentence(text: &str) -> String {
    let is_open = text.chars().next_back().is_some_and(|last| !matches!(last, '.' | '!' | '?'));
    format!("{text}{}", if is_open { "." } else { "" })
}

/// Returns the text cut to so many signs, the last one an ellipsis if it was longer.
pub(super) fn shortened(text: &str, signs_max: usize) -> String {
    match text.char_indices().nth(signs_max) {
        Some(_) => text.chars().take(signs_max.saturating_sub(1)).chain(['…']).collect(),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_matter() {
        let cases =
            [(0.0, "0"), (1.0, "1"), (0.0423, "0.0423"), (2.345, "2.35"), (45.67, "45.7"), (1_234_567.0, "1,234,567")];
        for (value, expected) in cases {
            assert_eq!(significant(value), expected);
        }
    }

    #[test]
    fn ratios_have_sensible_digits() {
        let cases = [(2.0, "2.00 ×"), (0.4, "0.40 ×"), (17.64, "17.6 ×"), (0.0042, "0.0042 ×"), (25_000.0, "25,000 ×")];
        for (ratio, expected) in cases {
            assert_eq!(times_text(ratio), expected);
        }
    }

    #[test]
    fn dates_are_written_out() {
        assert_eq!(date_text("2026-03-02T10:20:30Z"), "2 March 2026, 10:20 UTC");
        for odd in ["", "yesterday", "2026-13-02T10:20:30Z", "2026-00-02T10:20:30Z", "2026-03-02T1"] {
            assert_eq!(date_text(odd), odd);
        }
    }

    #[test]
    fn durations_have_two_units() {
        assert_eq!(duration_text(35.2), "35 s");
        assert_eq!(duration_text(260.0), "4 min 20 s");
        assert_eq!(duration_text(4320.0), "1 h 12 min");
    }

    #[test]
    fn every_named_figure_is_one_of_the_lab() {
        for (name, ..) in FIGURES {
            assert_eq!(figure_of(name).map(Figure::name), Some(*name));
        }
        assert_eq!(figure_of("party_1_per_s"), None);
        assert_eq!(value_text("party_1_per_s", 12.0), "12");
    }

    #[test]
    fn a_sentence_ends_with_one_mark() {
        assert_eq!(["ready", "ready.", "ready?", ""].map(sentence), ["ready.", "ready.", "ready?", ""]);
    }

    #[test]
    fn long_names_end_with_an_ellipsis() {
        assert_eq!(shortened("Bobbin", 6), "Bobbin");
        assert_eq!(shortened("Bobbins", 6), "Bobbi…");
    }
}
