//! The places where a request can abort the process: every assertion, `expect`, `unreachable!`, panic, index, slice,
//! division and shift in the code that requests run through, with its reason.
//!
//! The process aborts on a bug of its own rather than continue with half a change (`panic = "abort"`), so each of these
//! places claims that no bytes of a client lead there. `crates/tidy/aborts.txt` lists them all: a change that adds one
//! adds a line to that list, for the reviewer. `BLESS=1 cargo test -p tidy aborts` rewrites the list.
//!
//! Arithmetic overflow wraps in the server, and aborts in tests, simulator and fuzzers, which look for it. In the
//! server a wrapped number may still abort the process where it is used as an index.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use syn::visit::{self, Visit};
use tidy::{assert_none, root, rust_files};

/// The crates that requests run through, and why their indices, slices, divisions and shifts hold. The other crates
/// run before the server listens, or are tests.
const CRATES: &[(&str, &str)] = &[
    ("base", "Of bytes whose count was just compared, or of tables with an entry for each value of the index's type."),
    (
        "blocks",
        "Of a leaf's or node's own offsets, counted by whoever wrote it; what comes from disk is checked before it becomes \
        a block. Laws beside a naive twin, AddressSanitizer, fuzz targets `list`, `pack`, `ordered`.",
    ),
    ("table", "Of slots below the table's own capacity, a power of two. Laws beside a naive twin, AddressSanitizer."),
    ("sync", "Of rings and maps whose size is fixed when they are made. Schedules explored by shuttle."),
    (
        "values",
        "Of positions below the value's own length, and of items whose form was written by the same file. Fuzz targets of \
        each type; replayed bytes are checked and refused as misfits.",
    ),
    (
        "search",
        "Of fields below the definition's own count, of slots of a plan, of records that the index wrote itself, of bytes \
        just counted. Laws beside a naive twin, fuzz targets `search_query`, `search_aggregate`, `search_definition`.",
    ),
    ("wire", "Of bytes that the decoder has just counted. Fuzz targets `resp`, `memcache`, `queue`, `replies`."),
    (
        "rdb",
        "Of bytes that the reader has just counted. Fuzz targets `dump` and `restore`; mutated payloads in server/tests/dumps.rs.",
    ),
    ("lua", "Of arguments whose count was just checked."),
    ("journal", "Of heads of fixed size, and of segments whose bytes were read as a whole. Fuzz target `frames`."),
    ("store", "Of pages of fixed size and checked sums. Flipped bits in store/tests/damage.rs."),
    (
        "keyspace",
        "Of shards (a hash has ten bits for 1,024), of slots of the plan that was sealed, of bytes just counted. Fuzz target \
        `effects`, laws of every command.",
    ),
    (
        "commands",
        "Of arguments: the spec's arity is checked before its handler runs, and what lies behind it by the handler. Laws of \
        every command with too few, too many and random arguments.",
    ),
    ("engine", "Of shards, of arguments as in `commands`, of tables with an entry for each command."),
    ("server", "Of bytes just counted."),
];

/// Places of one file: what stands there, and how often.
type Places = BTreeMap<String, usize>;

#[derive(Default)]
struct Finder {
    places: Places,
    nameless: Vec<String>,
}

impl Finder {
    fn found(&mut self, kind: &str, text: &str) {
        *self.places.entry(format!("{kind:11} {}", shortened(text))).or_default() += 1;
    }
}

/// One line, at most so long that a list of them can be read.
fn shortened(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(110) {
        Some((at, _)) => format!("{} ...", &text[..at]),
        None => text,
    }
}

fn source(tokens: &dyn quote::ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (spaced, plain) in [
        (" . ", "."),
        (" :: ", "::"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" [", "["),
        ("[ ", "["),
        (" ]", "]"),
        (" ,", ","),
        ("& ", "&"),
        (" ! ", "!"),
        (" . . ", ".."),
        (" ;", ";"),
        (" ?", "?"),
    ] {
        text = text.replace(spaced, plain);
    }
    text
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let text = source(&attribute.meta);
        text == "test" || text.contains("cfg(test)") || text.contains("cfg(shuttle)") || text.contains("bobbin_")
    })
}

/// A number that stands in the source, or a constant: neither is a client's.
fn is_constant(expression: &syn::Expr) -> bool {
    match expression {
        syn::Expr::Lit(_) => true,
        syn::Expr::Path(path) => {
            let last = path.path.segments.last().expect("a path has parts").ident.to_string();
            last.chars().all(|sign| !sign.is_lowercase())
        }
        syn::Expr::Cast(cast) => is_constant(&cast.expr),
        syn::Expr::Paren(inner) => is_constant(&inner.expr),
        syn::Expr::Binary(binary) => is_constant(&binary.left) && is_constant(&binary.right),
        _ => false,
    }
}

impl<'ast> Visit<'ast> for Finder {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !is_test(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !is_test(&item.attrs) {
            visit::visit_impl_item_fn(self, item);
        }
    }

    // What is checked when the code is compiled ends no process.
    fn visit_item_const(&mut self, _: &'ast syn::ItemConst) {}

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        let name = item.path.segments.last().expect("a macro has a name").ident.to_string();
        let text = source(&item.tokens);
        match name.as_str() {
            "unreachable" | "panic" if text.is_empty() => self.nameless.push(format!("{name}!()")),
            "unreachable" | "panic" | "assert" | "assert_eq" | "assert_ne" => self.found(&name, &text),
            _ => {
                // What other macros are given is code as a rule: `vec![a[b]; n]`, `matches!(a, b)`, `format!("{}",
                // a[b])`.
                let parser = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
                if let Ok(expressions) = item.parse_body_with(parser) {
                    // They live no longer than this visit, so they are looked at by one of their own.
                    let mut inner = Finder::default();
                    expressions.iter().for_each(|expression| inner.visit_expr(expression));
                    inner.places.into_iter().for_each(|(place, count)| *self.places.entry(place).or_default() += count);
                    self.nameless.extend(inner.nameless);
                }
            }
        }
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        match call.method.to_string().as_str() {
            "expect" => self.found("expect", &call.args.first().map_or_else(String::new, |reason| source(reason))),
            "unwrap" => self.nameless.push(source(call)),
            // These abort when a position is beyond the end, as indexing does.
            name @ ("split_at" | "split_at_mut" | "copy_from_slice" | "drain" | "split_off" | "copy_within"
            | "clone_from_slice" | "swap_remove" | "rotate_left" | "rotate_right") => {
                self.found(name, &source(call));
            }
            _ => {}
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr_index(&mut self, index: &'ast syn::ExprIndex) {
        let is_whole = matches!(&*index.index, syn::Expr::Range(range) if range.start.is_none() && range.end.is_none());
        if !is_whole {
            self.found("index", &source(index));
        }
        visit::visit_expr_index(self, index);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        use syn::BinOp::{Div, DivAssign, Rem, RemAssign};
        let divides = matches!(binary.op, Div(_) | DivAssign(_) | Rem(_) | RemAssign(_));
        if divides && !is_constant(&binary.right) {
            self.found("divide", &source(binary));
        }
        visit::visit_expr_binary(self, binary);
    }
}

#[test]
fn every_possible_abort_is_listed_with_its_reason() {
    let mut list = String::from(
        "Where a request could end the process, had we a bug: made by `BLESS=1 cargo test -p tidy aborts`.\n\
         The reason of an expect, a panic or an unreachable is its text; an assertion's is what it says; those of indices, slices\n\
         and divisions are told for each crate. A number in front: so often in that file.\n",
    );
    let mut faults = Vec::new();
    let files = rust_files();
    for (name, reason) in CRATES {
        write!(list, "\n# {name}\n{reason}\n").expect("a string takes all");
        let folder = format!("crates/{name}/src/");
        // Helpers of tests, and what runs at the command line alone.
        let is_asked = |path: &str| {
            path.starts_with(&folder)
                && !path.contains("/testing/")
                && !path.ends_with("tests.rs")
                && !path.contains("/tests/")
        };
        for file in files.iter().filter(|file| is_asked(&file.path)) {
            let parsed = syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path));
            let mut finder = Finder::default();
            finder.visit_file(&parsed);
            faults.extend(finder.nameless.iter().map(|text| format!("{}: {text}", file.path)));
            if !finder.places.is_empty() {
                writeln!(list, "{}", file.path).expect("a string takes all");
            }
            for (place, count) in finder.places {
                writeln!(list, "{count:5} {place}").expect("a string takes all");
            }
        }
    }
    assert_none("no unwrap, and no panic without its reason, where requests run:", &faults);
    let path = root().join("crates/tidy/aborts.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &list).expect("the list can be written");
    }
    let listed = fs::read_to_string(&path).unwrap_or_default();
    let is_in = |text: &str, line: &&str| text.lines().any(|other| other == *line);
    let mut changed: Vec<String> =
        list.lines().filter(|line| !is_in(&listed, line)).map(|line| format!("+ {line}")).collect();
    changed.extend(listed.lines().filter(|line| !is_in(&list, line)).map(|line| format!("- {line}")));
    assert_none("crates/tidy/aborts.txt is not true any more (BLESS=1 writes it anew, then read its diff):", &changed);
    assert!(listed == list, "crates/tidy/aborts.txt is not true any more: BLESS=1 writes it anew");
}
