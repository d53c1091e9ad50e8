//! Log lines on standard error: text for people, coloured on a terminal, or one JSON object per line.

use engine::settings::{LogFormat, LogLevel, Settings};
use std::io::{self, IsTerminal};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::{Layer, Registry, fmt, reload};

/// Starts logging as configured, and follows CONFIG SET of the level. Call it once per process.
pub fn start(settings: &Settings) {
    let current = settings.current();
    let (level, handle) = reload::Layer::new(filter(current.log_level));
    let registry = Registry::default().with(level).with(lines(current.log_format));
    if tracing::subscriber::set_global_default(registry).is_err() {
        // The process already has a logger.
        return;
    }
    settings.on_change(Box::new(move |before, after| {
        if before.log_level == after.log_level {
            return Ok(());
        }
        handle.reload(filter(after.log_level)).map_err(|error| ("log-level", error.to_string()))
    }));
}

fn lines<S>(format: LogFormat) -> Box<dyn Layer<S> + Send + Sync>
where
    S: tracing::Subscriber + for<'span> tracing_subscriber::registry::LookupSpan<'span>,
{
    let lines = fmt::layer().with_writer(io::stderr);
    match format {
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
        LogFormat::Text => {
            let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            lines.with_target(false).with_ansi(!plain && io::stderr().is_terminal()).boxed()
        }
    }
}

fn filter(level: LogLevel) -> LevelFilter {
    match level {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
        LogLevel::Trace => LevelFilter::TRACE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::settings::Draft;

    #[test]
    fn the_level_follows_config_set() {
        let settings = Draft::new().finish();
        start(&settings);
        assert_eq!(LevelFilter::current(), LevelFilter::INFO);
        for (level, expected) in
            [("debug", LevelFilter::TRACE), ("verbose", LevelFilter::DEBUG), ("warning", LevelFilter::WARN)]
        {
            assert_eq!(settings.set(&[(b"loglevel", level.as_bytes())]), Ok(()));
            assert_eq!(LevelFilter::current(), expected, "{level}");
        }
    }
}
