//! The benchmark lab: peers, load, records, tables.
