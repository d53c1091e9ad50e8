//! The machine: one Lua state in a fiber, and its tasks.

use crate::error::{Fault, fault_of, stopped};
use crate::functions::Registered;
use crate::source::for_engine;
use crate::value::{Errors, Replying, words};
use crate::{api, direct, error, interrupt, library, natives, random};

use base::instant::Instant;
use mlua::{ChunkMode, Compiler, Function, IntoLua, Lua, LuaOptions, StdLib, Table, Value as Lv};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use sync::fiber::{Fiber, Pause};
use wire::client::Value;
use wire::{Args, Words};

/// Stack for Lua's deepest recursion, about two hundred calls of its C functions. Only touched pages use memory.
const STACK_BYTES: usize = 16 << 20;
/// After this many microseconds, the script yields to the host.
const TICK_US: u128 = 50;
/// Steps of native code between two checks of the clock: value conversions of about 50 ns each.
const STEPS_OF_A_LOOK: u32 = 256;
/// The kilobytes of garbage a step of a full collection aims at.
const STEP_KILOBYTES: i32 = 256;
/// The maximum length of a source, in bytes: compiling takes memory that no limit counts, and time that nothing
/// interrupts.
const SOURCE_BYTES_MAX: usize = 1 << 20;
/// The maximum `mlua` handles of one task: for the arguments of native functions, 8,000 at most; for converting nested
/// tables; and for a library's functions. Running out of handles ends the process.
const HANDLES_OF_A_TASK: usize = 32_000;
/// The maximum number of functions in a library.
pub(crate) const FUNCTIONS_OF_A_LIBRARY: usize = 10_000;
/// The maximum number of compiled scripts kept; beyond it, all are dropped.
const COMPILED_MAX: usize = 1_000;

/// Server facts exposed to scripts.
#[derive(Clone, Copy, Debug)]
pub struct About {
    /// `7.4.0`
    pub version: &'static str,
    /// The version as a number, a byte per part.
    pub version_number: u32,
    /// The seed of `math.random`.
    pub seed: u64,
    /// The maximum length of an argument of a call, in bytes.
    pub argument_bytes_max: usize,
    /// The maximum total length of all arguments of a call, in bytes; below 4 GiB.
    pub request_bytes_max: usize,
}

/// The code to run.
#[derive(Clone, Debug)]
pub enum Code {
    /// A script: its name, which keys the compiled form, and its source without the first line.
    Script {
        /// Forty hexadecimal digits.
        name: Arc<str>,
        /// The source to compile.
        source: Arc<[u8]>,
    },
    /// A function of a loaded library.
    Function {
        /// The library's number.
        library: u64,
        /// Its registered name.
        name: Arc<str>,
    },
}

/// One run of a script.
pub struct Task {
    code: Code,
    /// KEYS, then ARGV.
    arguments: Words,
    keys_count: usize,
}

/// What a suspended machine is resumed with.
pub enum Input {
    /// Run this, if no task is in progress.
    Run(Task),
    /// Only compile this source, under this name.
    Compile(Arc<str>, Arc<[u8]>),
    /// Drop all compiled scripts.
    Forget,
    /// Load a library, with its number and its source without the first line.
    Load(u64, Arc<[u8]>),
    /// Unload these libraries.
    Unload(Vec<u64>),
    /// The reply to a call.
    Reply(Value),
    /// Continue.
    Go,
    /// Unwind the script.
    Stop,
}

/// A message from a suspended machine to its host.
pub enum Ask {
    /// Run this command.
    Call {
        /// The command.
        request: Words,
        /// True if the reply is to be RESP3.
        resp3: bool,
    },
    /// Is this command allowed? The reply is a boolean, or an error if there is no such command.
    Check(Words),
    /// Log this.
    Log {
        /// The level, from 0 for debug to 3 for warnings.
        level: u8,
        /// The message.
        text: String,
    },
    /// The script has run for a while.
    Tick,
    /// The task has ended.
    Over(Result<Answer, Fault>),
}

/// The result of a task.
pub enum Answer {
    /// Of a run: the reply, and the errors in it.
    Reply(Value, Errors),
    /// Of a library: its registered functions.
    Functions(Vec<Registered>),
    /// Nothing to report.
    Done,
}

/// The memory of a finished request, for the next one.
pub(crate) type Spare = Rc<RefCell<Words>>;

/// The memory limits of a machine.
#[derive(Default)]
struct Limits {
    /// For a task, beyond what the machine holds; `None` for no limit.
    room_bytes: Cell<Option<usize>>,
    /// For all that it holds; `None` for no limit.
    bytes_max: Cell<Option<usize>>,
    /// Bytes held when the last task ended.
    held_bytes: Cell<usize>,
}

impl Limits {
    /// Returns the limit for a task, given what is held.
    fn room_bytes(&self, held_bytes: usize) -> usize {
        let of_max = self.bytes_max.get().map_or(usize::MAX, |max| max.saturating_sub(held_bytes));
        self.room_bytes.get().unwrap_or(usize::MAX).min(of_max)
    }
}

/// State shared between native functions and the fiber's loop.
pub(crate) struct Shared {
    pub(crate) pause: Pause<Input, Ask>,
    /// True while a script runs; false while a library is loaded.
    pub(crate) is_running: Cell<bool>,
    pub(crate) is_stopping: Cell<bool>,
    /// The functions registered so far by a library being loaded.
    pub(crate) loading: RefCell<Option<Vec<(Registered, Function)>>>,
    /// True if the script has requested RESP3 replies.
    pub(crate) speaks_resp3: Cell<bool>,
    pub(crate) spare: Spare,
    /// A reply that is not plain.
    pub(crate) waiting: RefCell<Option<Value>>,
    /// The values for KEYS and ARGV, and the number of keys.
    pub(crate) arguments: RefCell<Option<(Words, usize)>>,
    /// The maximum lengths of an argument of a call, and of all together, in bytes.
    pub(crate) argument_bytes_max: usize,
    pub(crate) request_bytes_max: usize,
    /// The limit for data that the script builds outside the engine at a time, in bytes.
    room_bytes: Cell<usize>,
    /// The engine's memory limit, in bytes; 0 for none.
    limit_bytes: Cell<usize>,
    /// Above this usage, in bytes, garbage is collected at once.
    collect_at_bytes: Cell<usize>,
    /// Native steps left until the clock is checked.
    steps_left: Cell<u32>,
    ticked: Cell<Instant>,
    fault: RefCell<Option<Fault>>,
}

impl Shared {
    /// Counts one step of native code, which the engine cannot interrupt.
    ///
    /// # Errors
    /// If the script must stop.
    pub(crate) fn step(&self) -> mlua::Result<()> {
        let left = self.steps_left.get();
        if left > 0 {
            self.steps_left.set(left - 1);
            return Ok(());
        }
        self.steps_left.set(STEPS_OF_A_LOOK);
        self.look()
    }

    /// Yields if it is time to. Fails if the script must stop.
    pub(crate) fn look(&self) -> mlua::Result<()> {
        // The compiler resolves globals and so may run our code: the host then expects no question.
        if !self.is_running.get() && self.loading.borrow().is_none() {
            return Ok(());
        }
        if !self.is_stopping.get() {
            let now = Instant::now();
            if (now - self.ticked.get()).as_micros() < TICK_US {
                return Ok(());
            }
            let input = self.pause.rest(Ask::Tick);
            self.ticked.set(Instant::now());
            if let Input::Go = input {
                return Ok(());
            }
            self.stop();
        }
        Err(stopped())
    }

    /// Called by the engine to ask whether to continue.
    fn interrupted(&self, lua: &Lua) -> mlua::Result<()> {
        self.look()?;
        // The collector's own steps are small, however much is allocated at a time, and would come too late.
        if lua.used_memory() > self.collect_at_bytes.get() { self.collect(lua) } else { Ok(()) }
    }

    /// Collects all garbage, in steps between which others may run. O(memory in use).
    ///
    /// # Errors
    /// If the script must stop.
    pub(crate) fn collect(&self, lua: &Lua) -> mlua::Result<()> {
        // The first pass ends the current cycle, which may have missed newer garbage.
        for _ in 0..2 {
            while !lua.gc_step_kbytes(STEP_KILOBYTES)? {
                self.look()?;
            }
        }
        self.plan_collection(lua);
        Ok(())
    }

    /// Schedules the next collection after a quarter of the limit has been allocated, or half of what is left.
    fn plan_collection(&self, lua: &Lua) {
        let limit = self.limit_bytes.get();
        let used = lua.used_memory();
        let next = if limit == 0 { usize::MAX } else { used + (limit / 4).min(limit.saturating_sub(used) / 2) };
        self.collect_at_bytes.set(next);
    }

    /// Makes the script stop at the next possible point.
    pub(crate) fn stop(&self) {
        self.is_stopping.set(true);
        interrupt::hurry();
    }

    /// Runs `make` with no memory limit set, then checks the limit: with a limit, each single value would be created
    /// inside a protected call, which takes longer than creating it.
    ///
    /// # Errors
    /// Those of `make`, or out of memory.
    pub(crate) fn unlimited<R>(&self, lua: &Lua, make: impl FnOnce() -> mlua::Result<R>) -> mlua::Result<R> {
        let limit = self.limit_bytes.get();
        // Fails only for a state owned by another.
        let _ = lua.set_memory_limit(0);
        let made = make();
        let _ = lua.set_memory_limit(limit);
        made.and_then(|made| self.check_memory(lua).map(|()| made))
    }

    /// # Errors
    /// If the engine holds more than it may.
    pub(crate) fn check_memory(&self, lua: &Lua) -> mlua::Result<()> {
        let limit = self.limit_bytes.get();
        if limit > 0 && lua.used_memory() > limit { Err(out_of_memory()) } else { Ok(()) }
    }

    /// Returns the limit for temporary data built outside the engine, in bytes.
    pub(crate) fn room(&self) -> usize {
        self.room_bytes.get()
    }

    /// # Errors
    /// If `bytes` exceeds the limit.
    pub(crate) fn check_room(&self, bytes: usize) -> mlua::Result<()> {
        if bytes > self.room() { Err(out_of_memory()) } else { Ok(()) }
    }
}

/// The engine's out-of-memory message.
pub(crate) const OUT_OF_MEMORY: &str = "not enough memory";

fn out_of_memory() -> mlua::Error {
    mlua::Error::MemoryError(OUT_OF_MEMORY.to_owned())
}

/// One Lua state and its host interface.
pub struct Machine {
    fiber: Fiber<Input, Ask>,
    spare: Spare,
    limits: Rc<Limits>,
}

impl Machine {
    /// Creates a machine without a task.
    ///
    /// # Panics
    /// If its memory cannot be allocated.
    pub fn new(about: About) -> Self {
        let spare = Spare::default();
        let limits = Rc::<Limits>::default();
        let (inside, limits_inside) = (spare.clone(), limits.clone());
        let body = move |pause: Pause<Input, Ask>, first| {
            let state =
                State::new(pause, inside, limits_inside, &about).expect("the sandbox is built of our own source");
            state.live(first);
        };
        Self {
            fiber: Fiber::new("of Lua", STACK_BYTES, body).expect("the system gives memory for a stack"),
            spare,
            limits,
        }
    }

    /// Returns a task that runs `code` with these arguments; the first `keys_count` are keys.
    pub fn task(&self, code: Code, arguments: Args<'_>, keys_count: usize) -> Input {
        let mut words = self.spare.take();
        words.clear();
        arguments.iter().for_each(|argument| words.push(argument));
        Input::Run(Task { code, arguments: words, keys_count })
    }

    /// Limits the memory that tasks may use beyond what the machine holds; `None`: no limit.
    pub fn set_room(&self, bytes: Option<usize>) {
        self.limits.room_bytes.set(bytes);
    }

    /// Returns the bytes its state has held since the last task.
    pub fn memory_bytes(&self) -> usize {
        self.limits.held_bytes.get()
    }

    /// Returns the bytes a task may use beyond what the machine holds.
    pub fn room_bytes(&self) -> usize {
        self.limits.room_bytes(self.limits.held_bytes.get())
    }

    /// Limits the memory that the machine may hold; `None`: no limit.
    pub fn set_memory_max(&self, bytes: Option<usize>) {
        self.limits.bytes_max.set(bytes);
    }

    /// Takes back a request that it sent, to reuse its memory.
    pub fn give_back(&self, request: Words) {
        self.spare.replace(request);
    }

    /// Starts a task, or continues the current one.
    pub fn go(&mut self, input: Input) -> Ask {
        self.fiber.resume(input).expect("a machine does not end")
    }
}

/// A frequently called function: creating a handle per call would take longer than a reference count.
type Kept = Rc<Function>;

struct State {
    lua: Lua,
    limits: Rc<Limits>,
    shared: Rc<Shared>,
    /// The globals of scripts.
    globals: Table,
    guards: Guards,
    /// The environment of libraries and functions, and its targets.
    environment: Table,
    leads: Leads,
    compiled: RefCell<HashMap<Arc<str>, Kept>>,
    /// The one used last.
    latest: RefCell<Option<(Arc<str>, Kept)>>,
    libraries: RefCell<HashMap<u64, HashMap<Arc<str>, Kept>>>,
    /// The total number of their functions.
    functions_count: Cell<usize>,
    /// The maximum number of handles so far: that many are reserved.
    handles_count: Cell<usize>,
}

/// Wrappers that call a function and record where it failed.
struct Guards {
    /// Runs a library's top-level code.
    load: Function,
    /// Runs a script, with KEYS and ARGV set.
    script: Function,
    /// Runs a function with its keys and arguments.
    of_function: Function,
}

/// The targets of the libraries' environment.
struct Leads {
    metatable: Table,
    /// While a library is being loaded.
    library: Table,
    /// At any other time.
    functions: Table,
}

impl Leads {
    fn to(&self, globals: &Table) -> mlua::Result<()> {
        self.metatable.raw_set("__index", globals)
    }
}

impl State {
    fn new(pause: Pause<Input, Ask>, spare: Spare, limits: Rc<Limits>, about: &About) -> mlua::Result<Self> {
        let libraries = StdLib::COROUTINE | StdLib::TABLE | StdLib::STRING | StdLib::MATH | StdLib::DEBUG;
        let lua = Lua::new_with(libraries, LuaOptions::new().catch_rust_panics(true))?;
        // Constant folding, including of strings, takes memory that no limit counts.
        lua.set_compiler(Compiler::new().set_optimization_level(0).set_debug_level(1));
        let shared = Rc::new(Shared {
            pause,
            is_running: Cell::new(false),
            is_stopping: Cell::new(false),
            loading: RefCell::default(),
            speaks_resp3: Cell::new(false),
            spare,
            waiting: RefCell::default(),
            arguments: RefCell::default(),
            argument_bytes_max: about.argument_bytes_max,
            request_bytes_max: about.request_bytes_max,
            room_bytes: Cell::new(usize::MAX),
            limit_bytes: Cell::default(),
            collect_at_bytes: Cell::new(usize::MAX),
            steps_left: Cell::default(),
            ticked: Cell::new(Instant::now()),
            fault: RefCell::default(),
        });
        let raw = lua.create_table()?;
        let (random, seed) = random::functions(&lua, about.seed)?;
        raw.raw_set("random", random)?;
        raw.raw_set("randomseed", seed)?;
        natives::add(&lua, &raw, &shared)?;
        raw.raw_set("libraries", library::all(&lua, &shared)?)?;
        raw.raw_get::<Table>("libraries")?.raw_set("redis", api::of_script(&lua, &shared, about)?)?;
        raw.raw_set("redis_of_function", api::of_function(&lua, &shared, about)?)?;
        raw.raw_set("redis_of_library", api::of_library(&lua, &shared, about)?)?;
        raw.raw_set("error_text", lua.create_function(error::error_text)?)?;
        raw.raw_set("error_table", lua.create_function(error::error_table)?)?;
        let noting = shared.clone();
        let note = move |lua: &Lua, error: Lv| {
            *noting.fault.borrow_mut() = Some(fault_of(lua, &error));
            Ok(())
        };
        raw.raw_set("note_fault", lua.create_function(note)?)?;
        let globals = lua.create_table()?;
        // Nothing changes there: code between scripts and the engine may call its functions directly.
        let native = lua.globals();
        native.set_safeenv(true);
        let prelude = lua.load(include_str!("prelude.lua")).set_name("=prelude").set_mode(ChunkMode::Text);
        let prelude = prelude.set_compiler(Compiler::new().set_optimization_level(1).set_debug_level(1));
        let direct = shared.clone();
        let caller = move |lua: &Lua, other: Function| direct::caller(lua, &direct, other);
        raw.raw_set("direct", lua.create_function(caller)?)?;
        raw.raw_set("set_arguments", direct::setter(&lua, &shared, &globals)?)?;
        for name in ["KEYS", "ARGV"] {
            globals.raw_set(name, false)?;
        }
        let (guards, environment, leads): (Table, Table, Table) = prelude.call((raw, &globals, native))?;
        lua.set_globals(globals.clone())?;
        let asked = shared.clone();
        interrupt::set(&lua, move |lua| asked.interrupted(lua))?;
        let leads = Leads {
            metatable: leads.raw_get("leading")?,
            library: leads.raw_get("library")?,
            functions: leads.raw_get("functions")?,
        };
        let guards = Guards {
            load: guards.raw_get("load")?,
            script: guards.raw_get("script")?,
            of_function: guards.raw_get("of_function")?,
        };
        let (compiled, latest, libraries) = <_>::default();
        let (functions_count, handles_count) = <_>::default();
        Ok(Self {
            lua,
            limits,
            shared,
            globals,
            guards,
            environment,
            leads,
            compiled,
            latest,
            libraries,
            functions_count,
            handles_count,
        })
    }

    fn live(&self, first: Input) {
        let mut input = first;
        loop {
            self.reserve_handles();
            self.limit_memory();
            let outcome = match input {
                Input::Run(task) => self.run(task).map(|(value, errors)| Answer::Reply(value, errors)),
                Input::Compile(name, source) => self.compile(&name, &source).map(|_| Answer::Done),
                Input::Forget => {
                    self.compiled.borrow_mut().clear();
                    self.latest.take();
                    Ok(Answer::Done)
                }
                Input::Load(number, code) => self.load(number, &code).map(Answer::Functions),
                Input::Unload(numbers) => {
                    let mut libraries = self.libraries.borrow_mut();
                    let gone = numbers.iter().filter_map(|number| libraries.remove(number));
                    let count: usize = gone.map(|functions| functions.len()).sum();
                    self.functions_count.set(self.functions_count.get() - count);
                    Ok(Answer::Done)
                }
                Input::Reply(_) | Input::Go | Input::Stop => Ok(Answer::Done),
            };
            self.shared.is_stopping.set(false);
            self.limits.held_bytes.set(self.lua.used_memory());
            input = self.shared.pause.rest(Ask::Over(outcome));
        }
    }

    /// Reserves the handles of a task, with no memory limit set: handles cannot be created when memory is short.
    fn reserve_handles(&self) {
        let wanted = self.functions_count.get() + self.compiled.borrow().len() + HANDLES_OF_A_TASK;
        if wanted > self.handles_count.get() {
            let _ = self.lua.set_memory_limit(0);
            // Twice the number needed, so that this is rare.
            let handles: Vec<Table> = std::iter::repeat_n(&self.globals, 2 * wanted).cloned().collect();
            self.handles_count.set(handles.len());
        }
    }

    fn limit_memory(&self) {
        let held = self.lua.used_memory();
        let room = self.limits.room_bytes(held);
        self.shared.room_bytes.set(room);
        // No limit is 0; without room the limit equals what is held.
        self.shared.limit_bytes.set(held.checked_add(room).unwrap_or(0));
        // Fails only for a state owned by another.
        let _ = self.lua.set_memory_limit(self.shared.limit_bytes.get());
        self.shared.plan_collection(&self.lua);
    }

    /// Collects the garbage of a task, if it would limit the next one.
    fn sweep(&self) {
        let limit = self.limits.bytes_max.get().unwrap_or(usize::MAX);
        if self.lua.used_memory() <= limit / 4 {
            return;
        }
        let _ = self.lua.set_memory_limit(0);
        self.set_arguments(false, false).expect("fields that are there are set again");
        self.collect_now();
        // Dropped scripts can be compiled again from their sources.
        if self.lua.used_memory() > limit / 2 {
            self.compiled.borrow_mut().clear();
            self.latest.take();
            self.collect_now();
        }
    }

    fn collect_now(&self) {
        if self.shared.collect(&self.lua).is_err() {
            // A stopping script does not yield. This fails only in finalizers, and there are none.
            let _ = self.lua.gc_collect();
        }
    }

    /// Sets the globals KEYS and ARGV. The fields always exist, so that they can be set when memory is short.
    fn set_arguments(&self, keys: impl IntoLua, rest: impl IntoLua) -> mlua::Result<()> {
        self.globals.set_readonly(false);
        let set = self.globals.raw_set("KEYS", keys).and_then(|()| self.globals.raw_set("ARGV", rest));
        self.globals.set_readonly(true);
        set
    }

    fn run(&self, task: Task) -> Result<(Value, Errors), Fault> {
        let Task { code, arguments, keys_count } = task;
        self.shared.speaks_resp3.set(false);
        let (function, is_script) = match code {
            Code::Script { name, source } => (self.compile(&name, &source)?, true),
            Code::Function { library, name } => {
                let libraries = self.libraries.borrow();
                let found = libraries.get(&library).and_then(|functions| functions.get(&name)).cloned();
                (found.ok_or_else(|| unplaced("ERR Function not found"))?, false)
            }
        };
        self.shared.is_running.set(true);
        let result = self.called(&function, is_script, arguments, keys_count);
        self.sweep();
        self.shared.is_running.set(false);
        result
    }

    /// Runs a library's top-level code.
    fn load(&self, number: u64, code: &[u8]) -> Result<Vec<Registered>, Fault> {
        self.shared.speaks_resp3.set(false);
        check_source(code).map_err(unplaced)?;
        let source = for_engine(code).map_err(|refused| {
            unplaced(format!("ERR Error compiling function: {}", refused.message("user_function")))
        })?;
        let chunk = self.lua.load(&*source).set_name("@user_function").set_mode(ChunkMode::Text);
        let function = chunk
            .set_environment(self.environment.clone())
            .into_function()
            .map_err(|error| unplaced(format!("ERR Error compiling function: {}", first_line(&error))))?;
        self.shared.loading.replace(Some(Vec::new()));
        let result = self.leads.to(&self.leads.library).and_then(|()| self.guards.load.call::<(bool, Lv)>(function));
        // Memory left by a library is no reason to fail.
        let _ = self.lua.set_memory_limit(0);
        self.leads.to(&self.leads.functions).expect("a field that is there is set again");
        self.sweep();
        let registered = self.shared.loading.take().unwrap_or_default();
        match result {
            Ok((true, _)) => {
                self.functions_count.set(self.functions_count.get() + registered.len());
                let mut functions = HashMap::with_capacity(registered.len());
                let mut add = |(known, function): (Registered, Function)| {
                    functions.insert(known.name.clone(), Rc::new(function));
                    known
                };
                let known = registered.into_iter().map(&mut add).collect();
                self.libraries.borrow_mut().insert(number, functions);
                Ok(known)
            }
            failed => {
                let mut fault = self.take_fault(failed.err());
                fault.text.splice(..0, *b"ERR Error registering functions: ");
                Err(Fault { place: None, ..fault })
            }
        }
    }

    /// Returns why a run failed: the recorded failure, or the error itself. A stopped run fails on every instruction,
    /// including after its location was recorded.
    fn take_fault(&self, error: Option<mlua::Error>) -> Fault {
        let noted = self.shared.fault.take();
        noted.unwrap_or_else(|| match error {
            Some(error) => fault_of(&self.lua, &Lv::Error(Box::new(error))),
            None => unplaced("ERR unknown error"),
        })
    }

    fn called(
        &self,
        function: &Function,
        is_script: bool,
        arguments: Words,
        keys_count: usize,
    ) -> Result<(Value, Errors), Fault> {
        let run = || {
            if is_script && arguments.args().len() <= direct::WORDS_MAX {
                self.shared.arguments.replace(Some((arguments, keys_count)));
                return self.replied(self.guards.script.call(function)?);
            }
            let args = arguments.args();
            let (keys, rest) = self.shared.unlimited(&self.lua, || {
                let keys = words(&self.lua, &self.shared, args.slice(0, keys_count))?;
                let rest = words(&self.lua, &self.shared, args.from(keys_count))?;
                if is_script {
                    self.set_arguments(&keys, &rest)?;
                }
                Ok((keys, rest))
            })?;
            self.shared.spare.replace(arguments);
            self.replied(if is_script {
                drop((keys, rest));
                self.guards.script.call(function)?
            } else {
                self.guards.of_function.call((function, keys, rest))?
            })
        };
        match run() {
            Ok(Some(value)) => Ok(value),
            Ok(None) => Err(self.take_fault(None)),
            Err(error) => Err(self.take_fault(Some(error))),
        }
    }

    /// Returns the reply of a guard's call; `None` if it failed.
    fn replied(&self, (ok, value): (bool, Lv)) -> mlua::Result<Option<(Value, Errors)>> {
        if !ok {
            // Out of memory, Lua calls no handler, but returns the text itself.
            if let Lv::String(text) = value {
                // Nor does it collect what the next script could use. A stopping script leaves that to `sweep`.
                let _ = self.shared.collect(&self.lua);
                let fault = || unplaced(format!("ERR {}", text.to_string_lossy()));
                self.shared.fault.borrow_mut().get_or_insert_with(fault);
            }
            return Ok(None);
        }
        let mut errors = Errors::default();
        let _ = self.lua.set_memory_limit(0);
        Replying { shared: &self.shared, errors: &mut errors, bytes: 0 }
            .reply(&value, 0)
            .map(|value| Some((value, errors)))
    }

    fn compile(&self, name: &Arc<str>, source: &[u8]) -> Result<Kept, Fault> {
        if let Some((known, function)) = &*self.latest.borrow()
            && Arc::ptr_eq(known, name)
        {
            return Ok(function.clone());
        }
        let function = self.known_or_compiled(name, source)?;
        self.latest.replace(Some((name.clone(), function.clone())));
        Ok(function)
    }

    fn known_or_compiled(&self, name: &Arc<str>, source: &[u8]) -> Result<Kept, Fault> {
        if let Some(known) = self.compiled.borrow().get(name) {
            return Ok(known.clone());
        }
        check_source(source).map_err(unplaced)?;
        let source = for_engine(source).map_err(|refused| {
            unplaced(format!("ERR Error compiling script (new function): {}", refused.message("user_script")))
        })?;
        let chunk = self.lua.load(&*source).set_name("@user_script").set_mode(ChunkMode::Text);
        let function = chunk
            .into_function()
            .map(Kept::new)
            .map_err(|error| unplaced(format!("ERR Error compiling script (new function): {}", first_line(&error))))?;
        let mut compiled = self.compiled.borrow_mut();
        if compiled.len() == COMPILED_MAX {
            compiled.clear();
        }
        compiled.insert(name.clone(), function.clone());
        Ok(function)
    }
}

/// # Errors
/// If a source is too long to be compiled.
pub(crate) fn check_source(source: &[u8]) -> Result<(), String> {
    let bytes = source.len();
    if bytes > SOURCE_BYTES_MAX {
        return Err(format!("ERR the source of a script has {bytes} bytes, more than the {SOURCE_BYTES_MAX} allowed"));
    }
    Ok(())
}

fn unplaced(text: impl Into<String>) -> Fault {
    Fault { text: text.into().into_bytes(), place: None, is_counted: false }
}

/// Returns the compiler's message, without a trace.
fn first_line(error: &mlua::Error) -> String {
    let text = match error {
        mlua::Error::SyntaxError { message, .. } => message.clone(),
        other => other.to_string(),
    };
    text.lines().next().unwrap_or_default().to_owned()
}
