//! Trees of values as replies: FT.INFO.

use wire::Reply;

/// Writes a tree.
pub fn write_tree(tree: &search::Reply, reply: &mut dyn Reply) {
    use search::Reply as Tree;
    match tree {
        Tree::Text(text) => reply.bulk(text),
        Tree::Integer(number) => reply.int(i64::try_from(*number).unwrap_or(i64::MAX)),
        Tree::Number(number) => reply.double(*number),
        Tree::List(items) => {
            reply.array(items.len());
            items.iter().for_each(|item| write_tree(item, reply));
        }
        Tree::Pairs(pairs) => {
            reply.map(pairs.len());
            write_pairs(pairs, reply);
        }
        Tree::Flagged { pairs, flags } => {
            if reply.is_resp3() {
                reply.map(pairs.len() + 1);
                write_pairs(pairs, reply);
                reply.bulk(b"flags");
                reply.array(flags.len());
            } else {
                reply.array(2 * pairs.len() + flags.len());
                write_pairs(pairs, reply);
            }
            flags.iter().for_each(|flag| reply.bulk(flag.as_bytes()));
        }
    }
}

fn write_pairs(pairs: &[(&'static str, search::Reply)], reply: &mut dyn Reply) {
    for (name, value) in pairs {
        reply.bulk(name.as_bytes());
        write_tree(value, reply);
    }
}
