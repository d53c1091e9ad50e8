// BullMQ at work: what it promises of jobs must hold with Bobbin beneath.
//
//     node bullmq.js PORT
//
// All of it must hold with redis-server beneath, too. Its every step is a script of the server's, and it reports each in
// a stream.

const assert = require("node:assert/strict");
const { FlowProducer, Queue, QueueEvents, UnrecoverableError, Worker } = require("bullmq");

const connection = { host: "127.0.0.1", port: Number(process.argv[2]), maxRetriesPerRequest: null };
const open = []; // what is to be closed at the end of a step
const made = (one) => {
  open.push(one);
  one.setMaxListeners(1000); // as many jobs are waited for at once
  one.on("error", (error) => {
    console.error(error);
    process.exit(1);
  });
  return one;
};
const queue = (name, options) => made(new Queue(name, { connection, ...options }));
const worker = (name, work, options) => made(new Worker(name, work, { connection, ...options }));
const listener = async (name) => {
  const events = made(new QueueEvents(name, { connection }));
  await events.waitUntilReady();
  return events;
};
const rest = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

async function until(condition) {
  for (let round = 0; round < 2000; round += 1) {
    if (await condition()) return;
    await rest(10);
  }
  assert.fail("what was waited for did not happen");
}

async function many() {
  const jobs = queue("many");
  const events = await listener("many");
  const added = await jobs.addBulk(Array.from({ length: 300 }, (_, number) => ({ name: "double", data: { number } })));
  assert.deepEqual(await jobs.getJobCounts("waiting", "active", "completed"), { waiting: 300, active: 0, completed: 0 });
  const ran = [];
  const work = async (job) => {
    ran.push(job.data.number);
    await job.updateProgress(50);
    return job.data.number * 2;
  };
  for (let index = 0; index < 2; index += 1) worker("many", work, { concurrency: 8 });
  const results = await Promise.all(added.map((job) => job.waitUntilFinished(events, 30000)));
  assert.deepEqual(results, added.map((_, number) => number * 2));
  assert.deepEqual(ran.toSorted((a, b) => a - b), added.map((_, number) => number), "each ran once");
  await until(async () => (await jobs.getCompletedCount()) === 300);
  assert.deepEqual(await jobs.getJobCounts("waiting", "active", "failed"), { waiting: 0, active: 0, failed: 0 });
  await jobs.pause();
  await jobs.add("double", { number: 1000 }, { jobId: "once", removeOnComplete: true });
  await jobs.add("double", { number: 1001 }, { jobId: "once" });
  await jobs.resume();
  await until(async () => (await jobs.getJob("once")) === undefined);
  assert.deepEqual(ran.filter((number) => number >= 1000), [1000], "what has the name of a waiting job is not added");
  await jobs.obliterate({ force: true });
  assert.equal(await jobs.getCompletedCount(), 0);
}

async function order() {
  const jobs = queue("order");
  await jobs.pause();
  for (const [name, priority] of [["c", 3], ["a", 1], ["d", 3], ["b", 2]]) await jobs.add(name, {}, { priority });
  await jobs.add("first", {});
  await jobs.add("before all", {}, { lifo: true });
  const ran = [];
  worker("order", async (job) => void ran.push(job.name));
  await rest(50);
  assert.deepEqual(ran, [], "nothing runs while the queue is paused");
  await jobs.resume();
  await until(() => ran.length === 6);
  assert.deepEqual(ran, ["before all", "first", "a", "b", "c", "d"]);
}

async function later() {
  const jobs = queue("later");
  const events = await listener("later");
  const begin = Date.now();
  const delayed = [700, 100, 400].map((delay) => jobs.add(`${delay}`, {}, { delay }));
  await Promise.all(delayed);
  assert.equal(await jobs.getDelayedCount(), 3);
  const ran = [];
  worker("later", async (job) => {
    ran.push(job.name);
    assert.ok(Date.now() - begin >= Number(job.name), "no job runs before its time");
  });
  await Promise.all((await Promise.all(delayed)).map((job) => job.waitUntilFinished(events, 30000)));
  assert.deepEqual(ran, ["100", "400", "700"]);
}

async function troubles() {
  const jobs = queue("troubles");
  const events = await listener("troubles");
  const tries = {};
  worker("troubles", async (job) => {
    tries[job.name] = (tries[job.name] ?? 0) + 1;
    if (job.name === "lost") throw new UnrecoverableError("lost");
    if (tries[job.name] <= job.data.failures) throw new Error(`try ${tries[job.name]}`);
    return tries[job.name];
  });
  const backoff = { type: "exponential", delay: 50 };
  const stubborn = await jobs.add("stubborn", { failures: 2 }, { attempts: 3, backoff });
  const hopeless = await jobs.add("hopeless", { failures: 9 }, { attempts: 2, backoff });
  const lost = await jobs.add("lost", {}, { attempts: 5 });
  assert.equal(await stubborn.waitUntilFinished(events, 30000), 3);
  await assert.rejects(hopeless.waitUntilFinished(events, 30000), { message: "try 2" });
  await assert.rejects(lost.waitUntilFinished(events, 30000), { message: "lost" });
  assert.deepEqual(tries, { stubborn: 3, hopeless: 2, lost: 1 });
  assert.deepEqual((await jobs.getFailed()).map((job) => job.name).toSorted(), ["hopeless", "lost"]);
  tries.hopeless = 9;
  await (await jobs.getJob(hopeless.id)).retry();
  await until(async () => (await jobs.getJobState(hopeless.id)) === "completed");
}

async function limits() {
  const jobs = queue("limits");
  const times = [];
  const begin = Date.now();
  worker("limits", async () => void times.push(Date.now()), { concurrency: 10, limiter: { max: 3, duration: 300 } });
  await jobs.addBulk(Array.from({ length: 9 }, () => ({ name: "n", data: {} })));
  await until(() => times.length === 9);
  assert.ok(times[8] - begin >= 590, `three windows of three: ${times.map((time) => time - begin)}`);
}

async function families() {
  const flow = made(new FlowProducer({ connection }));
  const events = await listener("parents");
  worker("children", async (job) => job.data.number + 1);
  worker("parents", async (job) => Object.values(await job.getChildrenValues()).reduce((sum, value) => sum + value, 0));
  const children = [1, 2, 3].map((number) => ({ name: "child", queueName: "children", data: { number } }));
  const { job } = await flow.add({ name: "parent", queueName: "parents", children });
  assert.equal(await job.waitUntilFinished(events, 30000), 9);
}

async function again() {
  const jobs = queue("again");
  const ran = [];
  worker("again", async (job) => void ran.push(job.name));
  await jobs.upsertJobScheduler("every", { every: 100, limit: 4 }, { name: "tick" });
  assert.equal((await jobs.getJobSchedulers()).length, 1);
  await until(() => ran.length >= 3);
  assert.equal(await jobs.removeJobScheduler("every"), true);
}

async function main() {
  for (const step of [many, order, later, troubles, limits, families, again]) {
    await step();
    await Promise.all(open.splice(0).toReversed().map((one) => one.close()));
  }
  console.log("BullMQ: all steps done");
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
