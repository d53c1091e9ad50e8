//! Builds the lab again when a scenario or a report has changed: they are in the program.

fn main() {
    for folder in ["scenarios", "reports", "loads"] {
        println!("cargo::rerun-if-changed=../../lab/{folder}");
    }
}
