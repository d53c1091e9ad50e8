//! Arguments for which Redis reports another name, type or version than our syntax line. Facts from `COMMAND DOCS` of
//! Redis 7.0.

/// The reported properties of an argument. Empty fields are taken from the syntax line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArgumentFact {
    /// Its position among the arguments of its command: `2.1` is the second part of the third.
    pub(crate) at: &'static str,
    pub(crate) name: &'static str,
    /// Its type, as COMMAND DOCS names it.
    pub(crate) kind: &'static str,
    /// The version that introduced the argument, if the command is older.
    pub(crate) since: &'static str,
    /// The index of the command's key spec that finds it, if the syntax line does not say so.
    pub(crate) key_spec: Option<usize>,
}

impl ArgumentFact {
    /// Returns the same argument, found by the key spec with this index.
    pub(crate) const fn found_by(self, key_spec: usize) -> Self {
        Self { key_spec: Some(key_spec), ..self }
    }
}

/// Returns the facts of the argument at this position: its name, type and version, empty where the syntax line has them.
pub(crate) const fn argument(
    at: &'static str,
    name: &'static str,
    kind: &'static str,
    since: &'static str,
) -> ArgumentFact {
    ArgumentFact { at, name, kind, since, key_spec: None }
}
