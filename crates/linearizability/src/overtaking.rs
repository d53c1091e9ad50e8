//! Pairs that came in one order and left in the other.

/// Something that was in a place for a time, as far as is known.
///
/// ```text
///          begun        in                last         out
///   ────────┼────────────┼──────────────────┼───────────┼────> time
///           └ came in between these ┘       └ left between these ┘
/// ```
pub(crate) struct Span {
    /// It had not come in before this time.
    pub(crate) begun_ns: u64,
    /// It had come in by this time.
    pub(crate) in_ns: u64,
    /// It had not left before this time.
    pub(crate) last_ns: u64,
    /// It had left by this time.
    pub(crate) out_ns: u64,
}

/// Two spans, by number, of which the first came in first and the second left first.
///
/// O(n log n): with spans sorted by `in_ns`, those that came in before another are the first few. Of these only the one
/// that was there last matters, or the second if that other is the one itself.
pub(crate) fn find(spans: &[Span]) -> Option<(usize, usize)> {
    let mut sorted: Vec<usize> = (0..spans.len()).collect();
    sorted.sort_by_key(|&at| spans[at].in_ns);
    let mut last_two: [Option<usize>; 2] = [None; 2];
    let is_longer = |at: usize, than: Option<usize>| than.is_none_or(|than| spans[than].last_ns < spans[at].last_ns);
    // By count of first spans.
    let mut longest = vec![last_two];
    for &at in &sorted {
        if is_longer(at, last_two[0]) {
            last_two = [Some(at), last_two[0]];
        } else if is_longer(at, last_two[1]) {
            last_two[1] = Some(at);
        }
        longest.push(last_two);
    }
    (0..spans.len()).find_map(|late| {
        let before = sorted.partition_point(|&at| spans[at].in_ns < spans[late].begun_ns);
        let early = longest[before].into_iter().flatten().find(|&early| early != late)?;
        (spans[late].out_ns < spans[early].last_ns).then_some((early, late))
    })
}
