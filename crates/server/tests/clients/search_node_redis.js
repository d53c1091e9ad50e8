// node-redis' search API (client.ft) on Bobbin: hashes are found by their fields, as its documentation promises.
//
//     node search_node_redis.js PORT UNIX_SOCKET LOCKED_PORT
//
// The arguments are those of redis_py.py. All of it must hold against RediSearch 2.10.5 too, but for what Bobbin refuses; the
// redis-server that tests find has no FT.* commands.

const assert = require("node:assert/strict");
const { createClient, ErrorReply } = require("redis");

const port = Number(process.argv[2]);

// Replies of node-redis have no prototype.
const plain = (value) => JSON.parse(JSON.stringify(value));
const same = (got, wanted) => assert.deepEqual(plain(got), wanted);

// Waits for what the server or the clock brings about.
async function until(condition) {
  for (let round = 0; round < 3000; round += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail("what was waited for did not happen");
}

const books = {
  1: { title: "The Winter Road", genre: "travel,history", pages: "310", price: "12.5", place: "24.94,60.17" },
  2: { title: "Winter Cooking", genre: "food", pages: "120", price: "30", place: "25.47,65.01" },
  3: { title: "Roads and Roadhouses", genre: "Travel", pages: "90", price: "8", place: "-3.70,40.42" },
  4: { title: "History of Salt", genre: "history,food", pages: "480", price: "21", place: "9.19,45.46" },
};

const schema = {
  title: { type: "TEXT", SORTABLE: true, WEIGHT: 2, WITHSUFFIXTRIE: true },
  genre: { type: "TAG", SEPARATOR: ",", INDEXMISSING: true },
  pages: { type: "NUMERIC", SORTABLE: "UNF" },
  price: "NUMERIC",
  place: "GEO",
};

async function library(r) {
  await r.hSet("book:1", books[1]);
  await r.hSet("book:2", books[2]);
  assert.equal(await r.ft.create("books", schema, { ON: "HASH", PREFIX: "book:" }), "OK");
  await until(async () => Number((await r.ft.info("books")).indexing) === 0);
  await r.hSet("book:3", books[3]);
  await r.hSet("book:4", books[4]);
  await r.hSet("other:1", books[1]);
}

async function found(r, query, options) {
  const reply = await r.ft.search("books", query, options);
  assert.equal(reply.total, reply.documents.length);
  return reply.documents.map(({ id }) => Number(id.slice("book:".length))).sort((a, b) => a - b);
}

async function queries(r) {
  await library(r);
  for (const [query, wanted] of [
    ["*", [1, 2, 3, 4]],
    ["winter", [1, 2]],
    ["winter road", [1]],
    ["winter | salt", [1, 2, 4]],
    ["@title:winter -road", [2]],
    ["roads", [1, 3]],
    ["@title:coo*", [2]],
    ["@title:*house*", [3]],
    ["@title:%sald%", [4]],
    ["@genre:{travel}", [1, 3]],
    ["@genre:{food|travel}", [1, 2, 3, 4]],
    ["@genre:{food} @genre:{history}", [4]],
    ["@pages:[100 (480]", [1, 2]],
    ["@price:[-inf 12.5]", [1, 3]],
    ["@price>20 @genre:{food}", [2, 4]],
    ["@place:[25 60 100 km]", [1]],
    ["ismissing(@genre)", []],
  ]) {
    assert.deepEqual(await found(r, query), wanted, query);
  }
  await assert.rejects(r.ft.search("books", "(winter"), /Syntax error/);
  await assert.rejects(r.ft.search("none", "*"), ErrorReply);
}

async function options(r) {
  await library(r);
  assert.deepEqual(await found(r, "roads", { VERBATIM: true }), [3]);
  assert.deepEqual(await found(r, "winter", { INKEYS: ["book:2", "book:3"] }), [2]);
  assert.deepEqual(await found(r, "winter", { INFIELDS: "title" }), [1, 2]);
  assert.deepEqual(await found(r, "winter", { TIMEOUT: 10_000 }), [1, 2]);
  assert.deepEqual(await found(r, "*", { FILTER: { field: "pages", min: 100, max: "(480" } }), [1, 2]);
  const near = { field: "place", lon: 25, lat: 60, radius: 100, unit: "km" };
  assert.deepEqual(await found(r, "*", { GEOFILTER: near }), [1]);
  assert.deepEqual(await found(r, "@title:($a|$b)", { PARAMS: { a: "salt", b: "cooking" } }), [2, 4]);
  assert.deepEqual(await found(r, "@pages:[$least +inf]", { PARAMS: { least: 310 } }), [1, 4]);
  const [book] = (await r.ft.search("books", "salt")).documents;
  assert.equal(book.id, "book:4");
  same(book.value, books[4]);
  const ask = (more) => r.ft.search("books", "salt", more);
  same((await ask({ RETURN: ["pages", "absent"] })).documents, [{ id: "book:4", value: { pages: "480" } }]);
  same((await ask({ RETURN: ["pages", "AS", "length"] })).documents, [{ id: "book:4", value: { length: "480" } }]);
  same((await ask({ RETURN: [] })).documents, [{ id: "book:4", value: {} }]);
  const keys = await r.ft.searchNoContent("books", "winter", { SORTBY: "pages" });
  same([keys.total, keys.documents], [2, ["book:2", "book:1"]]);
  const page = async (by, from, size) => {
    const reply = await r.ft.search("books", "*", { SORTBY: by, LIMIT: { from, size }, RETURN: ["pages"] });
    return [reply.total, ...reply.documents.map(({ id }) => id)];
  };
  assert.deepEqual(await page("pages", 0, 2), [4, "book:3", "book:2"]);
  assert.deepEqual(await page({ BY: "pages", DIRECTION: "DESC" }, 1, 2), [4, "book:1", "book:2"]);
  assert.deepEqual(await page({ BY: "title", DIRECTION: "ASC" }, 0, 9), [4, "book:4", "book:3", "book:1", "book:2"]);
  assert.deepEqual(await page("pages", 0, 0), [4]);
  const sorted = await r.ft.search("books", "winter", { SORTBY: "pages", WITHSORTKEYS: true, RETURN: ["pages"] });
  same(sorted.documents.map(({ sortKey }) => sortKey), ["#120", "#310"]);
}

async function changes(r) {
  await library(r);
  await r.hSet("book:2", "title", "Summer Cooking");
  assert.deepEqual(await found(r, "winter"), [1]);
  await r.del("book:1");
  assert.deepEqual(await found(r, "winter"), []);
  await r.multi().hSet("book:5", { title: "winter five" }).hSet("book:6", { title: "winter six" }).exec();
  assert.deepEqual(await found(r, "winter"), [5, 6]);
  assert.deepEqual(await found(r, "ismissing(@genre)"), [5, 6]);
  await r.pExpire("book:5", 50);
  await until(async () => (await r.exists("book:5")) === 0);
  assert.deepEqual(await found(r, "winter"), [6]);
  // Requests of one turn are sent at once, and each sees those before it.
  const [, , reply] = await Promise.all([
    r.hSet("book:7", { title: "winter seven" }), r.hDel("book:6", "title"), r.ft.search("books", "winter"),
  ]);
  same(reply.documents, [{ id: "book:7", value: { title: "winter seven" } }]);
}

async function declarations(r) {
  await library(r);
  const info = await r.ft.info("books");
  assert.equal(info.index_name, "books");
  assert.equal(Number(info.num_docs), 4);
  assert.equal(Number(info.percent_indexed), 1);
  same(info.index_options, []);
  const definition = plain(info.index_definition);
  assert.equal(definition.key_type, "HASH");
  assert.deepEqual(definition.prefixes, ["book:"]);
  assert.deepEqual(plain(info.attributes).map(({ attribute, type }) => [attribute, type]), [
    ["title", "TEXT"], ["genre", "TAG"], ["pages", "NUMERIC"], ["price", "NUMERIC"], ["place", "GEO"],
  ]);
  assert.equal(Number(info.cursor_stats.index_total), 0);
  same([...(await r.ft._list())], ["books"]);
  same([...(await r.ft.tagVals("books", "genre"))].sort(), ["food", "history", "travel"]);
  assert.equal(await r.ft.alter("books", { author: { type: "TEXT", NOSTEM: true } }), "OK");
  await r.hSet("book:1", "author", "Virtanen");
  assert.deepEqual(await found(r, "@author:virtanen"), [1]);
  await assert.rejects(r.ft.create("books", schema), /already exists/);
  assert.equal(await r.ft.aliasAdd("shelf", "books"), "OK");
  assert.equal((await r.ft.search("shelf", "winter")).total, 2);
  await assert.rejects(r.ft.aliasAdd("shelf", "books"), /already exists/);
  const terse = { PREFIX: ["other:", "more:"], STOPWORDS: ["the"], NOOFFSETS: true, NOFREQS: true };
  assert.equal(await r.ft.create("others", { title: "TEXT" }, terse), "OK");
  await until(async () => Number((await r.ft.info("others")).indexing) === 0);
  assert.equal(await r.ft.aliasUpdate("shelf", "others"), "OK");
  assert.equal((await r.ft.search("shelf", "winter")).total, 1);
  assert.equal(await r.ft.aliasDel("shelf"), "OK");
  await assert.rejects(r.ft.search("shelf", "*"), ErrorReply);
  assert.match(await r.ft.explain("books", "@pages:[1 2]"), /NUMERIC \{1\.000000 <= @pages <= 2\.000000\}/);
  assert.ok((await r.ft.explainCli("books", "@pages:[1 2]")).join("\n").includes("NUMERIC {1.000000"));
  assert.ok(Number((await r.ft.configGet("TIMEOUT")).TIMEOUT) >= 0);
  assert.equal(await r.ft.dropIndex("others"), "OK");
  assert.equal(await r.hGet("other:1", "title"), "The Winter Road");
  assert.equal(await r.ft.dropIndex("books", { DD: true }), "OK");
  await until(async () => (await r.exists(["book:1", "book:2", "book:3", "book:4"])) === 0);
  await assert.rejects(r.ft.info("books"), ErrorReply);
}

async function aggregations(r) {
  await library(r);
  const run = async (query, ...steps) => plain((await r.ft.aggregate("books", query, { STEPS: steps })).results);
  const sum = { type: "SUM", property: "@price", AS: "sum" };
  const average = { type: "AVG", property: "@pages", AS: "average" };
  assert.deepEqual(await run("*", { type: "GROUPBY", REDUCE: [sum, average] }), [{ sum: "71.5", average: "250" }]);
  // Each book is long or short: 310 and 480 pages, 120 and 90.
  const classes = { type: "APPLY", expression: "@pages >= 300", AS: "is_long" };
  const ofPages = ["COUNT_DISTINCT", "COUNT_DISTINCTISH", "MIN", "MAX", "STDDEV", "TOLIST"];
  const reduced = [{ type: "COUNT", AS: "COUNT" }, ...ofPages.map((type) => ({ type, property: "@pages", AS: type }))];
  const first = { type: "FIRST_VALUE", property: "@price", BY: { property: "@pages", direction: "DESC" }, AS: "first" };
  const sample = { type: "RANDOM_SAMPLE", property: "@pages", sampleSize: 1, AS: "sample" };
  const groups = await run("*", classes, { type: "GROUPBY", properties: "@is_long", REDUCE: [...reduced, first, sample] },
    { type: "SORTBY", BY: { BY: "@is_long", DIRECTION: "DESC" } });
  for (const [index, isLong, pages, price] of [[0, "1", ["310", "480"], "21"], [1, "0", ["90", "120"], "30"]]) {
    const { TOLIST, STDDEV, sample: drawn, ...group } = groups[index];
    assert.deepEqual([...TOLIST].sort((a, b) => a - b), pages);
    assert.ok(Math.abs(Number(STDDEV) - (pages[1] - pages[0]) / Math.sqrt(2)) < 1e-6, STDDEV);
    assert.ok(drawn.length === 1 && pages.includes(drawn[0]), drawn);
    const [MIN, MAX] = pages;
    assert.deepEqual(group, {
      is_long: isLong, COUNT: "2", COUNT_DISTINCT: "2", COUNT_DISTINCTISH: "2", MIN, MAX, first: price,
    });
  }
  const median = { type: "QUANTILE", property: "@pages", quantile: 0.5, AS: "median" };
  assert.deepEqual(await run("@genre:{history|travel}", { type: "GROUPBY", REDUCE: median }), [{ median: "310" }]);
  const [second, ...none] = await run("winter", { type: "APPLY", expression: "upper(@title)", AS: "loud" },
    { type: "SORTBY", BY: "@pages" }, { type: "LIMIT", from: 1, size: 1 });
  assert.deepEqual([second.loud, second.pages, none], ["THE WINTER ROAD", "310", []]);
  const loaded = await r.ft.aggregate("books", "salt", { LOAD: ["@price", { identifier: "@genre", AS: "kind" }] });
  same(loaded.results, [{ price: "21", kind: "history,food" }]);
  same((await r.ft.aggregate("books", "salt", { LOAD: "*" })).results, [books[4]]);
  const filtered = { LOAD: "@price", STEPS: [{ type: "FILTER", expression: "@price > 25" }], PARAMS: { who: "food" } };
  same((await r.ft.aggregate("books", "@genre:{$who}", filtered)).results, [{ price: "30" }]);
  await assert.rejects(run("*", { type: "FILTER", expression: "@price >" }), /Syntax error/);
}

async function cursors(r) {
  await library(r);
  const pages = [];
  let reply = await r.ft.aggregateWithCursor("books", "*", { LOAD: "@pages", COUNT: 3, MAXIDLE: 60_000 });
  assert.equal(reply.results.length, 3);
  while (reply.results.length > 0) {
    pages.push(...reply.results.map((record) => Number(record.pages)));
    if (Number(reply.cursor) === 0) break;
    reply = await r.ft.cursorRead("books", reply.cursor, { COUNT: 2 });
  }
  assert.deepEqual(pages.sort((a, b) => a - b), [90, 120, 310, 480]);
  reply = await r.ft.aggregateWithCursor("books", "*", { LOAD: "@pages", COUNT: 1 });
  assert.equal(await r.ft.cursorDel("books", reply.cursor), "OK");
  await assert.rejects(r.ft.cursorRead("books", reply.cursor), ErrorReply);
  // Nothing to read: no cursor.
  reply = await r.ft.aggregateWithCursor("books", "nobody");
  same([reply.results, Number(reply.cursor)], [[], 0]);
}

async function refusals(r) {
  await library(r);
  const vector = { type: "VECTOR", ALGORITHM: "FLAT", TYPE: "FLOAT32", DIM: 2, DISTANCE_METRIC: "L2" };
  for (const field of [vector, { type: "GEOSHAPE" }, { type: "TEXT", PHONETIC: "dm:en" }]) {
    await assert.rejects(r.ft.create("refused", { field }), ErrorReply);
  }
  await assert.rejects(r.ft.create("refused", { "$.a": { type: "TEXT", AS: "a" } }, { ON: "JSON" }), ErrorReply);
  for (const refused of [{ SLOP: 1 }, { INORDER: true }, { HIGHLIGHT: true }, { SUMMARIZE: true }, { WITHSCORES: true }]) {
    await assert.rejects(r.ft.search("books", "winter", refused), ErrorReply, Object.keys(refused)[0]);
  }
  await assert.rejects(r.ft.search("books", '"winter road"'), ErrorReply);
  await assert.rejects(r.ft.sugAdd("suggestions", "winter", 1), ErrorReply);
  await assert.rejects(r.ft.spellCheck("books", "wintr"), ErrorReply);
  await assert.rejects(r.ft.dictAdd("words", "winter"), ErrorReply);
  await assert.rejects(r.ft.synUpdate("books", "group", "road"), ErrorReply);
  await assert.rejects(r.ft.profileSearch("books", "winter"), ErrorReply);
  same([...(await r.ft._list())], ["books"]);
}

async function main() {
  for (const protocol of [undefined, 2, 3]) {
    const r = createClient({ socket: { port }, ...(protocol && { RESP: protocol }) });
    await r.connect();
    const isBobbin = (await r.info("server")).includes("bobbin_version:");
    const steps = [queries, options, changes, declarations, aggregations, cursors];
    for (const step of isBobbin ? [...steps, refusals] : steps) {
      assert.equal(await r.flushAll(), "OK");
      await step(r);
    }
    r.destroy();
    console.log(`node-redis' search, protocol ${protocol ?? "not chosen"}: all steps done`);
  }
  process.exit(0);
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
