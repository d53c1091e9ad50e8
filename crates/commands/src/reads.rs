//! How many of a command's key lookups are reads, which INFO counts as hits and misses, as in Redis: commands that
//! change keys read some of them first.

use crate::parse;
use crate::registry::Command;
use crate::spec::{CommandSpec, CountedReads, Fact, Flag};
use sync::lock::Want;
use wire::Args;

/// Returns which of a command's lookups count.
pub(crate) fn counted(command: &CommandSpec) -> CountedReads {
    let own = command.fact(|fact| if let Fact::Reads(reads) = fact { Some(reads) } else { None });
    own.unwrap_or_else(|| match () {
        () if !command.writes() || command.has(Flag::ReportedAsReader) => CountedReads::All,
        () if command.keys.iter().any(|spec| spec.want() == Want::Read) => CountedReads::Sources,
        () => CountedReads::None,
    })
}

/// Returns how many of a command's first lookups count as reads. O(arguments), and O(1) for most commands.
#[inline]
pub fn counted_reads(command: &Command, args: &Args<'_>) -> u32 {
    match command.counted_reads() {
        CountedReads::None => 0,
        CountedReads::All => u32::MAX,
        CountedReads::ChangedIfGet if args.len() == 3 => 0,
        some => count_some(some, command, args),
    }
}

fn count_some(some: CountedReads, command: &Command, args: &Args<'_>) -> u32 {
    let named = |wanted: fn(Want) -> bool| {
        let mut count = 0;
        command.for_each_key(args, |_, want| count += u32::from(wanted(want)));
        count
    };
    match some {
        CountedReads::None => 0,
        CountedReads::All => u32::MAX,
        CountedReads::Changed => 1,
        CountedReads::ChangedIfGet => u32::from(args.from(3).iter().any(|option| parse::is(option, "GET"))),
        CountedReads::ChangedIfGetAlone => {
            let writes = |word| parse::is(word, "SET") || parse::is(word, "INCRBY");
            u32::from(!args.from(2).iter().any(writes))
        }
        CountedReads::Sources => named(|want| want == Want::Read),
        CountedReads::Named => named(|_| true),
    }
}
