//! math.random: unpredictable numbers, from the machine's own state.

use crate::error::bad_argument;
use base::random::Random;
use mlua::{Function, Lua, MultiValue, Value};
use std::cell::Cell;
use std::rc::Rc;

/// Returns `random` and `randomseed`.
pub(crate) fn functions(lua: &Lua, seed: u64) -> mlua::Result<(Function, Function)> {
    let state = Rc::new(Cell::new(Random::new(seed)));
    let drawn = state.clone();
    let random = lua.create_function(move |lua, bounds: MultiValue| {
        let mut random = drawn.get();
        let fraction = (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        drawn.set(random);
        let bound = |at: usize| {
            let number = bounds.get(at).map_or(Ok(None), |bound| lua.coerce_number(bound.clone()))?;
            number.map(f64::floor).ok_or_else(|| bad_argument(lua, at + 1, "random", "number expected"))
        };
        let (least, most, at) = match bounds.len() {
            0 => return Ok(Value::Number(fraction)),
            1 => (1.0, bound(0)?, 1),
            2 => (bound(0)?, bound(1)?, 2),
            _ => return Err(crate::error::fault(lua, "wrong number of arguments")),
        };
        if least > most {
            return Err(bad_argument(lua, at, "random", "interval is empty"));
        }
        Ok(Value::Number((fraction * (most - least + 1.0)).floor() + least))
    })?;
    let seed = lua.create_function(move |_, seed: f64| {
        state.set(Random::new(seed as i64 as u64));
        Ok(())
    })?;
    Ok((random, seed))
}
