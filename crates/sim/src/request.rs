//! A client's request: its words, and the keys on which its reply depends.

use wire::OwnedRequest;

/// Words with this prefix are unique in a world, and can be found in the journal.
pub(crate) const TOKEN: &str = "tok-";

/// A dependency of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// This key of this database.
    Key(u32, String),
    /// The table of this database.
    Database(u32),
    /// The declarations of indexes.
    Indexes,
}

/// One request.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    pub(crate) words: Vec<String>,
    pub(crate) touches: Vec<Touch>,
    /// The words that must not be in the journal if it is refused.
    pub(crate) tokens: Vec<String>,
}

impl Request {
    /// Creates a request whose reply depends on no key.
    pub(crate) fn plain(words: &[&str]) -> Self {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let tokens = words.iter().filter(|word| word.starts_with(TOKEN)).cloned().collect();
        Self { words, touches: Vec::new(), tokens }
    }

    /// Creates a request on `keys` of database 0.
    pub(crate) fn on(words: &[&str], keys: &[&str]) -> Self {
        Self::within(0, words, keys)
    }

    /// Creates a request on `keys` of `database`.
    pub(crate) fn within(database: u32, words: &[&str], keys: &[&str]) -> Self {
        let touches = keys.iter().map(|key| Touch::Key(database, (*key).to_owned())).collect();
        Self { touches, ..Self::plain(words) }
    }

    /// Moves its keys to another database, which is selected.
    pub(crate) fn into_database(mut self, database: u32) -> Self {
        for touch in &mut self.touches {
            if let Touch::Key(of, _) = touch {
                *of = database;
            }
        }
        self
    }

    /// Returns MULTI, the requests, EXEC: the reply of EXEC depends on everything they, and the keys `watched`, depend
    /// on.
    pub(crate) fn transaction(requests: Vec<Self>, watched: &[&str]) -> Vec<Self> {
        let mut exec = Self::on(&["EXEC"], watched);
        let mut all = vec![Self::plain(&["MULTI"])];
        for request in requests {
            exec.touches.extend(request.touches);
            exec.tokens.extend(request.tokens);
            all.push(Self { words: request.words, touches: Vec::new(), tokens: Vec::new() });
        }
        all.push(exec);
        all
    }

    /// Appends its wire encoding.
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        wire::resp::request(out, OwnedRequest::of(&self.words).args());
    }
}
