//! The append-only log: frames, segments, group commit, recovery. Frames are opaque bytes.
