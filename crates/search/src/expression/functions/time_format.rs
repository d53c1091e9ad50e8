//! Calendar times in UTC, formatted and parsed by the directives of strftime and strptime in the C locale.
//!
//! ```text
//!   days since 1970 <--> (year, month, day): years begin in March, so that the day that a leap year adds is the last;
//!   400 years are 146,097 days.
//! ```

/// The longest text that a format gives, the size of RediSearch's buffer.
const FORMATTED_BYTES_MAX: usize = 1023;

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// Days from 0000-03-01 to 1970-01-01.
const EPOCH_DAYS: i64 = 719_468;

/// Days of 400 years.
const ERA_DAYS: i64 = 146_097;

/// A time by the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CalendarTime {
    pub(super) year: i64,
    /// From 1.
    pub(super) month: i64,
    /// From 1.
    pub(super) day: i64,
    pub(super) hour: i64,
    pub(super) minute: i64,
    pub(super) second: i64,
}

impl CalendarTime {
    pub(super) fn from_seconds(seconds: i64) -> Self {
        let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
        let days = days + EPOCH_DAYS;
        let (era, day_of_era) = (days.div_euclid(ERA_DAYS), days.rem_euclid(ERA_DAYS));
        let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / 146_096;
        let year_of_era = (day_of_era - leap_days) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        Self { year, month, day, hour: second / 3600, minute: second / 60 % 60, second: second % 60 }
    }

    pub(super) fn seconds(self) -> i64 {
        self.days() * 86_400 + self.hour * 3600 + self.minute * 60 + self.second
    }

    /// Returns days since 1970.
    fn days(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let from_march = (self.month + 9) % 12;
        let day_of_year = (153 * from_march + 2) / 5 + self.day - 1;
        era * ERA_DAYS + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - EPOCH_DAYS
    }

    /// Returns the day of the week, Sunday 0.
    pub(super) fn day_of_week(self) -> i64 {
        (self.days() + 4).rem_euclid(7)
    }

    /// Returns the day of the year, from 0.
    pub(super) fn day_of_year(self) -> i64 {
        self.days() - Self { month: 1, day: 1, ..self }.days()
    }

    /// Returns year and week of ISO 8601: week 1 has the year's first Thursday.
    fn iso_week(self) -> (i64, i64) {
        let thursday = self.days() - (self.day_of_week() + 6) % 7 + 3;
        let thursday = Self::from_seconds(thursday * 86_400);
        (thursday.year, thursday.day_of_year() / 7 + 1)
    }

    fn hour_of_twelve(self) -> i64 {
        (self.hour + 11) % 12 + 1
    }
}

/// Formats a time; `None` if the text is empty or too long.
pub(super) fn format(seconds: i64, format: &[u8]) -> Option<Vec<u8>> {
    let time = CalendarTime::from_seconds(seconds);
    let mut text = Vec::new();
    append(time, format, &mut text);
    (!text.is_empty() && text.len() <= FORMATTED_BYTES_MAX).then_some(text)
}

fn append(time: CalendarTime, format: &[u8], text: &mut Vec<u8>) {
    let mut rest = format;
    while let Some((&byte, after)) = rest.split_first() {
        if text.len() > FORMATTED_BYTES_MAX {
            return;
        }
        rest = match (byte, after) {
            // Alternative representations are the ordinary ones in the C locale.
            (b'%', [b'E' | b'O', directive, after @ ..] | [directive, after @ ..]) => {
                append_directive(time, *directive, text);
                after
            }
            _ => {
                text.push(byte);
                after
            }
        };
    }
}

/// Appends the text of a directive. A composed one is written by its parts, none of which is composed of composed.
fn append_directive(time: CalendarTime, directive: u8, text: &mut Vec<u8>) {
    let name = |names: &[&'static str], at: i64| names[at.rem_euclid(names.len() as i64) as usize];
    let written = match directive {
        b'%' => "%".to_owned(),
        b'n' => "\n".to_owned(),
        b't' => "\t".to_owned(),
        b'A' => name(&WEEKDAYS, time.day_of_week()).to_owned(),
        b'a' => name(&WEEKDAYS, time.day_of_week())[..3].to_owned(),
        b'B' => name(&MONTHS, time.month - 1).to_owned(),
        b'b' | b'h' => name(&MONTHS, time.month - 1)[..3].to_owned(),
        b'p' => (if time.hour < 12 { "AM" } else { "PM" }).to_owned(),
        b'P' => (if time.hour < 12 { "am" } else { "pm" }).to_owned(),
        b'Z' => "GMT".to_owned(),
        b'z' => "+0000".to_owned(),
        b'c' => return append(time, b"%a %b %e %H:%M:%S %Y", text),
        b'D' | b'x' => return append(time, b"%m/%d/%y", text),
        b'F' => return append(time, b"%Y-%m-%d", text),
        b'R' => return append(time, b"%H:%M", text),
        b'r' => return append(time, b"%I:%M:%S %p", text),
        b'T' | b'X' => return append(time, b"%H:%M:%S", text),
        b'e' => format!("{:2}", time.day),
        b'k' => format!("{:2}", time.hour),
        b'l' => format!("{:2}", time.hour_of_twelve()),
        b'j' => format!("{:03}", time.day_of_year() + 1),
        _ => match directive_number(time, directive) {
            Some((number, width)) => format!("{number:0width$}"),
            None => return text.extend_from_slice(&[b'%', directive]),
        },
    };
    text.extend_from_slice(written.as_bytes());
}

/// Returns the number that a directive stands for, and its digits.
fn directive_number(time: CalendarTime, directive: u8) -> Option<(i64, usize)> {
    let from_sunday = time.day_of_week();
    let from_monday = (from_sunday + 6) % 7;
    Some(match directive {
        b'C' => (time.year.div_euclid(100), 2),
        b'd' => (time.day, 2),
        b'G' => (time.iso_week().0, 1),
        b'g' => (time.iso_week().0.rem_euclid(100), 2),
        b'H' => (time.hour, 2),
        b'I' => (time.hour_of_twelve(), 2),
        b'M' => (time.minute, 2),
        b'm' => (time.month, 2),
        b'S' => (time.second, 2),
        b's' => (time.seconds(), 1),
        b'U' => ((time.day_of_year() + 7 - from_sunday) / 7, 2),
        b'u' => (from_monday + 1, 1),
        b'V' => (time.iso_week().1, 2),
        b'W' => ((time.day_of_year() + 7 - from_monday) / 7, 2),
        b'w' => (from_sunday, 1),
        b'Y' => (time.year, 1),
        b'y' => (time.year.rem_euclid(100), 2),
        _ => return None,
    })
}

/// Parses a text by a format; `None` if it does not fit. What the format does not name is that of 1970-01-01 00:00:00.
pub(super) fn parse(text: &[u8], format: &[u8]) -> Option<i64> {
    let mut parsing = TimeParsing { rest: text, ..TimeParsing::default() };
    parsing.all(format)?;
    parsing.seconds()
}

/// The parts of a time that have been parsed.
#[derive(Default)]
struct TimeParsing<'t> {
    rest: &'t [u8],
    year: Option<i64>,
    month: Option<i64>,
    day: Option<i64>,
    day_of_year: Option<i64>,
    hour: i64,
    minute: i64,
    second: i64,
    is_afternoon: Option<bool>,
    offset_s: i64,
    unix_s: Option<i64>,
}

impl TimeParsing<'_> {
    fn all(&mut self, format: &[u8]) -> Option<()> {
        let mut format = format;
        while let Some((&byte, after)) = format.split_first() {
            format = match (byte, after) {
                (b'%', [b'E' | b'O', directive, after @ ..] | [directive, after @ ..]) => {
                    self.directive(*directive)?;
                    after
                }
                (byte, after) if byte.is_ascii_whitespace() => {
                    self.rest = self.rest.trim_ascii_start();
                    after
                }
                (byte, after) => {
                    self.rest = self.rest.strip_prefix(&[byte])?;
                    after
                }
            };
        }
        Some(())
    }

    fn directive(&mut self, directive: u8) -> Option<()> {
        match directive {
            b'%' => self.rest = self.rest.strip_prefix(b"%")?,
            b'n' | b't' => self.rest = self.rest.trim_ascii_start(),
            b'A' | b'a' => _ = self.name(&WEEKDAYS)?,
            b'B' | b'b' | b'h' => self.month = Some(self.name(&MONTHS)? + 1),
            b'p' | b'P' => self.is_afternoon = Some(self.name(&["AM ", "PM "])? == 1),
            b'Y' => self.year = Some(self.signed_number(4)?),
            b'y' => self.year = self.number(2, 0..=99).map(|year| year + if year < 69 { 2000 } else { 1900 }),
            b'm' => self.month = Some(self.number(2, 1..=12)?),
            b'd' | b'e' => self.day = Some(self.number(2, 1..=31)?),
            b'j' => self.day_of_year = Some(self.number(3, 1..=366)? - 1),
            b'H' | b'k' => self.hour = self.number(2, 0..=23)?,
            b'I' | b'l' => self.hour = self.number(2, 1..=12)?,
            b'M' => self.minute = self.number(2, 0..=59)?,
            b'S' => self.second = self.number(2, 0..=60)?,
            b's' => self.unix_s = Some(self.signed_number(15)?),
            b'u' | b'w' => _ = self.number(1, 0..=7)?,
            b'z' => self.offset_s = self.zone()?,
            b'Z' => self.rest = &self.rest[self.rest.iter().take_while(|byte| byte.is_ascii_uppercase()).count()..],
            b'c' => self.all(b"%a %b %e %H:%M:%S %Y")?,
            b'D' | b'x' => self.all(b"%m/%d/%y")?,
            b'F' => self.all(b"%Y-%m-%d")?,
            b'R' => self.all(b"%H:%M")?,
            b'r' => self.all(b"%I:%M:%S %p")?,
            b'T' | b'X' => self.all(b"%H:%M:%S")?,
            _ => return None,
        }
        Some(())
    }

    /// Takes a number of up to so many digits, after white space.
    fn number(&mut self, digits_max: usize, range: std::ops::RangeInclusive<i64>) -> Option<i64> {
        let rest = self.rest.trim_ascii_start();
        let digits = rest.iter().take(digits_max).take_while(|byte| byte.is_ascii_digit()).count();
        let number = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
        self.rest = &rest[digits..];
        range.contains(&number).then_some(number)
    }

    fn signed_number(&mut self, digits_max: usize) -> Option<i64> {
        let rest = self.rest.trim_ascii_start();
        let (sign, rest) = match rest {
            [b'-', rest @ ..] => (-1, rest),
            [b'+', rest @ ..] => (1, rest),
            rest => (1, rest),
        };
        self.rest = rest;
        Some(sign * self.number(digits_max, 0..=i64::MAX)?)
    }

    /// Takes a name in any case, whole or its first three letters, and returns which it is.
    fn name(&mut self, names: &[&str]) -> Option<i64> {
        let begins = |name: &str| {
            let name = name.trim_end().as_bytes();
            self.rest.get(..name.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(name)).then_some(name.len())
        };
        let found =
            |(at, name): (usize, &&str)| begins(name).or_else(|| begins(&name[..3])).map(|length| (at as i64, length));
        let (at, length) = names.iter().enumerate().find_map(found)?;
        self.rest = &self.rest[length..];
        Some(at)
    }

    /// Takes `Z`, `+hh`, `+hhmm` or `+hh:mm`.
    fn zone(&mut self) -> Option<i64> {
        let (sign, rest) = match self.rest.trim_ascii_start() {
            [b'Z', rest @ ..] => {
                self.rest = rest;
                return Some(0);
            }
            [b'+', rest @ ..] => (1, rest),
            [b'-', rest @ ..] => (-1, rest),
            _ => return None,
        };
        self.rest = rest;
        let hours = self.number(2, 0..=23)?;
        self.rest = self.rest.strip_prefix(b":").unwrap_or(self.rest);
        let minutes = if self.rest.first().is_some_and(u8::is_ascii_digit) { self.number(2, 0..=59)? } else { 0 };
        Some(sign * (hours * 3600 + minutes * 60))
    }

    fn seconds(&self) -> Option<i64> {
        if let Some(seconds) = self.unix_s {
            return Some(seconds);
        }
        let hour = match self.is_afternoon {
            Some(is_afternoon) => self.hour % 12 + if is_afternoon { 12 } else { 0 },
            None => self.hour,
        };
        let (month, day) = (self.month.unwrap_or(1), self.day.unwrap_or(1));
        let date = CalendarTime {
            year: self.year.unwrap_or(1970),
            month,
            day,
            hour,
            minute: self.minute,
            second: self.second,
        };
        let from_january = match (self.day_of_year, self.month, self.day) {
            (Some(day_of_year), None, None) => day_of_year * 86_400,
            _ => 0,
        };
        Some(date.seconds() + from_january - self.offset_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const EXPECTED: &[(i64, &str, &str)] = &[
        (1_517_417_144, "%A %a %B %b %C %d %D %e %F", "Wednesday Wed January Jan 20 31 01/31/18 31 2018-01-31"),
        (1_517_417_144, "%G %g %H %I %j %k %l %m %M", "2018 18 16 04 031 16  4 01 45"),
        (
            1_517_417_144,
            "%p %P %r %R %S %T %U %u %V %W %w %x %X %y %Y %%",
            "PM pm 04:45:44 PM 16:45 44 16:45:44 04 3 05 05 3 01/31/18 16:45:44 18 2018 %",
        ),
        (1_517_417_144, "%c", "Wed Jan 31 16:45:44 2018"),
        (1_709_230_599, "%A %a %B %b %C %d %D %e %F", "Thursday Thu February Feb 20 29 02/29/24 29 2024-02-29"),
        (1_709_230_599, "%G %g %H %I %j %k %l %m %M", "2024 24 18 06 060 18  6 02 16"),
        (
            1_709_230_599,
            "%p %P %r %R %S %T %U %u %V %W %w %x %X %y %Y %%",
            "PM pm 06:16:39 PM 18:16 39 18:16:39 08 4 09 09 4 02/29/24 18:16:39 24 2024 %",
        ),
        (1_709_230_599, "%c", "Thu Feb 29 18:16:39 2024"),
        (0, "%A %a %B %b %C %d %D %e %F", "Thursday Thu January Jan 19 01 01/01/70  1 1970-01-01"),
        (0, "%G %g %H %I %j %k %l %m %M", "1970 70 00 12 001  0 12 01 00"),
        (
            0,
            "%p %P %r %R %S %T %U %u %V %W %w %x %X %y %Y %%",
            "AM am 12:00:00 AM 00:00 00 00:00:00 00 4 01 00 4 01/01/70 00:00:00 70 1970 %",
        ),
        (0, "%c", "Thu Jan  1 00:00:00 1970"),
        (-1, "%A %a %B %b %C %d %D %e %F", "Wednesday Wed December Dec 19 31 12/31/69 31 1969-12-31"),
        (-1, "%G %g %H %I %j %k %l %m %M", "1970 70 23 11 365 23 11 12 59"),
        (
            -1,
            "%p %P %r %R %S %T %U %u %V %W %w %x %X %y %Y %%",
            "PM pm 11:59:59 PM 23:59 59 23:59:59 52 3 01 52 3 12/31/69 23:59:59 69 1969 %",
        ),
        (-1, "%c", "Wed Dec 31 23:59:59 1969"),
        (951_782_400, "%A %a %B %b %C %d %D %e %F", "Tuesday Tue February Feb 20 29 02/29/00 29 2000-02-29"),
        (951_782_400, "%G %g %H %I %j %k %l %m %M", "2000 00 00 12 060  0 12 02 00"),
        (
            951_782_400,
            "%p %P %r %R %S %T %U %u %V %W %w %x %X %y %Y %%",
            "AM am 12:00:00 AM 00:00 00 00:00:00 09 2 09 09 2 02/29/00 00:00:00 00 2000 %",
        ),
        (951_782_400, "%c", "Tue Feb 29 00:00:00 2000"),
        (1_230_768_000, "%A %a %B %b %C %d %D %e %F", "Thursday Thu January Jan 20 01 01/01/09  1 2009-01-01"),
        (1_230_768_000, "%G %g %H %I %j %k %l %m %M", "2009 09 00 12 001  0 12 01 00"),
        (
            1_230_768_000,
            "%p %P %r %R %S %T %U %u %V %W %w %x %X %y %Y %%",
            "AM am 12:00:00 AM 00:00 00 00:00:00 00 4 01 00 4 01/01/09 00:00:00 09 2009 %",
        ),
        (1_230_768_000, "%c", "Thu Jan  1 00:00:00 2009"),
        (1_262_304_000, "%A %a %B %b %C %d %D %e %F", "Friday Fri January Jan 20 01 01/01/10  1 2010-01-01"),
        (1_262_304_000, "%G %g %H %I %j %k %l %m %M", "2009 09 00 12 001  0 12 01 00"),
        (
            1_262_304_000,
            "%p %P %r %R %S %T %U %u %V %W %w %x %X %y %Y %%",
            "AM am 12:00:00 AM 00:00 00 00:00:00 00 5 53 00 5 01/01/10 00:00:00 10 2010 %",
        ),
        (1_262_304_000, "%c", "Fri Jan  1 00:00:00 2010"),
        (4_102_444_799, "%A %a %B %b %C %d %D %e %F", "Thursday Thu December Dec 20 31 12/31/99 31 2099-12-31"),
        (4_102_444_799, "%G %g %H %I %j %k %l %m %M", "2099 99 23 11 365 23 11 12 59"),
        (
            4_102_444_799,
            "%p %P %r %R %S %T %U %u %V %W %w %x %X %y %Y %%",
            "PM pm 11:59:59 PM 23:59 59 23:59:59 52 4 53 52 4 12/31/99 23:59:59 99 2099 %",
        ),
        (4_102_444_799, "%c", "Thu Dec 31 23:59:59 2099"),
    ];

    fn formatted(seconds: i64, pattern: &str) -> String {
        String::from_utf8(format(seconds, pattern.as_bytes()).unwrap()).unwrap()
    }

    /// Expects the output of GNU's `LC_ALL=C date -u -d @SECONDS +FORMAT`.
    #[test]
    fn formats_are_those_of_date() {
        for (seconds, pattern, expected) in EXPECTED {
            assert_eq!(formatted(*seconds, pattern), *expected, "{seconds} {pattern}");
        }
    }

    #[test]
    fn texts_that_do_not_fit_a_format_are_not_times() {
        for (text, pattern) in [("2021", "%F"), ("13", "%m"), ("x", "y"), ("Foo", "%a"), ("1", "%Q")] {
            assert_eq!(parse(text.as_bytes(), pattern.as_bytes()), None, "{text} {pattern}");
        }
    }

    proptest! {
        #[test]
        fn what_is_formatted_is_parsed_again(seconds in -60_000_000_000i64..250_000_000_000) {
            for pattern in ["%FT%TZ", "%d %B %Y %I:%M:%S %p", "%s", "%Y %j %T", "%Y-%b-%eT%R:%S%z"] {
                let text = formatted(seconds, pattern);
                prop_assert_eq!(parse(text.as_bytes(), pattern.as_bytes()), Some(seconds), "{}", text);
            }
        }

        #[test]
        fn no_format_panics(
            seconds in -67_000_000_000_000_000i64..67_000_000_000_000_000,
            text in any::<Vec<u8>>(),
            pattern in "(%[a-zA-Z%]|[ 0-9]){0,6}",
        ) {
            format(seconds, pattern.as_bytes());
            parse(&text, pattern.as_bytes());
            parse(pattern.as_bytes(), &text);
        }
    }
}
