// ioredis in ordinary use: what its documentation promises must hold against Bobbin.
//
//     node ioredis.js PORT UNIX_SOCKET LOCKED_PORT
//
// The arguments and the line "restart please" are those of redis_py.py. As there, all of it must hold against redis-server
// too, but for what is behind `since` and `isBobbin`.

const assert = require("node:assert/strict");
const { once } = require("node:events");
const readline = require("node:readline");
const Redis = require("ioredis");

const [port, unixSocket, lockedPort] = [Number(process.argv[2]), process.argv[3], Number(process.argv[4])];
let server; // what INFO reports
const isBobbin = () => server.includes("bobbin_version");
const since = (version) => {
  const [major, minor] = /redis_version:(\d+)\.(\d+)/.exec(server).slice(1).map(Number);
  const [wantedMajor, wantedMinor] = version.split(".").map(Number);
  return major > wantedMajor || (major === wantedMajor && minor >= wantedMinor);
};
const allBytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));

// Waits for what another connection or the clock brings about.
async function until(condition) {
  for (let round = 0; round < 3000; round += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail("what was waited for did not happen");
}

async function connects(r) {
  await once(r, "ready"); // the ready check asks INFO
  assert.equal(r.status, "ready");
  assert.equal(await r.ping(), "PONG");
  server = await r.info("server");
  if (since("7.2")) assert.match(await r.client("INFO"), /lib-name=ioredis/);
  const named = new Redis({ port, connectionName: "a-name", db: 1 });
  assert.equal(await named.client("GETNAME"), "a-name");
  assert.match(await named.client("INFO"), / db=1 /);
  assert.equal(await named.quit(), "OK");
}

async function strings(r) {
  assert.equal(await r.set("k", "v"), "OK");
  assert.equal(await r.get("k"), "v");
  assert.equal(await r.get("missing"), null);
  assert.equal(await r.set("k", "w", "NX"), null);
  assert.equal(await r.set("k", "w", "EX", 100, "XX"), "OK");
  assert.equal(await r.mset(new Map([["a", 1], ["b", 2]])), "OK");
  assert.equal(await r.mset({ c: 3 }), "OK");
  assert.deepEqual(await r.mget("a", "missing", "c"), ["1", null, "3"]);
  assert.equal(await r.incrby("a", 41), 42);
  assert.equal(await r.incrbyfloat("a", 0.5), "42.5");
  assert.equal(await r.exists("a", "b", "missing"), 2);
  assert.equal(await r.del("a", "b"), 2);
  await assert.rejects(r.lpush("k", 1), { name: "ReplyError", message: /^WRONGTYPE/ });
  if (isBobbin()) await assert.rejects(r.call("NOSUCH", "x", "*", "a", 1), { name: "ReplyError", message: /unknown command/ });
  r.defineCommand("double", { numberOfKeys: 1, lua: "return redis.call('set', KEYS[1], 2 * ARGV[1])" });
  assert.equal(await r.double("doubled", 21), "OK");
  assert.equal(await r.get("doubled"), "42");
  const prefixed = new Redis({ port, keyPrefix: "app:" });
  await prefixed.set("k", "mine");
  assert.equal(await r.get("app:k"), "mine");
  prefixed.disconnect();
}

async function collections(r) {
  assert.equal(await r.hset("h", { a: 1, b: "two" }), 2);
  assert.deepEqual(await r.hgetall("h"), { a: "1", b: "two" });
  assert.deepEqual(await r.hmget("h", "b", "missing"), ["two", null]);
  assert.equal(await r.hincrby("h", "a", 41), 42);
  assert.equal(await r.sadd("s", "x", "y", "x"), 2);
  assert.deepEqual((await r.smembers("s")).sort(), ["x", "y"]);
  assert.deepEqual(await r.sinter("s", "missing"), []);
  assert.equal(await r.zadd("z", 2, "b", 1, "a"), 2);
  assert.deepEqual(await r.zrange("z", 0, -1, "WITHSCORES"), ["a", "1", "b", "2"]);
  assert.equal(await r.zscore("z", "b"), "2");
  assert.equal(await r.xadd("stream", "1-1", "a", 1), "1-1");
  assert.deepEqual(await r.xread("STREAMS", "stream", 0), [["stream", [["1-1", ["a", "1"]]]]]);
  assert.equal(await r.xgroup("CREATE", "stream", "g", "0"), "OK");
  assert.equal((await r.xreadgroup("GROUP", "g", "c", "STREAMS", "stream", ">"))[0][0], "stream");
  assert.equal(await r.xack("stream", "g", "1-1"), 1);
  await assert.rejects(r.hget("z", "a"), { name: "ReplyError", message: /^WRONGTYPE/ });
}

async function lists(r) {
  assert.equal(await r.rpush("l", "a", "b", "c"), 3);
  assert.equal(await r.rpush("l", ["d", "e"]), 5);
  assert.deepEqual(await r.lrange("l", 0, -1), ["a", "b", "c", "d", "e"]);
  assert.equal(await r.linsert("l", "BEFORE", "b", "x"), 6);
  assert.equal(await r.lrem("l", 0, "x"), 1);
  assert.equal(await r.lindex("l", -1), "e");
  assert.equal(await r.lmove("l", "m", "LEFT", "RIGHT"), "a");
  assert.deepEqual(await r.lpop("l", 2), ["b", "c"]);
  assert.equal(await r.ltrim("l", 0, 0), "OK");
  assert.deepEqual(await r.lrangeBuffer("l", 0, -1), [Buffer.from("d")]);
}

async function pipelines(r) {
  const pipe = r.pipeline();
  for (let index = 1; index <= 5000; index += 1) pipe.rpush("l", index);
  assert.deepEqual(await pipe.exec(), Array.from({ length: 5000 }, (_, index) => [null, index + 1]));
  const [good, bad] = await r.pipeline([["set", "k", "v"], ["lpush", "k", 1]]).exec();
  assert.deepEqual(good, [null, "OK"]);
  assert.match(bad[0].message, /^WRONGTYPE/);
  const auto = new Redis({ port, enableAutoPipelining: true });
  await once(auto, "ready");
  const numbers = await Promise.all(Array.from({ length: 500 }, () => auto.incr("n")));
  assert.deepEqual(numbers, Array.from({ length: 500 }, (_, index) => index + 1));
  auto.disconnect();
}

async function transactions(r) {
  assert.deepEqual(await r.multi().set("a", 1).incr("a").get("a").exec(), [[null, "OK"], [null, 2], [null, "2"]]);
  await r.multi({ pipeline: false });
  assert.equal(await r.set("a", 5), "QUEUED");
  assert.deepEqual(await r.exec(), [[null, "OK"]]);
  await assert.rejects(r.multi().set("a").exec(), /EXECABORT/);
  await r.watch("a");
  const other = r.duplicate();
  await other.set("a", 9);
  assert.equal(await r.multi().set("a", 0).exec(), null);
  assert.equal(await r.get("a"), "9");
  await other.quit();
}

async function blocking(r) {
  assert.equal(await r.blpop("none", 0.01), null);
  const waiter = r.duplicate();
  const first = waiter.blpop("queue", "other", 20);
  const second = waiter.blmove("queue", "done", "LEFT", "RIGHT", 20);
  await until(async () => /blocked_clients:1\r/.test(await r.info("clients")));
  assert.equal(await r.rpush("queue", "job", "next"), 2);
  assert.deepEqual(await first, ["queue", "job"]);
  assert.equal(await second, "next");
  waiter.disconnect();
}

async function scans(r) {
  const names = Array.from({ length: 1000 }, (_, index) => `scan:${index}`);
  await r.mset(names.flatMap((name) => [name, "v"]));
  const found = new Set();
  for await (const page of r.scanStream({ match: "scan:*", count: 50 })) page.forEach((name) => found.add(name));
  assert.deepEqual([...found].sort(), names.sort());
}

async function expiry(r) {
  assert.equal(await r.set("k", "v", "PX", 30), "OK");
  await until(async () => (await r.get("k")) === null);
  assert.equal(await r.ttl("k"), -2);
  assert.equal(await r.set("k", "v"), "OK");
  assert.equal(await r.expire("k", 100), 1);
  assert.equal(await r.persist("k"), 1);
  assert.equal(await r.pttl("k"), -1);
}

async function bytes(r) {
  for (const key of [allBytes, Buffer.from("\r\n"), Buffer.alloc(0)]) {
    assert.equal(await r.set(key, allBytes), "OK");
    assert.deepEqual(await r.getBuffer(key), allBytes);
    assert.equal(await r.del(key), 1);
  }
  const big = Buffer.alloc(10 << 20, allBytes);
  assert.equal(await r.set("big", big), "OK");
  assert.ok((await r.getBuffer("big")).equals(big));
  assert.equal(await r.rpush("big:list", big, "small"), 2);
  assert.ok((await r.lpopBuffer("big:list")).equals(big));
}

async function ports(r, protocol) {
  const unix = new Redis({ path: unixSocket, protocol });
  assert.equal(await unix.set("k", "v"), "OK");
  assert.equal(await r.get("k"), "v");
  unix.disconnect();
  const locked = { port: lockedPort, protocol, retryStrategy: null };
  const right = new Redis({ ...locked, password: "secret" });
  assert.equal(await right.ping(), "PONG");
  right.disconnect();
  const url = new Redis(`redis://default:secret@127.0.0.1:${lockedPort}/2`);
  assert.match(await url.client("INFO"), / db=2 /);
  url.disconnect();
  for (const wrong of [{}, { password: "wrong" }, { username: "nobody", password: "secret" }]) {
    const refused = new Redis({ ...locked, ...wrong, maxRetriesPerRequest: 0 });
    const errors = [];
    refused.on("error", (error) => errors.push(error.message));
    const message = await refused.ping().then(() => assert.fail("let in"), (error) => error.message);
    assert.match([message, ...errors].join("\n"), /NOAUTH|WRONGPASS/);
    refused.disconnect();
  }
}

async function restart(r, lines) {
  assert.equal(await r.set("kept", "v"), "OK");
  // While the server is away, each attempt to reach it ends in an error event.
  r.on("error", () => {});
  const reconnected = new Promise((resolve) => r.once("close", () => r.once("ready", resolve)));
  console.log("restart please");
  assert.equal((await lines.next()).value, "done");
  assert.equal(await r.get("kept"), "v", "the same client connects again by itself");
  await reconnected;
}

async function main() {
  const lines = readline.createInterface({ input: process.stdin })[Symbol.asyncIterator]();
  for (const protocol of [undefined, 2, 3]) {
    const r = protocol === undefined ? new Redis(port) : new Redis({ port, protocol });
    await connects(r);
    for (const step of [strings, lists, collections, pipelines, transactions, blocking, scans, expiry, bytes, ports]) {
      assert.equal(await r.flushall(), "OK");
      await step(r, protocol);
    }
    await restart(r, lines);
    await r.flushall();
    await r.quit();
    console.log(`ioredis, protocol ${protocol ?? "not chosen"}: all steps done`);
  }
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
