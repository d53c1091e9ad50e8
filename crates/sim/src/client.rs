//! A client: sends requests, waits as a connection of the server does, and notes what it was told.

use crate::facts::Facts;
use crate::random::Random;
use engine::{Next, Session};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use wire::client::{Parser, Value};
use wire::{Output, OwnedRequest, Ranges};

/// One client of a world.
pub(crate) struct Client {
    pub(crate) number: usize,
    pub(crate) clients: usize,
    pub(crate) session: Session,
    pub(crate) facts: Rc<RefCell<Facts>>,
    pub(crate) random: Random,
    pub(crate) stop: Rc<Cell<bool>>,
    /// Replies leave when they are ready, not when they are durable: the canary.
    pub(crate) hasty: bool,
}

impl Client {
    pub(crate) async fn run(mut self) {
        while !self.stop.get() {
            match self.random.below(9) {
                0 => self.write_register().await,
                1 => self.read_register().await,
                2 => self.push_list().await,
                3 => self.read_list().await,
                4 => self.write_trio().await,
                5 => self.push_element().await,
                6 => self.move_element().await,
                7 => self.write_fleeting().await,
                _ => self.read_fleeting().await,
            }
            let_others_go_on().await;
        }
    }

    async fn write_register(&mut self) {
        let key = format!("reg:{}", self.number);
        let value = self.facts.borrow_mut().send(&key);
        if self.call(&["SET", &key, &value.to_string()]).await == Value::Simple("OK".into()) {
            self.facts.borrow_mut().told(&key, value);
        }
    }

    async fn read_register(&mut self) {
        let key = format!("reg:{}", self.random.below(self.clients as u64));
        if let Some(value) = number(&self.call(&["GET", &key]).await) {
            self.facts.borrow_mut().told(&key, value);
        }
    }

    async fn push_list(&mut self) {
        let key = format!("list:{}", self.number);
        let value = self.facts.borrow_mut().send(&key);
        let padding = "x".repeat(self.random.below(300) as usize);
        let item = format!("{value} {padding}");
        if let Value::Int(len) = self.call(&["RPUSH", &key, &item]).await {
            assert!(len as u64 <= value, "{key} has {len} items after the push of the {value}th");
            self.facts.borrow_mut().told(&key, len as u64);
        }
    }

    async fn read_list(&mut self) {
        let key = format!("list:{}", self.random.below(self.clients as u64));
        if let Value::Array(items) = self.call(&["LRANGE", &key, "0", "-1"]).await {
            self.facts.borrow_mut().told(&key, items.len() as u64);
        }
    }

    async fn write_trio(&mut self) {
        let key = format!("trio:{}", self.number);
        let value = self.facts.borrow_mut().send(&key).to_string();
        let keys = trio(self.number);
        let mut requests: Vec<Vec<&str>> = vec![vec!["MULTI"]];
        requests.extend(keys.iter().map(|key| vec!["SET", key, &value]));
        requests.push(vec!["EXEC"]);
        let replies = self.send(&requests).await;
        if matches!(replies.last(), Some(Value::Array(results)) if results.len() == 3) {
            self.facts.borrow_mut().told(&key, value.parse().expect("a number"));
        }
    }

    async fn push_element(&mut self) {
        let element = {
            let mut facts = self.facts.borrow_mut();
            let element = facts.elements.len() as u64 + 1;
            facts.elements.insert(element, Default::default());
            element
        };
        if let Value::Int(_) = self.call(&["RPUSH", "jobs", &element.to_string()]).await {
            self.facts.borrow_mut().elements.entry(element).or_default().pushed = true;
        }
    }

    async fn move_element(&mut self) {
        let target = format!("done:{}", self.number);
        let timeout = ["0.001", "0.02", "0.3"][self.random.below(3) as usize];
        let reply = self.call(&["BLMOVE", "jobs", &target, "LEFT", "RIGHT", timeout]).await;
        if let Some(element) = number(&reply) {
            let mut facts = self.facts.borrow_mut();
            let known = facts.elements.get_mut(&element).expect("only what was pushed is moved");
            assert_eq!(known.moved_to.replace(self.number), None, "element {element} was given twice");
        }
    }

    async fn write_fleeting(&mut self) {
        let key = format!("fleeting:{}", self.number);
        self.facts.borrow_mut().gone.insert(key.clone(), false);
        let span_ms = (1 + self.random.below(30)).to_string();
        self.call(&["SET", &key, "here", "PX", &span_ms]).await;
    }

    async fn read_fleeting(&mut self) {
        let key = format!("fleeting:{}", self.number);
        let gone = self.call(&["GET", &key]).await == Value::Null;
        self.facts.borrow_mut().gone.insert(key, gone);
    }

    pub(crate) async fn call(&mut self, request: &[&str]) -> Value {
        let mut replies = self.send(&[request.to_vec()]).await;
        // A connection that was closed under it says nothing, and that is no "nil".
        replies.pop().unwrap_or(Value::Error("closed".into()))
    }

    /// Sends a pipeline and waits for its replies, as a connection does.
    async fn send(&mut self, requests: &[Vec<&str>]) -> Vec<Value> {
        let mut input = Vec::new();
        for request in requests {
            wire::resp::request(&mut input, OwnedRequest::of(request).args());
        }
        let (mut ranges, mut output, mut used) = (Ranges::new(), Output::new(), 0);
        loop {
            let turn = self.session.run_turn(&input[used..], &mut ranges, &mut output);
            used += turn.used;
            match turn.next {
                Next::Input(_) | Next::Close => break,
                Next::Again => {}
                Next::Gate => poll_fn(|context| self.session.poll_gate_open(context)).await,
                Next::Slow(slow) => self.session.run_slowly(slow, &mut output).await,
            }
        }
        if !self.hasty && !poll_fn(|context| self.session.poll_may_write(context)).await {
            self.session.fail_held(&mut output);
        }
        self.session.note_written();
        self.leave(&mut output)
    }

    fn leave(&self, output: &mut Output) -> Vec<Value> {
        let mut parser = Parser::new();
        while !output.is_empty() {
            output.fill();
            let ready = output.front().map_or(0, |bytes| {
                parser.feed(bytes);
                bytes.len()
            });
            output.consume(ready);
        }
        let mut values = Vec::new();
        while let Ok(Some(value)) = parser.next_value() {
            let mut facts = self.facts.borrow_mut();
            facts.replies += 1;
            facts.errors += u64::from(matches!(value, Value::Error(_)));
            values.push(value);
        }
        values
    }
}

/// The three keys that one MULTI of a client writes.
pub(crate) fn trio(number: usize) -> [String; 3] {
    ["a", "b", "c"].map(|part| format!("trio:{number}:{part}"))
}

/// The number that a bulk begins with.
pub(crate) fn number(value: &Value) -> Option<u64> {
    let Value::Bulk(bytes) = value else { return None };
    std::str::from_utf8(bytes).ok()?.split(' ').next()?.parse().ok()
}

/// A reply that needs no sync comes at once; the schedule is to have its say all the same.
async fn let_others_go_on() {
    let mut was_here = false;
    poll_fn(|context| {
        if std::mem::replace(&mut was_here, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}
