//! FT.INFO: a declaration and its index' figures, as a tree that a writer of replies prints.
//!
//! ```text
//!   index_name        idx
//!   index_definition  key_type HASH, prefixes [doc:], default_score 1
//!   attributes        [identifier title, attribute title, type TEXT, WEIGHT 1; SORTABLE NOSTEM] ...
//!   num_docs          12
//!   ...
//! ```
//!
//! Names, types and order are those of RediSearch 2.10. What has no counterpart is zero: its collector of garbage,
//! positions of words, copies of values to sort by. One dictionary holds words and tags alike.

use crate::definition::{Definition, Field, FieldType, Language};
use crate::index::IndexSize;

const BYTES_OF_MB: f64 = (1 << 20) as f64;

/// The text of an error that did not occur.
const NO_ERROR: &str = "N/A";

/// A value of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A text.
    Text(Box<[u8]>),
    /// An integer.
    Integer(u64),
    /// A number, possibly NaN or infinite: a double of RESP3, a text of RESP2.
    Number(f64),
    /// An array.
    List(Vec<Reply>),
    /// A map of RESP3, a flat array of RESP2.
    Pairs(Vec<(&'static str, Reply)>),
    /// In RESP3 a map whose last key is `flags`, with an array; in RESP2 a flat array with the flags after the pairs.
    Flagged {
        /// The pairs.
        pairs: Vec<(&'static str, Reply)>,
        /// The flags.
        flags: Vec<&'static str>,
    },
}

impl Reply {
    fn text(text: impl AsRef<[u8]>) -> Self {
        Self::Text(text.as_ref().into())
    }

    fn megabytes(bytes: u64) -> Self {
        Self::Number(bytes as f64 / BYTES_OF_MB)
    }
}

/// Figures of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexFigures {
    /// Its rows, and the structures that they are found by.
    pub size: IndexSize,
    /// Milliseconds spent on indexing.
    pub indexing_ms: f64,
    /// True while hashes that were there before are read.
    pub is_indexing: bool,
    /// The part of those hashes that was read, 0 to 1.
    pub indexed_part: f64,
    /// Commands that named it.
    pub uses_count: u64,
    /// True while it is being deleted.
    pub is_deleting: bool,
    /// Hashes that could not be indexed.
    pub failures: FailureFigures,
    /// The same by field, in the order of [`Definition::fields`]; missing ones at the end had none.
    pub field_failures: Vec<FailureFigures>,
    /// Cursors.
    pub cursors: CursorFigures,
    /// Queries by dialect, 1 to 4.
    pub dialect_uses: [u64; 4],
}

/// Hashes that could not be indexed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FailureFigures {
    /// Their number.
    pub count: u64,
    /// The last error, and the key of its hash.
    pub last: Option<(Box<str>, Box<[u8]>)>,
}

/// Cursors of the server and of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CursorFigures {
    /// Cursors of the server that no command is reading.
    pub idle_count: u64,
    /// Cursors of the server.
    pub total_count: u64,
    /// The maximum of an index.
    pub index_max: u64,
    /// Cursors of the index.
    pub index_count: u64,
}

impl IndexFigures {
    /// Returns the reply of FT.INFO.
    pub fn describe(&self, definition: &Definition) -> Reply {
        let mut pairs = vec![
            ("index_name", Reply::text(&definition.name)),
            ("index_options", words(options(definition))),
            ("index_definition", rule(definition)),
            ("attributes", Reply::List(definition.fields.iter().map(attribute).collect())),
        ];
        pairs.extend(self.counts());
        pairs.extend(self.sizes());
        pairs.extend(self.averages());
        pairs.extend(self.progress());
        pairs.extend([("gc_stats", no_garbage()), ("cursor_stats", self.cursors.describe())]);
        if let Some(stop_words) = &definition.stop_words {
            let stop_words = stop_words.iter().map(|word| Reply::text(word.as_bytes()));
            pairs.push(("stopwords_list", Reply::List(stop_words.collect())));
        }
        let dialects = ["dialect_1", "dialect_2", "dialect_3", "dialect_4"];
        let dialects = dialects.into_iter().zip(self.dialect_uses.map(Reply::Integer));
        pairs.push(("dialect_stats", Reply::Pairs(dialects.collect())));
        pairs.push(("Index Errors", self.failures.describe()));
        pairs.push(("field statistics", self.field_statistics(definition)));
        Reply::Pairs(pairs)
    }

    fn counts(&self) -> [(&'static str, Reply); 4] {
        [
            ("num_docs", Reply::Integer(self.size.rows)),
            ("max_doc_id", Reply::Integer(self.size.row_numbers)),
            ("num_terms", Reply::Integer(self.size.terms)),
            ("num_records", Reply::Integer(self.size.postings)),
        ]
    }

    fn sizes(&self) -> [(&'static str, Reply); 11] {
        let IndexSize { rows_bytes, keys_bytes, dictionary_bytes, .. } = self.size;
        let postings_bytes = self.size.postings_bytes.saturating_add(self.size.numbers_bytes);
        let total = [rows_bytes, keys_bytes, dictionary_bytes, postings_bytes].into_iter().fold(0, u64::saturating_add);
        [
            ("inverted_sz_mb", Reply::megabytes(postings_bytes)),
            ("vector_index_sz_mb", Reply::megabytes(0)),
            ("total_inverted_index_blocks", Reply::Integer(self.size.posting_chunks)),
            ("offset_vectors_sz_mb", Reply::megabytes(0)),
            ("doc_table_size_mb", Reply::megabytes(rows_bytes)),
            ("sortable_values_size_mb", Reply::megabytes(0)),
            ("key_table_size_mb", Reply::megabytes(keys_bytes)),
            ("tag_overhead_sz_mb", Reply::megabytes(0)),
            ("text_overhead_sz_mb", Reply::megabytes(dictionary_bytes)),
            ("total_index_memory_sz_mb", Reply::megabytes(total)),
            ("geoshapes_sz_mb", Reply::megabytes(0)),
        ]
    }

    /// Returns the averages: NaN where there is nothing to divide by.
    fn averages(&self) -> [(&'static str, Reply); 4] {
        let average = |sum: u64, count: u64| Reply::Number(sum as f64 / count as f64);
        [
            ("records_per_doc_avg", average(self.size.postings, self.size.rows)),
            ("bytes_per_record_avg", average(self.size.postings_bytes, self.size.postings)),
            ("offsets_per_term_avg", average(0, self.size.postings)),
            ("offset_bits_per_record_avg", average(0, 0)),
        ]
    }

    fn progress(&self) -> [(&'static str, Reply); 6] {
        [
            ("hash_indexing_failures", Reply::Integer(self.failures.count)),
            ("total_indexing_time", Reply::Number(self.indexing_ms)),
            ("indexing", Reply::Integer(self.is_indexing.into())),
            ("percent_indexed", Reply::Number(self.indexed_part)),
            ("number_of_uses", Reply::Integer(self.uses_count)),
            ("cleaning", Reply::Integer(self.is_deleting.into())),
        ]
    }

    fn field_statistics(&self, definition: &Definition) -> Reply {
        let none = FailureFigures::default();
        let fields = definition.fields.iter().enumerate().map(|(position, field)| {
            Reply::Pairs(vec![
                ("identifier", Reply::text(&field.identifier)),
                ("attribute", Reply::text(&field.attribute)),
                ("Index Errors", self.field_failures.get(position).unwrap_or(&none).describe()),
            ])
        });
        Reply::List(fields.collect())
    }
}

impl FailureFigures {
    fn describe(&self) -> Reply {
        let (error, key) = match &self.last {
            Some((error, key)) => (error.as_bytes(), &**key),
            None => (NO_ERROR.as_bytes(), NO_ERROR.as_bytes()),
        };
        Reply::Pairs(vec![
            ("indexing failures", Reply::Integer(self.count)),
            ("last indexing error", Reply::text(error)),
            ("last indexing error key", Reply::text(key)),
        ])
    }
}

impl CursorFigures {
    fn describe(&self) -> Reply {
        Reply::Pairs(vec![
            ("global_idle", Reply::Integer(self.idle_count)),
            ("global_total", Reply::Integer(self.total_count)),
            ("index_capacity", Reply::Integer(self.index_max)),
            ("index_total", Reply::Integer(self.index_count)),
        ])
    }
}

fn words(words: Vec<&'static str>) -> Reply {
    Reply::List(words.into_iter().map(Reply::text).collect())
}

/// Returns the words that are set.
fn set<const N: usize>(words: [(bool, &'static str); N]) -> Vec<&'static str> {
    words.into_iter().filter_map(|(is_set, word)| is_set.then_some(word)).collect()
}

fn options(definition: &Definition) -> Vec<&'static str> {
    set([
        (definition.has_no_frequencies, "NOFREQS"),
        (definition.has_no_field_bits, "NOFIELDS"),
        (definition.has_no_offsets, "NOOFFSETS"),
        (definition.has_no_highlights, "NOHL"),
        (definition.has_many_text_fields, "MAXTEXTFIELDS"),
    ])
}

fn rule(definition: &Definition) -> Reply {
    let prefixes = Reply::List(definition.prefixes.iter().map(Reply::text).collect());
    let mut pairs = vec![("key_type", Reply::text("HASH")), ("prefixes", prefixes)];
    pairs.extend(definition.filter.iter().map(|filter| ("filter", Reply::text(filter.text()))));
    if definition.language != Language::English {
        pairs.push(("default_language", Reply::text(definition.language.name())));
    }
    pairs.extend(definition.language_field.iter().map(|field| ("language_field", Reply::text(field))));
    pairs.push(("default_score", Reply::Number(definition.score)));
    pairs.extend(definition.score_field.iter().map(|field| ("score_field", Reply::text(field))));
    Reply::Pairs(pairs)
}

fn attribute(field: &Field) -> Reply {
    let mut pairs = vec![("identifier", Reply::text(&field.identifier)), ("attribute", Reply::text(&field.attribute))];
    let (mut has_no_stems, mut is_case_sensitive, mut has_trie) = (false, false, false);
    match field.field_type {
        FieldType::Text { weight, has_no_stems: no_stems, has_suffix_trie } => {
            pairs.extend([("type", Reply::text("TEXT")), ("WEIGHT", Reply::Number(weight))]);
            (has_no_stems, has_trie) = (no_stems, has_suffix_trie);
        }
        FieldType::Tag { separator, is_case_sensitive: is_sensitive, has_suffix_trie } => {
            pairs.extend([("type", Reply::text("TAG")), ("SEPARATOR", Reply::text([separator]))]);
            (is_case_sensitive, has_trie) = (is_sensitive, has_suffix_trie);
        }
        FieldType::Numeric => pairs.push(("type", Reply::text("NUMERIC"))),
        FieldType::Geo => pairs.push(("type", Reply::text("GEO"))),
    }
    let flags = set([
        (field.is_sortable, "SORTABLE"),
        (field.is_unnormalized, "UNF"),
        (has_no_stems, "NOSTEM"),
        (is_case_sensitive, "CASESENSITIVE"),
        (has_trie, "WITHSUFFIXTRIE"),
        (field.indexes_empty, "INDEXEMPTY"),
        (field.indexes_missing, "INDEXMISSING"),
        (!field.is_indexed, "NOINDEX"),
    ]);
    Reply::Flagged { pairs, flags }
}

/// Returns the figures of a collector that does not exist.
fn no_garbage() -> Reply {
    Reply::Pairs(vec![
        ("bytes_collected", Reply::Number(0.0)),
        ("total_ms_run", Reply::Number(0.0)),
        ("total_cycles", Reply::Number(0.0)),
        ("average_cycle_time_ms", Reply::Number(f64::NAN)),
        ("last_run_time_ms", Reply::Number(0.0)),
        ("gc_numeric_trees_missed", Reply::Number(0.0)),
        ("gc_blocks_denied", Reply::Number(0.0)),
    ])
}
