//! The figures of a row.

use serde::{Deserialize, Serialize};

/// A figure of a row.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Figure {
    /// The rate.
    #[default]
    RequestsPerS,
    /// Latency that half of the requests stay below.
    P50Ms,
    P95Ms,
    P99Ms,
    P999Ms,
    MaxMs,
    /// The server's own CPU.
    CpuUsPerRequest,
    /// The time that the commands of a request took, as the server reports it.
    ServerUsPerRequest,
    RssBytes,
    BytesPerConnection,
    /// Memory of one item, key or list; the worst of all marks.
    BytesEach,
    /// Reported by the server itself, as the next three.
    LongestTurnUs,
    LongestLockHoldUs,
    LongestLockWaitUs,
    LongestShardTurnUs,
    /// The longest stall of a loop that only writes, just after the case: the machine's own, not a server's.
    MachineStallUs,
    /// The longest work of the generator for one pipeline, during the case.
    LongestGeneratorStepUs,
    /// The longest time in which none of the clients had an answer.
    LongestGapMs,
    /// The waits of single writes beside the load, from the time at which each was due.
    SingleP999Ms,
    SingleMaxMs,
    /// Memory of the server and its children at the height of a checkpoint, above that before it.
    MemoryGrowthBytes,
    /// The data folder when all is over; and at its greatest.
    FolderBytes,
    FolderBytesMax,
    /// Bytes written to the disk for each byte of keys and values.
    WrittenPerByte,
    /// The share of calls that found nothing, where a call may.
    FoundNothingPercent,
    /// From the start of the program to the first right answer; and until it has loaded everything.
    FirstReplyMs,
    LoadedMs,
}

impl Figure {
    /// All figures.
    pub(crate) const ALL: [Self; 27] = [
        Self::RequestsPerS,
        Self::P50Ms,
        Self::P95Ms,
        Self::P99Ms,
        Self::P999Ms,
        Self::MaxMs,
        Self::CpuUsPerRequest,
        Self::ServerUsPerRequest,
        Self::RssBytes,
        Self::BytesPerConnection,
        Self::BytesEach,
        Self::LongestTurnUs,
        Self::LongestLockHoldUs,
        Self::LongestLockWaitUs,
        Self::LongestShardTurnUs,
        Self::MachineStallUs,
        Self::LongestGeneratorStepUs,
        Self::LongestGapMs,
        Self::SingleP999Ms,
        Self::SingleMaxMs,
        Self::MemoryGrowthBytes,
        Self::FolderBytes,
        Self::FolderBytesMax,
        Self::WrittenPerByte,
        Self::FoundNothingPercent,
        Self::FirstReplyMs,
        Self::LoadedMs,
    ];

    /// The name in scenarios and results, which ends with the unit.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::RequestsPerS => "requests_per_s",
            Self::P50Ms => "p50_ms",
            Self::P95Ms => "p95_ms",
            Self::P99Ms => "p99_ms",
            Self::P999Ms => "p999_ms",
            Self::MaxMs => "max_ms",
            Self::CpuUsPerRequest => "cpu_us_per_request",
            Self::ServerUsPerRequest => "server_us_per_request",
            Self::RssBytes => "rss_bytes",
            Self::BytesPerConnection => "bytes_per_connection",
            Self::BytesEach => "bytes_each",
            Self::LongestTurnUs => "longest_turn_us",
            Self::LongestLockHoldUs => "longest_lock_hold_us",
            Self::LongestLockWaitUs => "longest_lock_wait_us",
            Self::LongestShardTurnUs => "longest_shard_turn_us",
            Self::MachineStallUs => "machine_stall_us",
            Self::LongestGeneratorStepUs => "longest_generator_step_us",
            Self::LongestGapMs => "longest_gap_ms",
            Self::SingleP999Ms => "single_p999_ms",
            Self::SingleMaxMs => "single_max_ms",
            Self::MemoryGrowthBytes => "memory_growth_bytes",
            Self::FolderBytes => "folder_bytes",
            Self::FolderBytesMax => "folder_bytes_max",
            Self::WrittenPerByte => "written_per_byte",
            Self::FoundNothingPercent => "found_nothing_percent",
            Self::FirstReplyMs => "first_reply_ms",
            Self::LoadedMs => "loaded_ms",
        }
    }

    /// Returns true if a greater value is better.
    pub(crate) fn higher_is_better(self) -> bool {
        self == Self::RequestsPerS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_read_by_its_name() {
        for figure in Figure::ALL {
            let text = format!("figure = \"{}\"", figure.name());
            let read: std::collections::BTreeMap<String, Figure> = toml::from_str(&text).unwrap();
            assert_eq!(read["figure"], figure);
        }
    }
}
