//! The types of settings: which texts are valid, and how they are read and shown.
//!
//! ```text
//! "512MB" --read--> canonical "536870912", and stored in its field of Current
//!                     |-- show(Redis): 536870912
//!                     `-- show(Own):   512mb
//! ```

use super::current::{Current, OutputLimit, OutputLimits};
use super::targets::Targets;
use keyspace::Classes;
use std::fmt;

/// The type of a setting, with the field of [`Current`] that holds its value.
pub enum SettingType {
    /// on or off; yes or no in Redis's words.
    Bool {
        /// Stores a value.
        set: fn(&mut Current, bool),
    },
    /// A whole number.
    Integer {
        /// The unit, plural; empty for a bare number.
        unit: &'static str,
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
        /// Stores a value within the bounds.
        set: fn(&mut Current, i64),
    },
    /// Bytes, with Redis's suffixes: b, k, kb, m, mb, g, gb.
    Bytes {
        /// Least value.
        min: u64,
        /// Greatest value.
        max: u64,
        /// Stores a value within the bounds.
        set: fn(&mut Current, u64),
    },
    /// One of several words.
    Choice {
        /// The words; each may be given in Bobbin's or in Redis's spelling.
        words: &'static [Word],
        /// Stores the word at this index.
        set: fn(&mut Current, usize),
    },
    /// Permission bits in octal, 0 for none.
    Mode {
        /// Stores the bits.
        set: fn(&mut Current, u32),
    },
    /// A path.
    Path {
        /// True if it may be empty.
        optional: bool,
        /// Stores the path.
        set: fn(&mut Current, &str),
    },
    /// A text that only CONFIG GET shows.
    Secret {
        /// Stores the text, empty for none.
        set: fn(&mut Current, &str),
    },
    /// Addresses or host names, separated by spaces or commas.
    Addresses {
        /// Stores them.
        set: fn(&mut Current, Vec<String>),
    },
    /// Hosts, or hosts with ports, as glob patterns; none is fine.
    Targets {
        /// Stores them.
        set: fn(&mut Current, Targets),
    },
    /// `class hard soft seconds`, once or more; classes not named keep theirs.
    BufferLimits {
        /// Returns the field of the limits.
        of: fn(&mut Current) -> &mut OutputLimits,
    },
    /// Letters that stand for classes of events.
    Events {
        /// Stores them.
        set: fn(&mut Current, Classes),
    },
}

/// One word of a choice.
#[derive(Debug)]
pub struct Word {
    /// In Bobbin's spelling.
    pub own: &'static str,
    /// In Redis's spelling.
    pub redis: &'static str,
}

/// The spelling in which a value is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Voice {
    /// As in `bobbin config` and the flags.
    Own,
    /// As in CONFIG GET under one of Redis's names.
    Redis,
}

/// Why a text is invalid for its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wrong {
    /// Neither on nor off.
    Bool,
    /// No whole number, or one out of bounds.
    Integer {
        /// The unit.
        unit: &'static str,
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
        /// True if it is a number at all.
        number: bool,
    },
    /// No count of bytes, or one out of bounds.
    Bytes {
        /// Least value.
        min: u64,
        /// Greatest value.
        max: u64,
        /// True if it is a count of bytes at all.
        number: bool,
    },
    /// None of these words: first Bobbin's, then Redis's spelling.
    Choice(Vec<&'static str>, Vec<&'static str>),
    /// No octal number up to 777.
    Mode,
    /// Nothing where something is needed.
    Empty,
    /// Not UTF-8.
    NotText,
    /// Limits that do not come in groups of four.
    LimitCount,
    /// Not normal, replica or pubsub.
    LimitClass,
    /// An invalid bound.
    LimitNumber,
    /// A letter without a meaning.
    EventLetter,
}

impl SettingType {
    /// Reads `text`, in the spelling of `voice` before the other, into its field of `current`; returns its
    /// canonical form.
    pub(super) fn read(&self, text: &str, voice: Voice, current: &mut Current) -> Result<String, Wrong> {
        match *self {
            Self::Bool { set } => {
                let on = read_bool(text).ok_or(Wrong::Bool)?;
                set(current, on);
                Ok(if on { "on" } else { "off" }.to_owned())
            }
            Self::Integer { unit, min, max, set } => {
                let number = read_integer(text).ok_or(Wrong::Integer { unit, min, max, number: false })?;
                if !(min..=max).contains(&number) {
                    return Err(Wrong::Integer { unit, min, max, number: true });
                }
                set(current, number);
                Ok(number.to_string())
            }
            Self::Bytes { min, max, set } => {
                let bytes = read_bytes(text).ok_or(Wrong::Bytes { min, max, number: false })?;
                if !(min..=max).contains(&bytes) {
                    return Err(Wrong::Bytes { min, max, number: true });
                }
                set(current, bytes);
                Ok(bytes.to_string())
            }
            Self::Choice { words, set } => {
                let index = read_word(text, voice, words).ok_or_else(|| wrong_word(words))?;
                set(current, index);
                Ok(words[index].own.to_owned())
            }
            Self::Mode { set } => {
                let mode = u32::from_str_radix(text, 8).ok().filter(|mode| *mode <= 0o777).ok_or(Wrong::Mode)?;
                set(current, mode);
                Ok(format!("{mode:o}"))
            }
            Self::Path { optional, set } => {
                if text.is_empty() && !optional {
                    return Err(Wrong::Empty);
                }
                set(current, text);
                Ok(text.to_owned())
            }
            Self::Secret { set } => {
                set(current, text);
                Ok(text.to_owned())
            }
            Self::Addresses { set } => {
                let addresses: Vec<String> = tokens(text).map(str::to_owned).collect();
                if addresses.is_empty() {
                    return Err(Wrong::Empty);
                }
                let canonical = addresses.join(" ");
                set(current, addresses);
                Ok(canonical)
            }
            Self::Targets { set } => {
                let targets = Targets::read(tokens(text));
                let canonical = targets.to_string();
                set(current, targets);
                Ok(canonical)
            }
            Self::BufferLimits { of } => {
                let limits = read_limits(text, *of(current))?;
                *of(current) = limits;
                Ok(show_limits(&limits, |bytes| bytes.to_string()))
            }
            Self::Events { set } => {
                let classes = Classes::parse(text).ok_or(Wrong::EventLetter)?;
                set(current, classes);
                Ok(classes.to_string())
            }
        }
    }

    /// Returns the canonical text in the spelling of `voice`.
    pub(super) fn show(&self, canonical: &str, voice: Voice) -> String {
        match (self, voice) {
            (Self::Bool { .. }, Voice::Redis) => if canonical == "on" { "yes" } else { "no" }.to_owned(),
            (Self::Choice { words, .. }, Voice::Redis) => {
                read_word(canonical, Voice::Own, words).map_or(canonical, |index| words[index].redis).to_owned()
            }
            (Self::Bytes { .. }, Voice::Own) => canonical.parse().map_or(canonical.to_owned(), show_bytes),
            (Self::BufferLimits { .. }, Voice::Own) => read_limits(canonical, OutputLimits::default())
                .map_or(canonical.to_owned(), |limits| show_limits(&limits, show_bytes)),
            // Redis never renamed the class in its reply.
            (Self::BufferLimits { .. }, Voice::Redis) => canonical.replace("replica", "slave"),
            _ => canonical.to_owned(),
        }
    }

    /// Returns the placeholder for a value in a help text, such as `on|off` or `BYTES`.
    pub fn placeholder(&self) -> String {
        match self {
            Self::Bool { .. } => "on|off".to_owned(),
            Self::Integer { unit: "", .. } => "NUMBER".to_owned(),
            Self::Integer { unit, .. } => unit.to_ascii_uppercase(),
            Self::Bytes { .. } => "BYTES".to_owned(),
            Self::Choice { words, .. } => words.iter().map(|word| word.own).collect::<Vec<_>>().join("|"),
            Self::Mode { .. } => "OCTAL".to_owned(),
            Self::Path { .. } => "PATH".to_owned(),
            Self::Secret { .. } => "TEXT".to_owned(),
            Self::Addresses { .. } => "ADDRESSES".to_owned(),
            Self::Targets { .. } => "TARGETS".to_owned(),
            Self::BufferLimits { .. } => "LIMITS".to_owned(),
            Self::Events { .. } => "LETTERS".to_owned(),
        }
    }

    /// Returns true if only CONFIG GET may show the value.
    pub fn is_secret(&self) -> bool {
        matches!(self, Self::Secret { .. })
    }
}

impl fmt::Display for Wrong {
    /// Writes a phrase that continues after the name of the setting.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool => f.write_str("must be on or off"),
            Self::Integer { unit: "", min, max, .. } => write!(f, "must be a whole number from {min} to {max}"),
            Self::Integer { unit, min, max, .. } => {
                write!(f, "must be a whole number of {unit} from {min} to {max}")
            }
            Self::Bytes { min, max, .. } => {
                let (min, max) = (show_bytes(*min), show_bytes(*max));
                write!(f, "must be bytes such as 64mb or 1gb, from {min} to {max}")
            }
            Self::Choice(words, _) => write!(f, "must be one of {}", words.join(", ")),
            Self::Mode => f.write_str("must be octal permissions such as 770"),
            Self::Empty => f.write_str("must not be empty"),
            Self::NotText => f.write_str("must be UTF-8 text"),
            Self::LimitCount => {
                f.write_str("must come in fours such as 'normal 1gb 256mb 60': class hard soft seconds")
            }
            Self::LimitClass => f.write_str("must name the classes normal, replica or pubsub"),
            Self::EventLetter => f.write_str("must be letters out of Ag$lshzxeKEtmdn"),
            Self::LimitNumber => {
                f.write_str("must give each class bytes, bytes and seconds, such as 'normal 1gb 256mb 60'")
            }
        }
    }
}

impl Wrong {
    /// Returns Redis's text for it, after `CONFIG SET failed (possibly related to argument 'x') - `.
    pub(super) fn redis_text(&self) -> String {
        match self {
            Self::Bool => "argument must be 'yes' or 'no'".to_owned(),
            Self::Integer { number: false, .. } => "argument couldn't be parsed into an integer".to_owned(),
            Self::Integer { min, max, .. } => format!("argument must be between {min} and {max} inclusive"),
            Self::Bytes { number: false, .. } => "argument must be a memory value".to_owned(),
            Self::Bytes { min, max, .. } => format!("argument must be between {min} and {max} inclusive"),
            Self::Choice(_, words) => format!("argument(s) must be one of the following: {}", words.join(", ")),
            Self::LimitCount => "Wrong number of arguments in buffer limit configuration.".to_owned(),
            Self::LimitClass => "Invalid client class specified in buffer limit configuration.".to_owned(),
            Self::LimitNumber => {
                "Error in hard, soft or soft_seconds setting in buffer limit configuration.".to_owned()
            }
            Self::EventLetter => "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.".to_owned(),
            Self::Mode | Self::Empty | Self::NotText => format!("argument {self}"),
        }
    }
}

fn read_bool(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "on" | "yes" | "true" => Some(true),
        "off" | "no" | "false" => Some(false),
        _ => None,
    }
}

/// As strict as Redis: one spelling per number.
fn read_integer(text: &str) -> Option<i64> {
    text.parse::<i64>().ok().filter(|number| number.to_string() == text)
}

fn read_bytes(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, suffix) = text.split_at(digits);
    let unit = match suffix.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1_000,
        "kb" => 1 << 10,
        "m" => 1_000_000,
        "mb" => 1 << 20,
        "g" => 1_000_000_000,
        "gb" => 1 << 30,
        _ => return None,
    };
    number.parse::<u64>().ok()?.checked_mul(unit)
}

fn show_bytes(bytes: u64) -> String {
    for (shift, suffix) in [(30, "gb"), (20, "mb"), (10, "kb")] {
        if bytes != 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{suffix}", bytes >> shift);
        }
    }
    bytes.to_string()
}

fn read_word(text: &str, voice: Voice, words: &[Word]) -> Option<usize> {
    let own = words.iter().position(|word| word.own.eq_ignore_ascii_case(text));
    let redis = words.iter().position(|word| word.redis.eq_ignore_ascii_case(text));
    match voice {
        Voice::Own => own.or(redis),
        Voice::Redis => redis.or(own),
    }
}

fn wrong_word(words: &[Word]) -> Wrong {
    Wrong::Choice(words.iter().map(|word| word.own).collect(), words.iter().map(|word| word.redis).collect())
}

fn tokens(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| character == ',' || character.is_whitespace()).filter(|token| !token.is_empty())
}

fn read_limits(text: &str, mut limits: OutputLimits) -> Result<OutputLimits, Wrong> {
    let tokens: Vec<&str> = text.split_whitespace().collect();
    if !tokens.len().is_multiple_of(4) {
        return Err(Wrong::LimitCount);
    }
    for four in tokens.chunks_exact(4) {
        let limit = match four[0].to_ascii_lowercase().as_str() {
            "normal" => &mut limits.normal,
            "replica" | "slave" => &mut limits.replica,
            "pubsub" => &mut limits.pubsub,
            _ => return Err(Wrong::LimitClass),
        };
        *limit = OutputLimit {
            hard_bytes: read_bytes(four[1]).ok_or(Wrong::LimitNumber)?,
            soft_bytes: read_bytes(four[2]).ok_or(Wrong::LimitNumber)?,
            soft_s: four[3].parse().map_err(|_| Wrong::LimitNumber)?,
        };
    }
    Ok(limits)
}

fn show_limits(limits: &OutputLimits, bytes: impl Fn(u64) -> String) -> String {
    let show = |class: &str, limit: OutputLimit| {
        format!("{class} {} {} {}", bytes(limit.hard_bytes), bytes(limit.soft_bytes), limit.soft_s)
    };
    let shown = [("normal", limits.normal), ("replica", limits.replica), ("pubsub", limits.pubsub)];
    shown.map(|(class, limit)| show(class, limit)).join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn byte_sizes_accept_the_suffixes_of_redis() {
        let cases = [
            ("0", Some(0)),
            ("7b", Some(7)),
            ("1k", Some(1_000)),
            ("1kb", Some(1_024)),
            ("2M", Some(2_000_000)),
            ("2MB", Some(2 << 20)),
            ("3g", Some(3_000_000_000)),
            ("3Gb", Some(3 << 30)),
            ("", None),
            ("kb", None),
            ("-1", None),
            ("1.5gb", None),
            ("1tb", None),
            ("18446744073709551615gb", None),
        ];
        for (text, bytes) in cases {
            assert_eq!(read_bytes(text), bytes, "{text}");
        }
    }

    #[test]
    fn byte_sizes_print_short_and_exact() {
        for (bytes, text) in
            [(0, "0"), (1023, "1023"), (1 << 10, "1kb"), (512 << 20, "512mb"), ((1 << 30) + 1024, "1048577kb")]
        {
            assert_eq!(show_bytes(bytes), text);
            assert_eq!(read_bytes(text), Some(bytes));
        }
    }

    #[test]
    fn integers_have_one_spelling() {
        for text in ["+1", "01", "-0", " 1", "1 ", "", "0x1", "99999999999999999999"] {
            assert_eq!(read_integer(text), None, "{text:?}");
        }
        assert_eq!(read_integer("-1"), Some(-1));
    }

    #[test]
    fn unnamed_classes_keep_their_limits() {
        let before = read_limits("normal 1 2 3 slave 4 5 6 pubsub 7 8 9", OutputLimits::default()).unwrap();
        let after = read_limits("pubsub 1kb 0 0", before).unwrap();
        assert_eq!((after.normal, after.replica), (before.normal, before.replica));
        assert_eq!(after.pubsub, OutputLimit { hard_bytes: 1024, soft_bytes: 0, soft_s: 0 });
        assert_eq!(read_limits("normal", before), Err(Wrong::LimitCount));
        assert_eq!(read_limits("master 0 0 0", before), Err(Wrong::LimitClass));
        assert_eq!(read_limits("normal x 0 0", before), Err(Wrong::LimitNumber));
        assert_eq!(read_limits("normal 0 0 -1", before), Err(Wrong::LimitNumber));
    }
}
