//! Rules that hold for every row.

use super::*;
use crate::settings::Current;
use crate::settings::Voice;
use std::collections::HashSet;

#[test]
fn every_setting_is_presentable() {
    let mut names = HashSet::new();
    for setting in SETTINGS {
        let name = setting.name;
        assert!(
            setting.help.ends_with('.') && !setting.help[..setting.help.len() - 1].ends_with('.'),
            "{name}: help is a sentence"
        );
        assert!(setting.help.starts_with(|first: char| first.is_ascii_uppercase()), "{name}: help is a sentence");
        assert!(setting.help.len() <= 110, "{name}: help fits in a line, has {}", setting.help.len());
        assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name} is kebab-case");
        for name in setting.config_names() {
            assert!(names.insert(name), "{name} appears twice");
        }
    }
    for fact in FACTS {
        assert!(names.insert(fact.redis_name), "{} appears twice", fact.redis_name);
        assert!(fact.reason.ends_with('.'), "{}: the reason is a sentence", fact.redis_name);
    }
    assert!(SETTINGS.is_sorted_by_key(|setting| setting.group), "rows stand by group");
}

#[test]
fn every_default_round_trips() {
    for setting in SETTINGS {
        let mut current = Current::default();
        let canonical = setting.kind.read(setting.default, Voice::Own, &mut current).unwrap();
        assert_eq!(setting.kind.show(&canonical, Voice::Own), setting.default, "{}", setting.name);
        for voice in [Voice::Own, Voice::Redis] {
            let shown = setting.kind.show(&canonical, voice);
            let again = setting.kind.read(&shown, voice, &mut current.clone());
            assert_eq!(again.as_ref(), Ok(&canonical), "{}", setting.name);
        }
    }
}

#[test]
fn every_choice_word_has_a_distinct_value() {
    for setting in SETTINGS {
        let SettingType::Choice { words, .. } = setting.kind else { continue };
        let mut seen: Vec<Current> = Vec::new();
        for word in words {
            let mut current = Current::default();
            assert_eq!(setting.kind.read(word.own, Voice::Own, &mut current).as_deref(), Ok(word.own));
            assert_eq!(setting.kind.read(word.redis, Voice::Redis, &mut current.clone()).as_deref(), Ok(word.own));
            assert!(!seen.contains(&current), "{} {} equals an earlier word", setting.name, word.own);
            seen.push(current);
        }
    }
}

#[test]
fn environment_names_derive_from_setting_names() {
    let names = ["fsync", "log-level"].map(|name| find(name).map(Setting::environment_name));
    assert_eq!(names, [Some("BOBBIN_FSYNC".to_owned()), Some("BOBBIN_LOG_LEVEL".to_owned())]);
}

#[test]
fn misspelt_names_suggest_the_nearest_setting() {
    assert_eq!(nearest("fsnyc"), Some("fsync"));
    assert_eq!(nearest("appendfsync"), Some("fsync"));
    assert_eq!(nearest("max-clients"), Some("maxclients"));
    assert_eq!(nearest("colour"), None);
    assert_eq!([distance("", "abc"), distance("kitten", "sitting"), distance("same", "same")], [3, 3, 0]);
}

#[test]
fn every_secret_is_hidden_where_requests_are_shown() {
    for setting in SETTINGS.iter().filter(|setting| setting.kind.is_secret()) {
        for name in setting.config_names() {
            let request = wire::OwnedRequest::of(&["CONFIG", "SET", "port", "1", name, "opener"]);
            let args = request.args();
            let commands::registry::Lookup::Command(row) = commands::registry::find(&args) else {
                panic!("CONFIG SET is a row")
            };
            assert_eq!(commands::secret_arguments(&row, &args), [5], "{name}");
        }
    }
}
