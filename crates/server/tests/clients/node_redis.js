// node-redis in ordinary use: what its documentation promises must hold against Bobbin.
//
//     node node_redis.js PORT UNIX_SOCKET LOCKED_PORT
//
// The arguments and the line "restart please" are those of redis_py.py. As there, all of it must hold against redis-server
// too, but for what is behind `since`.

const assert = require("node:assert/strict");
const readline = require("node:readline");
const { createClient, createClientPool, ErrorReply, RESP_TYPES, WatchError } = require("redis");

const [port, unixSocket, lockedPort] = [Number(process.argv[2]), process.argv[3], Number(process.argv[4])];
const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
let server; // what INFO reports
const since = (version) => {
  const [major, minor] = /redis_version:(\d+)\.(\d+)/.exec(server).slice(1).map(Number);
  const [wantedMajor, wantedMinor] = version.split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
};

// Replies of node-redis have no prototype.
const same = (got, wanted) => assert.deepEqual(JSON.parse(JSON.stringify(got)), wanted);

// Waits for what another connection or the clock brings about.
async function until(condition) {
  for (let round = 0; round < 3000; round += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail("what was waited for did not happen");
}

async function connected(options) {
  const r = createClient({ socket: { port }, ...options });
  r.on("error", () => {}); // while the server is away
  return r.connect();
}

async function connects(r) {
  assert.equal(await r.ping(), "PONG");
  server = await r.info("server");
  if (since("7.2")) assert.match(await r.sendCommand(["CLIENT", "INFO"]), /lib-name=node-redis/);
  const named = await connected({ name: "a-name", database: 1 });
  assert.equal(await named.clientGetName(), "a-name");
  assert.equal((await named.clientInfo()).db, 1);
  await named.close();
  same(await r.configGet("port"), { port: `${port}` });
  same(await r.commandGetKeys(["MSET", "a", "1", "b", "2"]), ["a", "b"]);
}

async function texts(r) {
  assert.equal(await r.set("k", allBytes), "OK");
  assert.deepEqual(await r.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).get("k"), allBytes);
  assert.equal(await r.get("missing"), null);
  assert.equal(await r.set("k", "v", { condition: "NX" }), null);
  assert.equal(await r.set("k", "v", { expiration: { type: "EX", value: 100 } }), "OK");
  assert.ok((await r.ttl("k")) > 90);
  assert.equal(await r.persist("k"), 1);
  assert.equal(await r.mSet({ a: "1", b: "2" }), "OK");
  same(await r.mGet(["a", "missing", "b"]), ["1", null, "2"]);
  assert.equal(await r.incrBy("a", 41), 42);
  assert.equal(Number(await r.incrByFloat("a", 0.5)), 42.5);
  assert.equal(await r.getDel("b"), "2");
  await assert.rejects(r.lPush("k", "a"), (error) => error instanceof ErrorReply && error.message.startsWith("WRONGTYPE"));
  await assert.rejects(r.sendCommand(["NONSENSE", "a"]), /unknown command/);
  assert.equal(await r.pSetEx("short", 30, "v"), "OK");
  await until(async () => (await r.get("short")) === null);
}

async function collections(r) {
  assert.equal(await r.hSet("h", { a: "1", b: "two" }), 2);
  same(await r.hGetAll("h"), { a: "1", b: "two" });
  same(await r.hmGet("h", ["b", "missing"]), ["two", null]);
  assert.equal(await r.hIncrBy("h", "a", 41), 42);
  assert.equal(await r.sAdd("s", ["x", "y", "x"]), 2);
  same((await r.sMembers("s")).toSorted(), ["x", "y"]);
  same(await r.smIsMember("s", ["x", "z"]), [1, 0]);
  assert.equal(await r.zAdd("z", [{ score: 1, value: "a" }, { score: 2.5, value: "b" }]), 2);
  same(await r.zRangeWithScores("z", 0, -1), [{ value: "a", score: 1 }, { value: "b", score: 2.5 }]);
  assert.equal(await r.zScore("z", "b"), 2.5);
  same(await r.zRange("z", "+inf", "(1", { BY: "SCORE", REV: true }), ["b"]);
  same(await r.zPopMin("z"), { value: "a", score: 1 });
  same(await r.bzPopMin(["missing", "z"], 1), { key: "z", value: "b", score: 2.5 });
  assert.equal(await r.setBit("bits", 100, 1), 0);
  assert.equal(await r.bitCount("bits"), 1);
  assert.equal(await r.pfAdd("seen", ["a", "b"]), 1);
  assert.equal(await r.pfCount("seen"), 2);
  assert.equal(await r.rPush("l", ["a", "b", "c"]), 3);
  same(await r.lRange("l", 0, -1), ["a", "b", "c"]);
  same(await r.lmPop("l", "LEFT", { COUNT: 2 }), ["l", ["a", "b"]]);
  assert.equal(await r.lPos("l", "c"), 0);
}

async function pipelines(r) {
  // What is asked in one turn of the loop is sent at once.
  const lengths = await Promise.all(Array.from({ length: 5000 }, (_, number) => r.rPush("l", `${number}`)));
  assert.deepEqual(lengths, Array.from({ length: 5000 }, (_, index) => index + 1));
  same(await r.multi().set("a", "1").incr("a").get("a").exec(), ["OK", 2, "2"]);
  await assert.rejects(r.multi().set("a", "5").addCommand(["GET"]).exec(), /wrong number of arguments/);
  assert.equal(await r.get("a"), "2", "a transaction that cannot be queued does nothing");
  const pool = await createClientPool({ socket: { port } }, { maximum: 4 }).connect();
  const add = () => pool.execute(async (own) => {
    for (;;) {
      await own.watch("n");
      const n = Number(await own.get("n"));
      try {
        return await own.multi().set("n", `${n + 1}`).exec();
      } catch (error) {
        assert.ok(error instanceof WatchError, error);
      }
    }
  });
  await Promise.all(Array.from({ length: 100 }, add));
  assert.equal(await r.get("n"), "100");
  await pool.close();
}

async function blocking(r) {
  const waiter = r.duplicate();
  await waiter.connect();
  assert.equal(await waiter.blPop("missing", 0.01), null);
  const first = waiter.blPop(["queue", "other"], 20);
  await until(async () => /blocked_clients:1\r/.test(await r.info("clients")));
  assert.equal(await r.rPush("queue", ["job", "next"]), 2);
  same(await first, { key: "queue", element: "job" });
  assert.equal(await waiter.blMove("queue", "done", "LEFT", "RIGHT", 1), "next");
  waiter.destroy();
}

async function messages(r) {
  const listener = r.duplicate();
  await listener.connect();
  const heard = [];
  await listener.subscribe("news", (text, channel) => heard.push([channel, text]));
  await listener.pSubscribe("ne*", (text, channel) => heard.push(["ne*", channel, text]));
  assert.equal(await r.publish("news", "ä✓"), 2);
  await until(() => heard.length === 2);
  assert.deepEqual(heard, [["news", "ä✓"], ["ne*", "news", "ä✓"]]);
  same(await r.pubSubNumSub(["news", "none"]), { news: 1, none: 0 });
  await listener.unsubscribe();
  await listener.pUnsubscribe();
  assert.equal(await r.publish("news", "nobody"), 0);
  await listener.close();
}

async function scans(r) {
  const names = Array.from({ length: 1000 }, (_, index) => `scan:${index}`);
  await r.mSet(Object.fromEntries(names.map((name) => [name, "v"])));
  const found = new Set();
  for await (const page of r.scanIterator({ MATCH: "scan:*", COUNT: 50 })) page.forEach((name) => found.add(name));
  assert.deepEqual([...found].sort(), names.sort());
  await r.hSet("h", Object.fromEntries(names.map((name) => [name, "v"])));
  let fields = 0;
  for await (const page of r.hScanIterator("h")) fields += page.length;
  assert.equal(fields, 1000);
}

async function ports(r) {
  const unix = await connected({ socket: { path: unixSocket } });
  assert.equal(await unix.set("k", "v"), "OK");
  assert.equal(await r.get("k"), "v");
  await unix.close();
  const right = await createClient({ url: `redis://default:secret@127.0.0.1:${lockedPort}/2` }).connect();
  assert.equal((await right.clientInfo()).db, 2);
  await right.close();
  for (const wrong of [{ password: "wrong" }, { username: "nobody", password: "secret" }]) {
    const socket = { port: lockedPort, reconnectStrategy: false };
    const refused = createClient({ socket, ...wrong });
    refused.on("error", () => {});
    await assert.rejects(refused.connect(), /WRONGPASS/);
  }
}

async function restart(r, lines) {
  assert.equal(await r.set("kept", "v"), "OK");
  console.log("restart please");
  assert.equal((await lines.next()).value, "done");
  await until(() => r.isReady);
  assert.equal(await r.get("kept"), "v", "the same client connects again by itself");
}

async function main() {
  const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  for (const protocol of [undefined, 2, 3]) {
    const r = await connected(protocol && { RESP: protocol });
    await connects(r);
    for (const step of [texts, collections, pipelines, blocking, messages, scans, ports]) {
      assert.equal(await r.flushAll(), "OK");
      await step(r);
    }
    await restart(r, lines);
    r.destroy();
    console.log(`node-redis, protocol ${protocol ?? "not chosen"}: all steps done`);
  }
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
