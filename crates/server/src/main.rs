//! The `bobbin` binary.
fn main() {}
