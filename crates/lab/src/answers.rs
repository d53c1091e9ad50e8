//! Questions and answers: one client asks, another answers, one question at a time. A round is a request; its time is that
//! of two clients that wait and learn what another has sent.
//!
//! ```text
//! by lists       asker     LPUSH questions 7 | BLPOP answers ......................... 7 |
//!                answerer  BLPOP questions ... 7 | LPUSH answers 7 |
//!
//! by channels    asker     PUBLISH questions 7 | ........................ answers 7 |
//!                answerer  .......... questions 7 | PUBLISH answers 7 |
//! ```
//!
//! By channels, each of them has a second connection that listens.

use crate::LabError;
use crate::load::{Outcome, step_error};
use crate::resp::Client;
use crate::scenario::Means;
use crate::server::Server;
use hdrhistogram::Histogram;
use std::io;
use std::thread;
use std::time::{Duration, Instant};

/// Seconds after which a BLPOP gives up: an answer takes a fraction of a millisecond.
const PATIENCE_S: u64 = 20;
const LATENCY_NS_MAX: u64 = 60_000_000_000;
/// The last question, or an answer that says that none follows.
const OVER: &str = "over";

/// Asks `count` questions, or as many as are answered within `limit`.
///
/// # Errors
/// The server refused, or a question or an answer was lost or is another one.
pub(crate) fn measure(server: &Server, means: Means, count: u64, limit: Duration) -> Result<Outcome, LabError> {
    let failed = |error: io::Error| step_error("answers", &error, server);
    let mut asker = Talker::new(server, means, "questions", "answers").map_err(failed)?;
    let mut answerer = Talker::new(server, means, "answers", "questions").map_err(failed)?;
    let mut latency_ns = Histogram::new_with_bounds(1, LATENCY_NS_MAX, 3).expect("bounds that fit");
    let begin = Instant::now();
    let asked = thread::scope(|scope| {
        let answering = scope.spawn(move || {
            // So that the other does not wait for an answer.
            answerer.answer_all().inspect_err(|_| drop(answerer.tell(OVER)))
        });
        let asked = asker.ask(count, begin + limit, &mut latency_ns);
        // Also after an error, so that the other does not wait for a question.
        let over = asker.tell(OVER);
        answering.join().expect("the answerer does not panic")?;
        asked.and_then(|asked| over.map(|()| asked))
    });
    let asked = asked.map_err(failed)?;
    let quantile_ms = |quantile| Some(latency_ns.value_at_quantile(quantile) as f64 / 1e6);
    Ok(Outcome {
        command_line: format!("answers: {asked} questions, one after the other, by {}", means.name()),
        requests: asked,
        requests_per_s: Some(asked as f64 / begin.elapsed().as_secs_f64()),
        p50_ms: quantile_ms(0.5),
        p99_ms: quantile_ms(0.99),
        extra: vec![("max_us".to_owned(), (latency_ns.max() / 1000) as f64)],
        ..Outcome::default()
    })
}

/// The asker or the answerer.
struct Talker {
    client: Client,
    /// The connection that listens to a channel.
    listener: Option<Client>,
    says_to: &'static str,
    hears_from: &'static str,
}

impl Talker {
    fn new(server: &Server, means: Means, says_to: &'static str, hears_from: &'static str) -> io::Result<Self> {
        let mut listener = None;
        if means == Means::Channels {
            let mut client = Client::connect(server.address())?;
            client.call(&format!("SUBSCRIBE {hears_from}"))?;
            listener = Some(client);
        }
        Ok(Self { client: Client::connect(server.address())?, listener, says_to, hears_from })
    }

    /// Sends a text to the other one, which alone waits for it.
    fn tell(&mut self, text: &str) -> io::Result<()> {
        let verb = if self.listener.is_some() { "PUBLISH" } else { "LPUSH" };
        let reply = self.client.call(&format!("{verb} {} {text}", self.says_to))?;
        same(&reply, "1")
    }

    /// Waits for the other one's text.
    fn hear(&mut self) -> io::Result<String> {
        let (heard, head) = match &mut self.listener {
            Some(listener) => (listener.reply_text()?, format!("message {} ", self.hears_from)),
            None => {
                (self.client.call(&format!("BLPOP {} {PATIENCE_S}", self.hears_from))?, format!("{} ", self.hears_from))
            }
        };
        let text = heard.strip_prefix(&head);
        text.map(str::to_owned).ok_or_else(|| io::Error::other(format!("`{heard}` came instead of `{head}...`")))
    }

    /// Asks one question after the other; returns their number.
    fn ask(&mut self, count: u64, end: Instant, latency_ns: &mut Histogram<u64>) -> io::Result<u64> {
        for number in 0..count {
            let begin = Instant::now();
            if begin > end {
                return Ok(number);
            }
            let question = number.to_string();
            self.tell(&question)?;
            same(&self.hear()?, &question)?;
            latency_ns.saturating_record(begin.elapsed().as_nanos() as u64);
        }
        Ok(count)
    }

    /// Answers each question with its number, and expects them in order.
    fn answer_all(&mut self) -> io::Result<()> {
        for number in 0_u64.. {
            let question = self.hear()?;
            if question == OVER {
                return Ok(());
            }
            same(&question, &number.to_string())?;
            self.tell(&question)?;
        }
        unreachable!("there are fewer questions than numbers")
    }
}

fn same(heard: &str, expected: &str) -> io::Result<()> {
    if heard == expected {
        return Ok(());
    }
    Err(io::Error::other(format!("`{heard}` came instead of `{expected}`")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use testing::program_or_skip;

    fn asked_beside(means: Means, disturb: &str) -> Option<Result<Outcome, LabError>> {
        let redis = program_or_skip("lab::answers", "redis-server")?;
        let data = tempfile::tempdir().unwrap();
        let server = Server::start(&redis, &["--save".to_owned(), String::new()], data.path()).unwrap();
        let mut other = server.client().unwrap();
        if !disturb.is_empty() {
            other.call(disturb).unwrap();
        }
        Some(measure(&server, means, 50, Duration::from_secs(60)))
    }

    #[test]
    fn each_question_is_answered() {
        for means in [Means::Lists, Means::Channels] {
            let Some(outcome) = asked_beside(means, "") else { return };
            assert_eq!(outcome.unwrap().requests, 50);
        }
    }

    #[test]
    fn foreign_questions_and_listeners_are_detected() {
        let Some(outcome) = asked_beside(Means::Lists, "RPUSH answers 9") else { return };
        let error = outcome.err().unwrap().to_string();
        assert!(error.contains("`9` came instead of `0`") || error.contains("`2` came instead of `1`"), "{error}");
        let Some(outcome) = asked_beside(Means::Channels, "SUBSCRIBE answers") else { return };
        let error = outcome.err().unwrap().to_string();
        assert!(error.contains("`2` came instead of `1`"), "{error}");
    }
}
