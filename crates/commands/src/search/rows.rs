//! Parts of replies that FT.SEARCH and FT.AGGREGATE share.
//!
//! ```text
//!   RESP2   [total, row, row ...]
//!   RESP3   {attributes: [], format: STRING, results: [{..., values: []} ...], total_results: n, warning: []}
//! ```

use search::Definition;
use wire::Reply;

/// Bytes of a reply that are written at once, about.
const PART_BYTES: usize = 32 << 10;
/// The bytes that a value counts for beside its own: writing any takes some time.
const VALUE_BYTES: usize = 64;

/// The room that is left in a part of a reply.
pub(super) struct PartRoom(usize);

impl PartRoom {
    pub(super) fn new() -> Self {
        Self(PART_BYTES)
    }

    pub(super) fn spend(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub(bytes + VALUE_BYTES);
    }

    pub(super) fn is_spent(&self) -> bool {
        self.0 == 0
    }
}

/// Begins the results: in RESP2 `elements` values for `rows` rows.
pub(super) fn begin_results(reply: &mut dyn Reply, total: u64, rows: usize, elements: usize) {
    if !reply.is_resp3() {
        reply.array(1 + rows * elements);
        reply.int(total as i64);
        return;
    }
    reply.map(5);
    reply.simple("attributes");
    reply.array(0);
    reply.simple("format");
    reply.simple("STRING");
    reply.simple("results");
    reply.array(rows);
}

/// Ends the results.
pub(super) fn end_results(reply: &mut dyn Reply, total: u64) {
    if reply.is_resp3() {
        reply.simple("total_results");
        reply.int(total as i64);
        reply.simple("warning");
        reply.array(0);
    }
}

/// Writes the name of a part of a row, which RESP2 does not have.
pub(super) fn name_part(reply: &mut dyn Reply, name: &'static str) {
    if reply.is_resp3() {
        reply.simple(name);
    }
}

/// Ends a row.
pub(super) fn end_row(reply: &mut dyn Reply) {
    if reply.is_resp3() {
        reply.simple("values");
        reply.array(0);
    }
}

/// The name under which the key of a hash is returned.
pub(super) const KEY_NAME: &[u8] = b"__key";

/// Returns the position of the field of this attribute, or else of this identifier. O(fields).
pub(super) fn schema_field(definition: &Definition, name: &[u8]) -> Option<usize> {
    let by_identifier = || definition.fields.iter().position(|field| *field.identifier == *name);
    definition.field(name).or_else(by_identifier)
}

/// Returns true if a field of a hash steers its index, and is not returned with all others.
pub(super) fn is_hidden(definition: &Definition, field: &[u8]) -> bool {
    [&definition.language_field, &definition.score_field].into_iter().flatten().any(|hidden| **hidden == *field)
}

/// Returns a number's digits as C's `%.17g` does.
pub(super) fn exact_digits(number: f64) -> String {
    const DIGITS: i32 = 17;
    if !number.is_finite() {
        return number.to_string().to_ascii_lowercase();
    }
    let scientific = format!("{number:.16e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else { return scientific };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..DIGITS).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.unsigned_abs());
    }
    let decimals = (DIGITS - 1 - exponent).unsigned_abs() as usize;
    without_zeros(&format!("{number:.decimals$}")).to_owned()
}

/// Returns digits without the zeros that end a fraction.
fn without_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::exact_digits;

    #[test]
    fn digits_are_those_of_c() {
        // printf("%.17g") of glibc.
        let expected = [
            (0.0, "0"),
            (3.0, "3"),
            (1.1, "1.1000000000000001"),
            (-0.5, "-0.5"),
            (1e16, "10000000000000000"),
            (1e17, "1e+17"),
            (0.0001, "0.0001"),
            (0.00001, "1.0000000000000001e-05"),
            (f64::INFINITY, "inf"),
        ];
        for (number, digits) in expected {
            assert_eq!(exact_digits(number), digits);
        }
    }
}
