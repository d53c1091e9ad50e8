//! Measures an index over rows of players: what a row costs in time and memory, and how long queries take. Argument: number
//! of rows (1,000,000).

use base::hash::KeyHasher;
use base::random::Random;
use blocks::Direction;
use search::{
    Definition, Index, Language, Query, QueryOptions, QuerySettings, Row, RowField, Search, SearchOrder, SearchPage,
    Work, parse_query,
};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const PROVINCES: u64 = 31;
const CITIES: u64 = 340;
const LEVELS: u64 = 1_000;
const QUERIES: u32 = 50;
/// Rows put together.
const BATCH: usize = 256;

fn main() {
    let count = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(1_000_000u64);
    let schema =
        "ON HASH PREFIX 1 player: SCHEMA name TEXT NOSTEM sex TAG province TAG city TAG level NUMERIC SORTABLE";
    let words: Vec<&[u8]> = schema.split(' ').map(str::as_bytes).collect();
    let definition = Arc::new(Definition::parse(b"players", &words).expect("a valid definition"));
    let mut index = Index::new(Arc::clone(&definition), KeyHasher::random());
    let mut random = Random::new(7);
    let mut us = 0.0;
    for from in (0..count).step_by(BATCH) {
        us += put_all(&mut index, from..count.min(from + BATCH as u64), &mut random);
    }
    println!("{count} rows, {BATCH} together; a new one {:.1} us", us / count as f64);
    show_size(&index);
    let changed = count / 10;
    // The first changes open packed blocks, later ones find most of them open.
    for attribute in ["level", "level", "city", "name"] {
        show_change(&mut index, attribute, count / 200, &mut random);
    }
    show_size(&index);
    for attribute in ["level", "city", "name"] {
        show_change(&mut index, attribute, changed, &mut random);
    }
    show_size(&index);
    for batch in [1, BATCH as u64] {
        let mut us = 0.0;
        for _ in 0..changed / batch {
            let keys: Vec<u64> = (0..batch).map(|_| random.below(count)).collect();
            us += put_all(&mut index, keys, &mut random);
        }
        println!("rows put again with other values, {batch} together; one {:.1} us", us / changed as f64);
    }
    let settings = QuerySettings::default();
    for (text, order, offset, page) in [
        ("@sex:{m}", None, 0, 10),
        ("@sex:{m}", None, 0, 0),
        ("@province:{p7} @city:{c69}", None, 0, 10),
        ("@name:*mingxi*", None, 0, 10),
        ("@name:*小明*", None, 0, 10),
        ("@name:*小明天*", None, 0, 10),
        ("@name:*xi* @province:{p7} @city:{c69}", None, 0, 10),
        ("@sex:{m} @level:[0 500]", None, 0, 0),
        ("@sex:{m} -@province:{p7}", None, 0, 0),
        ("@level:[100 200]", None, 0, 10),
        ("*", Some(Direction::Backward), 0, 10),
        ("*", Some(Direction::Backward), count / 2, 10),
        ("@sex:{m}", Some(Direction::Backward), 0, 10),
        ("@sex:{m}", Some(Direction::Backward), count / 4, 10),
        ("@city:{c77}", Some(Direction::Forward), 0, 10),
    ] {
        let options =
            QueryOptions { settings: &settings, is_verbatim: false, keeps_stop_words: false, in_fields: None };
        let query = parse_query(text.as_bytes(), &definition, &options).expect("a valid query");
        show_query(&index, &query, text, order, offset, page);
    }
}

/// Puts rows with fresh values; returns the microseconds that it takes.
fn put_all(index: &mut Index, keys: impl IntoIterator<Item = u64>, random: &mut Random) -> f64 {
    let rows: Vec<(Vec<u8>, Row)> = keys.into_iter().map(|nth| (key(nth), row(random))).collect();
    let began = Instant::now();
    let rows = rows.iter().map(|(key, row)| (&key[..], Some(row)));
    index.put_all(rows, |_, error| panic!("all values are of their types: {error}"));
    us_each(began, 1)
}

/// Changes one field of random rows, one row at a time.
fn show_change(index: &mut Index, attribute: &str, count: u64, random: &mut Random) {
    let field = index.definition().field(attribute.as_bytes()).expect("it is declared");
    let rows_count = index.len();
    let changed: Vec<(Vec<u8>, Row)> = (0..count)
        .map(|_| {
            let key = key(random.below(rows_count));
            let mut changed = index.raw_row(&key).expect("it was put");
            changed.fields[field] = row(random).fields.swap_remove(field);
            (key, changed)
        })
        .collect();
    let began = Instant::now();
    for (key, row) in &changed {
        index.put(key, Some(row)).expect("values of their types");
    }
    println!("another {attribute} of a random row: {:.1} us", us_each(began, count));
}

fn show_query(index: &Index, query: &Query, text: &str, order: Option<Direction>, offset: u64, count: u64) {
    let level = index.definition().field(b"level").expect("it is declared");
    let (mut first_us, mut total, mut found) = (0.0, 0, 0);
    let began = Instant::now();
    for turn in 0..QUERIES {
        let page = SearchPage {
            order: order.map(|direction| SearchOrder { field: level, direction }),
            offset,
            count,
            in_keys: None,
            skips_total: false,
        };
        let mut search = Search::new(index.clone(), query.clone(), 0, Language::English, page);
        let result = search.step(&mut Work::new(u64::MAX)).expect("there is work enough");
        (total, found) = (result.total, black_box(result.rows).len());
        if turn == 0 {
            first_us = us_each(began, 1);
        }
    }
    let us = us_each(began, u64::from(QUERIES));
    let order = order.map_or(String::new(), |direction| format!(", by level {direction:?}"));
    println!(
        "{text}{order}, {count} from {offset}: {us:.0} us, the first {first_us:.0} us; {total} match, {found} shown"
    );
}

fn show_size(index: &Index) {
    let (size, rows) = (index.size(), index.len() as f64);
    let each = |bytes: u64| bytes as f64 / rows;
    println!(
        "bytes a row: rows {:.1}, keys {:.1}, dictionary {:.2} ({} terms), postings {:.1}, numbers {:.1}",
        each(size.rows_bytes),
        each(size.keys_bytes),
        each(size.dictionary_bytes),
        size.terms,
        each(size.postings_bytes),
        each(size.numbers_bytes)
    );
}

fn us_each(began: Instant, count: u64) -> f64 {
    began.elapsed().as_secs_f64() * 1e6 / count as f64
}

fn key(nth: u64) -> Vec<u8> {
    format!("player:{nth:08}").into_bytes()
}

fn row(random: &mut Random) -> Row {
    let city = random.below(CITIES);
    let values = [
        name(random),
        if random.below(2) == 0 { "m".into() } else { "f".into() },
        format!("p{}", city % PROVINCES),
        format!("c{city}"),
        random.below(LEVELS).to_string(),
    ];
    let field = |value: String| Some(RowField { value: value.into_bytes().into(), expires_at_ms: None });
    Row { expires_at_ms: None, language: None, fields: values.into_iter().map(field).collect() }
}

/// Returns a name of four syllables, or of three ideographs.
fn name(random: &mut Random) -> String {
    const SYLLABLES: [&str; 24] = [
        "ming", "xi", "ao", "li", "wei", "hua", "jun", "fang", "tao", "lei", "na", "yan", "bo", "chen", "dan", "fei",
        "guo", "hong", "jie", "kai", "lan", "mei", "ping", "qing",
    ];
    if random.below(2) == 0 {
        return (0..4).map(|_| SYLLABLES[random.below(24) as usize]).collect();
    }
    let ideographs: Vec<char> = "小明天王李张刘陈杨黄赵吴周徐孙马朱胡林郭何高罗郑梁谢宋唐许邓".chars().collect();
    (0..3).map(|_| ideographs[random.below(ideographs.len() as u64) as usize]).collect()
}
