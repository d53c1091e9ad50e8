//! Expressions and requests of FT.AGGREGATE: what is taken is evaluated and run over a few rows, and nothing panics.
//!
//! ```text
//!   | text of an expression | 0xff | argument | 0xff | argument ...
//! ```

#![no_main]

use libfuzzer_sys::fuzz_target;
use search::{AggregateRequest, Expression, OutputStep, Pipeline, PipelineLimits, SourceRow, Value};

const LIMITS: PipelineLimits = PipelineLimits { records_max: 1 << 20, seed: 1 };

/// The rows of each run.
const ROWS: usize = 12;

fuzz_target!(|data: &[u8]| {
    let mut parts = data.split(|byte| *byte == 0xff);
    if let Ok(expression) = Expression::parse(parts.next().unwrap_or_default()) {
        assert!(expression.fields().len() <= data.len());
        for number in 0..ROWS {
            let _ = expression.evaluate(&mut |name| field(name, number));
        }
    }
    let arguments: Vec<&[u8]> = parts.collect();
    let Ok(request) = AggregateRequest::parse(&arguments) else { return };
    let Ok(pipeline) = Pipeline::new(&request, LIMITS) else { return };
    run(pipeline);
});

/// Pushes rows and takes all records; an error of an expression ends it.
fn run(mut pipeline: Pipeline) {
    for number in 0..ROWS {
        let values = pipeline.source_fields().iter().map(|source| field(&source.identifier, number)).collect();
        let others = if pipeline.loads_all() { vec![(b"other"[..].into(), Value::Null)] } else { Vec::new() };
        match pipeline.push(SourceRow { values, others }) {
            Ok(flow) if flow.is_continue() => {}
            Ok(_) => break,
            Err(_) => return,
        }
    }
    assert!(pipeline.heap_bytes() < 1 << 30);
    let mut output = pipeline.finish();
    loop {
        match output.step() {
            Ok(OutputStep::Record(record)) => assert!(record.iter().all(|(name, _)| record.value(name).is_some())),
            Ok(OutputStep::Working) => {}
            Ok(OutputStep::Done) | Err(_) => return,
        }
    }
}

/// Returns a value of any type, or none, by a field's name and a row's number.
fn field(name: &[u8], number: usize) -> Option<Value> {
    let kind = name.iter().fold(number, |sum, byte| sum + usize::from(*byte));
    Some(match kind % 6 {
        0 => return None,
        1 => Value::Null,
        2 => Value::Number(number as f64 - 2.5),
        3 => Value::text(number.to_string()),
        4 => Value::List((0..number % 4).map(|item| Value::Number(item as f64)).collect()),
        _ => Value::text(name),
    })
}
