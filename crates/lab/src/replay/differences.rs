//! Compares the replies of two servers call by call.

use super::plan::Plan;
use super::replies::{Answer, Answers, shortened};
use super::rules::ReplyRule;
use serde::{Deserialize, Serialize};

/// The differing calls that are shown.
const SHOWN_MAX: usize = 20;

/// The replies of two servers to the same calls.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct ReplyComparison {
    /// The label of the server, and of the one that it is compared with.
    pub(super) side: String,
    pub(super) reference: String,
    pub(super) compared: u64,
    pub(super) different: u64,
    /// Calls that one of them was not asked, because playing ended early.
    pub(super) missing: u64,
    pub(super) commands: Vec<ComparedCommand>,
    pub(super) first: Vec<Difference>,
}

/// The calls of a command.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct ComparedCommand {
    pub(super) command: String,
    pub(super) compared: u64,
    pub(super) different: u64,
}

/// A call with different replies.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub(super) struct Difference {
    /// The number of its line in the capture.
    pub(super) line: u64,
    pub(super) client: String,
    pub(super) call: String,
    pub(super) reply: String,
    pub(super) reference_reply: String,
}

/// Compares the replies of a server with those of another, each with its label.
pub(super) fn compare(plan: &Plan, side: (&str, &Answers), reference: (&str, &Answers)) -> ReplyComparison {
    let commands = plan.commands.iter().map(|name| ComparedCommand { command: name.clone(), ..Default::default() });
    let mut comparison = ReplyComparison {
        side: side.0.to_owned(),
        reference: reference.0.to_owned(),
        commands: commands.collect(),
        ..ReplyComparison::default()
    };
    for (index, call) in plan.calls.iter().enumerate() {
        if !matches!(call.check, ReplyRule::Same | ReplyRule::AnyOrder { .. }) {
            continue;
        }
        let answers = [side.1.answer(index), reference.1.answer(index)];
        if answers.contains(&Answer::None) {
            comparison.missing += 1;
            continue;
        }
        let command = &mut comparison.commands[call.command as usize];
        command.compared += 1;
        comparison.compared += 1;
        if answers[0] == answers[1] {
            continue;
        }
        command.different += 1;
        comparison.different += 1;
        if comparison.first.len() < SHOWN_MAX {
            comparison.first.push(Difference {
                line: call.line,
                client: plan.connections[call.connection as usize].client.clone(),
                call: shortened(plan.bytes_of(call)),
                reply: side.1.text(index),
                reference_reply: reference.1.text(index),
            });
        }
    }
    comparison.commands.retain(|command| command.compared > 0);
    comparison
}
