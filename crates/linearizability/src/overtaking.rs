//! Pairs that arrived in one order and left in the other.

/// The time something was in a place, as far as known.
///
/// ```text
///          begun        in                last         out
///   ────────┼────────────┼──────────────────┼───────────┼────> time
///           └ came in between these ┘       └ left between these ┘
/// ```
pub(crate) struct Span {
    /// It had not arrived before this time.
    pub(crate) begun_ns: u64,
    /// It had arrived by this time.
    pub(crate) in_ns: u64,
    /// It had not left before this time.
    pub(crate) last_ns: u64,
    /// It had left by this time.
    pub(crate) out_ns: u64,
}

/// Returns two spans, by number, such that the first arrived first and the second left first.
///
/// O(n log n): with spans sorted by `in_ns`, those that arrived before another are a prefix. Only the one in it that
/// stayed longest matters, or the runner-up if that is the span itself.
pub(crate) fn find(spans: &[Span]) -> Option<(usize, usize)> {
    let mut sorted: Vec<usize> = (0..spans.len()).collect();
    sorted.sort_by_key(|&at| spans[at].in_ns);
    let mut last_two: [Option<usize>; 2] = [None; 2];
    let is_longer = |at: usize, than: Option<usize>| than.is_none_or(|than| spans[than].last_ns < spans[at].last_ns);
    // Indexed by the length of the prefix.
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
