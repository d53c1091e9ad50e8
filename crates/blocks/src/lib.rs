//! The counted copy-on-write B+tree of packed blocks, and its leaf codecs. Pure.
