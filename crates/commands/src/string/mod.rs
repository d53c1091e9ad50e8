//! Texts.

pub(crate) mod count;
pub(crate) mod get;
pub(crate) mod lcs;
pub(crate) mod many;
mod options;
pub(crate) mod part;
pub(crate) mod set;

use kinds::Text;
use std::sync::Arc;
use wire::Reply;

/// Replies a text, or null. A long one is shared, not copied.
fn tell(reply: &mut dyn Reply, text: Option<Text<'_>>) {
    match text {
        None => reply.null(),
        Some(Text::Int(number)) => reply.bulk_int(number),
        Some(Text::Bytes(bytes)) => reply.bulk(bytes),
        Some(Text::Long(shared)) => reply.bulk_shared(Arc::clone(shared)),
    }
}
