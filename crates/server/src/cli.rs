//! The command line: flags derived from the settings table override environment and file.
//!
//! ```text
//! bobbin [serve] [--NAME VALUE]...     run the server
//! bobbin config  [--NAME VALUE]...     show each setting, its value and where the value comes from
//! bobbin check DIR [--repair]          check a data folder, and repair it if requested
//! ```

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, ArgMatches, Command};
use engine::settings::{Draft, Origin, SETTINGS, Setting, SettingType, Settings, ShownSetting, nearest};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The parsed command line.
pub enum CliCommand {
    /// Run the server.
    Serve(Settings),
    /// Show the settings.
    Config(Settings),
    /// Check a data folder, and repair it if requested.
    Check {
        /// The data folder.
        folder: PathBuf,
        /// True if damage is to be repaired.
        repair: bool,
    },
    /// Print help or version, by `clap`.
    Print(clap::Error),
}

/// The version of this build.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

const CONFIG: &str = "config";
const CHECK: &str = "check";
const REPAIR: &str = "repair";
const FOLDER: &str = "DIR";

const CHECKING: &str = "\
Reads all of the data folder DIR as a start would, and changes nothing. Says what is there, what is damaged, with file and \
offset, and what a repair would lose. No server may use the folder meanwhile.

With --repair it repairs what it can: damaged data is moved aside under other names in the same folder, the rest is \
put together and checked again. Where no repair is possible, it says what to restore.

Exit code: 0 sound, 1 damaged, 2 it could not be checked.";

const ORIGINS: &str = "\
Every option can also be set by the environment (--log-level is BOBBIN_LOG_LEVEL) and in the TOML file
given to --config (log-level = \"debug\"). A flag is stronger than the environment, that than the file.";

const EXAMPLES: &str = "\
Examples:
  bobbin                                        serve this machine on port 6379, data in ./bobbin-data
  bobbin --fsync always --dir /var/lib/bobbin   lose no write that was acknowledged
  bobbin --journal off --port 7000              a pure cache that keeps nothing
  BOBBIN_REQUIREPASS=secret bobbin --bind '*'   serve other machines as well, with a password
  bobbin check bobbin-data                      say whether a data folder is sound
  bobbin config --config bobbin.toml            show each setting and where its value comes from";

/// Parses the arguments (the program's name first), and reads the files and variables they refer to.
///
/// # Errors
/// Returns one line with the error, its place and the remedy.
pub fn read(
    arguments: impl IntoIterator<Item = OsString>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<CliCommand, String> {
    let matches = match command().try_get_matches_from(arguments) {
        Ok(matches) => matches,
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            return Ok(CliCommand::Print(error));
        }
        Err(error) => return Err(one_line(&error)),
    };
    match matches.subcommand() {
        Some((CONFIG, matches)) => gather(matches, variable).map(CliCommand::Config),
        Some((CHECK, matches)) => {
            let folder = matches.get_one::<PathBuf>(FOLDER).cloned();
            let folder = folder.ok_or("which data folder? bobbin check DIR [--repair]")?;
            Ok(CliCommand::Check { folder, repair: matches.get_flag(REPAIR) })
        }
        Some((_, matches)) => gather(matches, variable).map(CliCommand::Serve),
        None => gather(&matches, variable).map(CliCommand::Serve),
    }
}

/// Returns environment variables that look like misspelt settings, each with the one it may mean.
pub fn misspelt_variables(names: impl Iterator<Item = String>) -> Vec<(String, String)> {
    let known: Vec<String> = SETTINGS.iter().map(Setting::environment_name).collect();
    let strange = names.filter(|name| name != "BOBBIN_CONFIG" && !known.contains(name));
    let misspelt = strange.filter_map(|name| {
        let meant = nearest(&name.strip_prefix("BOBBIN_")?.to_ascii_lowercase().replace('_', "-"))?;
        let meant = known
            .iter()
            .find(|known| engine::settings::find(meant).is_some_and(|row| row.environment_name() == **known))?;
        Some((name, meant.clone()))
    });
    misspelt.collect()
}

/// Formats every setting with its value and origin, as a table for people.
pub fn show(settings: &Settings) -> String {
    let rows = settings.shown();
    let name_width = rows.iter().map(|row| row.setting.name.len()).max().unwrap_or(0);
    let value_width = rows.iter().map(|row| row.value.len()).filter(|width| *width <= 24).max().unwrap_or(0);
    let mut text = String::new();
    let mut group = None;
    for row in &rows {
        if group.replace(row.setting.group) != Some(row.setting.group) {
            let gap = if text.is_empty() { "" } else { "\n" };
            let _ = writeln!(text, "{gap}{}", row.setting.group.heading());
        }
        let value = if row.value.is_empty() { "-" } else { &row.value };
        let origin = origin(row, settings.file());
        let _ = writeln!(text, "  {:name_width$}  {value:value_width$}  {origin}", row.setting.name);
    }
    text
}

fn origin(row: &ShownSetting, file: Option<&Path>) -> String {
    match row.origin {
        Origin::Default => "default".to_owned(),
        Origin::File { line } => format!("{} line {line}", file.unwrap_or(Path::new("file")).display()),
        Origin::Environment => row.setting.environment_name(),
        Origin::Flag => format!("--{}", row.setting.name),
        Origin::ConfigSet => "CONFIG SET".to_owned(),
        Origin::System => "lowered to what the system allows".to_owned(),
    }
}

fn gather(matches: &ArgMatches, variable: impl Fn(&str) -> Option<OsString>) -> Result<Settings, String> {
    let mut draft = Draft::new();
    let given = matches.get_one::<PathBuf>(CONFIG).cloned();
    let named = || variable("BOBBIN_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from);
    if let Some(path) = given.or_else(named) {
        let content = std::fs::read_to_string(&path);
        let content = content.map_err(|error| format!("cannot read the file {}: {error}", path.display()))?;
        draft.put_file(&path, &content).map_err(|mistake| mistake.to_string())?;
    }
    draft.put_environment(variable).map_err(|mistake| mistake.to_string())?;
    for setting in SETTINGS {
        if let Some(texts) = matches.get_many::<String>(setting.name) {
            let text = texts.map(String::as_str).collect::<Vec<_>>().join(" ");
            draft.put_flag(setting, &text).map_err(|mistake| mistake.to_string())?;
        }
    }
    Ok(draft.finish())
}

fn command() -> Command {
    let file = Arg::new(CONFIG)
        .long(CONFIG)
        .value_name("FILE")
        .value_parser(clap::value_parser!(PathBuf))
        .global(true)
        .help_heading("Configuration")
        .help("TOML file with settings, one key each.");
    Command::new("bobbin")
        .version(VERSION)
        .about("Bobbin keeps lists, queues and keys in memory and on disk, for any Redis client.")
        .after_help(format!("{ORIGINS}\n\n{EXAMPLES}"))
        .max_term_width(110)
        .subcommand_help_heading("Commands")
        .subcommand(Command::new("serve").about("Runs the server; the same as no command at all."))
        .subcommand(Command::new(CONFIG).about("Shows each setting, its value and where the value comes from."))
        .subcommand(check())
        .arg(file)
        .args(SETTINGS.iter().map(flag))
}

fn check() -> Command {
    let folder = Arg::new(FOLDER).value_parser(clap::value_parser!(PathBuf));
    let repair = Arg::new(REPAIR).long(REPAIR).action(ArgAction::SetTrue);
    Command::new(CHECK)
        .about("Checks a data folder; with --repair, repairs it.")
        .override_usage("bobbin check DIR [--repair]")
        // Without the settings, which have no meaning here.
        .help_template("{about-with-newline}\n{usage-heading} {usage}{after-help}")
        .after_help(CHECKING)
        .arg(folder)
        .arg(repair)
}

fn flag(setting: &'static Setting) -> Arg {
    let default = if setting.default.is_empty() { String::new() } else { format!(" [{}]", setting.default) };
    let is_list = matches!(setting.kind, SettingType::Addresses { .. } | SettingType::Targets { .. });
    Arg::new(setting.name)
        .long(setting.name)
        .value_name(setting.kind.placeholder())
        .global(true)
        .help_heading(setting.group.heading())
        .help(format!("{}{default}", setting.help))
        .action(if is_list { ArgAction::Append } else { ArgAction::Set })
        // "-::1" is an address, and a password may begin with any character.
        .allow_hyphen_values(is_list || setting.kind.is_secret())
        .allow_negative_numbers(matches!(setting.kind, SettingType::Integer { .. }))
}

/// Condenses a message of `clap` into one line, with the remedy at its end.
fn one_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let what = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
    let meant = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) if error.kind() == ErrorKind::UnknownArgument => {
            nearest(flag.trim_start_matches('-')).map(|name| format!("--{name}"))
        }
        _ => None,
    };
    match meant.or_else(|| suggestion(error)) {
        Some(meant) => format!("{what}; did you mean {meant}?"),
        None => format!("{what}; 'bobbin --help' lists what there is"),
    }
}

fn suggestion(error: &clap::Error) -> Option<String> {
    let suggested = error.get(ContextKind::SuggestedArg).or_else(|| error.get(ContextKind::SuggestedSubcommand));
    match suggested? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => texts.first().cloned(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_well_formed() {
        command().debug_assert();
    }

    #[test]
    fn misspelt_variables_are_found_and_foreign_ones_ignored() {
        let names =
            ["BOBBIN_FSNYC", "BOBBIN_APPENDFSYNC", "BOBBIN_FSYNC", "BOBBIN_CONFIG", "BOBBIN_SERVICE_HOST", "PORT"];
        let found = misspelt_variables(names.into_iter().map(str::to_owned));
        let expected = [("BOBBIN_FSNYC", "BOBBIN_FSYNC"), ("BOBBIN_APPENDFSYNC", "BOBBIN_FSYNC")];
        assert_eq!(found, expected.map(|(name, meant)| (name.to_owned(), meant.to_owned())));
    }
}
