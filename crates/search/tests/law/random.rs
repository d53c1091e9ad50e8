//! Random indexes: an index answers as its twin does, at any time, and so do its clones and an index made anew.

use super::answer::{PageDraw, Pair, page};
use super::draw::{Change, TIMES, changes, definition, language, pick};
use super::query_draw::{QueryDraw, query};
use super::twin::Moment;
use proptest::collection::vec;
use proptest::prelude::*;
use search::{Definition, Language};
use std::sync::Arc;

/// A query, when and in which language it is asked, and for which page.
type Question = (QueryDraw, u8, u8, PageDraw);

fn question() -> impl Strategy<Value = Question> {
    (query(), any::<u8>(), any::<u8>(), page())
}

/// Cases of the law of small indexes; of that of large ones there are fewer by `divisor`.
fn cases(divisor: u32) -> ProptestConfig {
    let cases = std::env::var("BOBBIN_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(400);
    let cases = (cases / divisor).max(1);
    ProptestConfig { failure_persistence: None, max_shrink_iters: 20_000, ..ProptestConfig::with_cases(cases) }
}

fn ask_all(pair: &Pair, questions: &[Question]) {
    for (query, now, of_language, page) in questions {
        let moment = Moment { now: pick(&TIMES, *now), language: language(*of_language) };
        pair.ask(&query.query(&pair.twin), moment, page);
    }
}

fn run(definition: &Arc<Definition>, rounds: &[(Vec<Change>, Vec<Question>)]) {
    let mut pair = Pair::new(definition);
    let mut clones = Vec::new();
    for (changes, questions) in rounds {
        for change in changes {
            pair.change(change.key.into(), change.row.as_ref());
        }
        ask_all(&pair, questions);
        pair.compare_rows(Moment { now: pick(&TIMES, questions[0].1), language: Language::English });
        let rebuilt = pair.rebuilt();
        ask_all(&rebuilt, questions);
        let (size, fresh) = (pair.index.size(), rebuilt.index.size());
        assert_eq!((size.rows, size.terms), (fresh.rows, fresh.terms));
        assert_eq!((size.postings, size.deadlines), (fresh.postings, fresh.deadlines));
        clones.push((pair.clone(), questions));
    }
    for (clone, questions) in &clones {
        ask_all(clone, questions);
    }
    // Without rows nothing is left.
    for key in 0..24 {
        pair.change(key, None);
    }
    let size = pair.index.size();
    assert_eq!((size.rows, size.terms), (0, 0));
    assert_eq!((size.postings, size.deadlines), (0, 0));
    ask_all(&pair, &rounds[0].1);
}

proptest! {
    #![proptest_config(cases(1))]

    #[test]
    fn an_index_answers_as_its_naive_twin(
        definition in definition(),
        rounds in vec((changes(20), vec(question(), 1..6)), 1..4),
    ) {
        run(&definition, &rounds);
    }
}

proptest! {
    #![proptest_config(cases(50))]

    /// Rows of a few forms in three chunks, of which the second loses most of its rows.
    #[test]
    fn an_index_of_many_chunks_answers_as_its_naive_twin(
        definition in definition(),
        changes in changes(40),
        questions in vec(question(), 1..6),
        kept in 1u32..400,
    ) {
        let mut pair = Pair::new(&definition);
        for key in 0..8_500u32 {
            let row = &changes[key.wrapping_mul(0x9e37_79b9) as usize % changes.len()].row;
            pair.change(key, row.as_ref());
        }
        for key in (4_000..8_300).filter(|key| key % kept > 0) {
            pair.change(key, None);
        }
        ask_all(&pair, &questions);
    }
}
