// BullMQ's work, timed; a load of the lab.
//
//     node bullmq.js PORT add JOBS       puts in so many jobs, 50 calls under way at once
//     node bullmq.js PORT process JOBS   a worker does what waits, 50 jobs at once; so many must wait
//     node bullmq.js PORT both JOBS      the worker is there while jobs are put in
//
// Each step of a job is a script of the server's. That every job ran once, and none is left, is looked at.

const assert = require("node:assert/strict");
const { Queue, Worker } = require("bullmq");

const [port, step, jobs] = [process.argv[2], process.argv[3], Number(process.argv[4])];
const connection = { host: "127.0.0.1", port: Number(port), maxRetriesPerRequest: null };
const UNDER_WAY = 50;

const watched = (one) => {
  one.on("error", (error) => {
    console.error(error);
    process.exit(1);
  });
  return one;
};

// Puts the jobs in; how long each call took, in milliseconds.
async function add(queue) {
  const tookMs = [];
  let next = 0;
  const caller = async () => {
    while (next < jobs) {
      const number = next;
      next += 1;
      const begin = performance.now();
      await queue.add("job", { number });
      tookMs.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: UNDER_WAY }, caller));
  return tookMs.sort((a, b) => a - b);
}

// Does jobs until all are done; each must come once.
function work() {
  const seen = new Set();
  const worker = watched(
    new Worker(
      "jobs",
      async (job) => {
        assert.ok(!seen.has(job.data.number), `job ${job.data.number} came twice`);
        seen.add(job.data.number);
        return job.data.number;
      },
      { connection, concurrency: UNDER_WAY },
    ),
  );
  return new Promise((resolve, reject) => {
    let done = 0;
    worker.on("failed", (_, error) => reject(error));
    worker.on("completed", (job, result) => {
      if (result !== job.data.number) reject(new Error(`job ${job.data.number} gave ${result}`));
      done += 1;
      if (done === jobs) resolve();
    });
  });
}

async function main() {
  const queue = watched(new Queue("jobs", { connection }));
  await queue.waitUntilReady();
  const counts = () => queue.getJobCounts("waiting", "active", "completed", "failed");
  if (step === "process") assert.equal((await counts()).waiting, jobs, "so many wait");
  const begin = performance.now();
  const done = step === "add" ? undefined : work();
  const tookMs = step === "process" ? [] : await add(queue);
  await done;
  const tookS = (performance.now() - begin) / 1000;
  const left = step === "add" ? { waiting: jobs, completed: 0 } : { waiting: 0, completed: jobs };
  assert.deepEqual(await counts(), { ...left, active: 0, failed: 0 });
  console.log(`requests=${jobs}`);
  console.log(`requests_per_s=${jobs / tookS}`);
  if (step === "add") {
    console.log(`p50_ms=${tookMs[Math.floor(jobs * 0.5)].toFixed(3)}`);
    console.log(`p99_ms=${tookMs[Math.floor(jobs * 0.99)].toFixed(3)}`);
  }
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
