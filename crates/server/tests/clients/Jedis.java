// Jedis in ordinary use: what its documentation promises must hold against Bobbin.
//
//     java Jedis.java PORT UNIX_SOCKET LOCKED_PORT
//
// The arguments and the line "restart please" are those of redis_py.py; Jedis knows no sockets with a path. As there, all of
// it must hold against redis-server too, but for what is behind `since`.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Supplier;
import redis.clients.jedis.*;
import redis.clients.jedis.args.*;
import redis.clients.jedis.exceptions.*;
import redis.clients.jedis.params.*;
import redis.clients.jedis.resps.*;

class Client {
    static int port, lockedPort;
    static BufferedReader answers = new BufferedReader(new InputStreamReader(System.in));
    static byte[] allBytes = new byte[256];
    static String server; // what INFO reports

    static {
        for (int at = 0; at < 256; at++) allBytes[at] = (byte) at;
    }

    static void is(Object wanted, Object got) {
        if (!Objects.deepEquals(wanted, got)) throw new AssertionError(got + " instead of " + wanted);
    }

    static void must(boolean condition, String what) {
        if (!condition) throw new AssertionError("not so: " + what);
    }

    /** The call must end in an error that says `text`. */
    static void refused(String text, Supplier<?> call) {
        Object result;
        try {
            result = call.get();
        } catch (JedisException error) {
            must(error.getMessage().contains(text), error.getMessage() + " has " + text);
            return;
        }
        throw new AssertionError(result + " instead of an error with " + text);
    }

    /** Waits for what another connection or the clock brings about. */
    static void until(Supplier<Boolean> condition) throws InterruptedException {
        for (int round = 0; round < 3000; round++) {
            if (condition.get()) return;
            Thread.sleep(10);
        }
        throw new AssertionError("what was waited for did not happen");
    }

    /** Whether the server is one of that version of Redis, or newer, or promises its replies. */
    static boolean since(int major, int minor) {
        String[] has = server.split("redis_version:")[1].split("[.\r]");
        int[] version = {Integer.parseInt(has[0]), Integer.parseInt(has[1])};
        return version[0] > major || version[0] == major && version[1] >= minor;
    }

    static HostAndPort at(int port) {
        return new HostAndPort("127.0.0.1", port);
    }

    static DefaultJedisClientConfig.Builder config(RedisProtocol protocol) {
        return DefaultJedisClientConfig.builder().protocol(protocol).socketTimeoutMillis(20_000);
    }

    static void connects(RedisProtocol protocol) {
        try (Jedis named = new Jedis(at(port), config(protocol).clientName("a-name").database(1).build())) {
            is("PONG", named.ping());
            is("a-name", named.clientGetname());
            must(named.clientInfo().contains(" db=1 "), "the database is chosen");
            server = named.info("server");
            if (since(7, 2)) must(named.clientInfo().contains("lib-name=jedis"), named.clientInfo());
            is(Map.of("port", String.valueOf(port)), named.configGet("port"));
            must(Math.abs(Long.parseLong(named.time().get(0)) * 1000 - System.currentTimeMillis()) < 3_600_000, "the clocks agree");
            is(List.of("a", "b"), named.commandGetKeys("MSET", "a", "1", "b", "2"));
            is("get", named.commandInfo("get").values().iterator().next().getName());
            refused("out of range", () -> named.select(99_999));
        }
    }

    static void texts(JedisPooled r) throws InterruptedException {
        is("OK", r.set(allBytes, allBytes));
        is(allBytes, r.get(allBytes));
        is(null, r.get("missing"));
        is("OK", r.set("k", "v", new SetParams().nx().ex(100)));
        is(null, r.set("k", "w", new SetParams().nx()));
        must(r.ttl("k") > 90, "it has a time");
        is(1L, r.persist("k"));
        is(-1L, r.pttl("k"));
        is("v", r.setGet("k", "w"));
        is("w", r.getEx("k", new GetExParams().ex(100)));
        is("OK", r.mset("a", "1", "b", "2.5"));
        is(Arrays.asList("1", null, "2.5"), r.mget("a", "missing", "b"));
        is(42L, r.incrBy("a", 41));
        is(42.5, r.incrByFloat("a", 0.5));
        refused("not an integer", () -> r.incr("a"));
        is("wise", r.append("b", "wise") == 7 ? r.getrange("b", 3, -1) : null);
        is("2.5wise", r.getDel("b"));
        is(1L, r.del("a", "missing"));
        is("OK", r.psetex("short", 30, "v"));
        until(() -> r.get("short") == null);
        is("OK", r.mset("one", "ohmytext", "two", "mynewtext"));
        is("mytext", r.lcs("one", "two", LCSParams.LCSParams()).getMatchString());
        is(2, r.lcs("one", "two", LCSParams.LCSParams().idx()).getMatches().size());
        refused("WRONGTYPE", () -> r.lpush("k", "a"));
        refused("unknown command", () -> r.sendCommand(() -> "NONSENSE".getBytes(StandardCharsets.US_ASCII), "a"));
        byte[] big = new byte[10 << 20];
        for (int at = 0; at < big.length; at++) big[at] = (byte) (at % 251);
        is("OK", r.set("big".getBytes(), big));
        is(big, r.get("big".getBytes()));
    }

    static void lists(JedisPooled r) {
        is(3L, r.rpush("l", "a", "b", "c"));
        is(4L, r.lpush("l", "z"));
        is(List.of("z", "a", "b", "c"), r.lrange("l", 0, -1));
        is(5L, r.linsert("l", ListPosition.BEFORE, "b", "x"));
        is(1L, r.lrem("l", 0, "x"));
        is(List.of(2L), r.lpos("l", "b", new LPosParams(), 0));
        is("z", r.lmove("l", "m", ListDirection.LEFT, ListDirection.RIGHT));
        is(List.of("a", "b"), r.lpop("l", 2));
        is(List.of("c"), r.lmpop(ListDirection.LEFT, 5, "missing", "l").getValue());
        is(null, r.lmpop(ListDirection.LEFT, "missing"));
    }

    static void hashes(JedisPooled r) {
        is(3L, r.hset("h", Map.of("name", "build", "tries", "3", "share", "0.25")));
        is(Map.of("name", "build", "tries", "3", "share", "0.25"), r.hgetAll("h"));
        is(Map.of(), r.hgetAll("missing"));
        is(Arrays.asList("build", null), r.hmget("h", "name", "missing"));
        is(5L, r.hincrBy("h", "tries", 2));
        is(0.75, r.hincrByFloat("h", "share", 0.5));
        is(1L, r.hdel("h", "name", "missing"));
        is(Set.of("tries", "share"), r.hkeys("h"));
        is(2, r.hrandfieldWithValues("h", 5).size());
        if (since(7, 4)) {
            is(List.of(1L, -2L), r.hexpire("h", 3600, "tries", "missing"));
            must(r.httl("h", "tries").get(0) > 3500, "a field has a time");
        }
        Map<String, String> fields = new HashMap<>(), found = new HashMap<>();
        for (int at = 0; at < 1000; at++) fields.put("field:" + at, String.valueOf(at));
        is(1000L, r.hset("many", fields));
        String cursor = ScanParams.SCAN_POINTER_START;
        do {
            ScanResult<Map.Entry<String, String>> page = r.hscan("many", cursor, new ScanParams().match("field:*").count(100));
            page.getResult().forEach(entry -> found.put(entry.getKey(), entry.getValue()));
            cursor = page.getCursor();
        } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
        is(fields, found);
    }

    static void sets(JedisPooled r) {
        is(3L, r.sadd("s", "x", "y", "1", "x"));
        is(Set.of("x", "y", "1"), r.smembers("s"));
        is(List.of(true, false), r.smismember("s", "x", "z"));
        is(2L, r.sadd("t", "y", "z"));
        is(Set.of("y"), r.sinter("s", "t"));
        is(1L, r.sintercard("s", "t"));
        is(4L, r.sunionstore("u", "s", "t"));
        is(Set.of("z"), r.sdiff("t", "s"));
        is(1L, r.smove("s", "t", "x"));
        is(Set.of("x", "y", "z"), r.spop("t", 5));
        is(null, r.spop("t"));
    }

    static void sortedSets(JedisPooled r) {
        is(3L, r.zadd("z", Map.of("a", 1.0, "b", 2.5, "c", 2.5)));
        is(List.of(new Tuple("a", 1.0), new Tuple("b", 2.5), new Tuple("c", 2.5)), r.zrangeWithScores("z", 0, -1));
        is(List.of("c", "b"), r.zrange("z", ZRangeParams.zrangeByScoreParams(3, 2).rev()));
        is(1L, r.zadd("z", Map.of("a", 9.0, "b", 1.0), new ZAddParams().gt().ch()));
        is(9.0, r.zscore("z", "a"));
        is(null, r.zscore("z", "missing"));
        is(Arrays.asList(9.0, null), r.zmscore("z", "a", "missing"));
        is(2L, r.zrank("z", "a"));
        is(3.5, r.zincrby("z", 1, "b"));
        is(2L, r.zcount("z", "-inf", "(9"));
        is(new Tuple("c", 2.5), r.zpopmin("z"));
        is(List.of(new Tuple("a", 9.0)), r.zpopmax("z", 1));
        is(2L, r.zadd("y", Map.of("b", 10.0, "d", Double.POSITIVE_INFINITY)));
        is(List.of(new Tuple("b", 13.5), new Tuple("d", Double.POSITIVE_INFINITY)), r.zunionWithScores(new ZParams(), "z", "y"));
        is(List.of("b"), r.zinter(new ZParams(), "z", "y"));
        is(List.of(new Tuple("d", Double.POSITIVE_INFINITY)), r.zmpop(SortedSetOption.MAX, "missing", "y").getValue());
        is(new Tuple("b", 3.5), r.bzpopmin(1, "missing", "z").getValue());
        is(null, r.bzpopmin(0.01, "missing"));
    }

    static void streams(JedisPooled r) throws Exception {
        List<StreamEntryID> ids = new ArrayList<>();
        for (int at = 0; at < 10; at++) ids.add(r.xadd("x", StreamEntryID.NEW_ENTRY, Map.of("n", String.valueOf(at))));
        is(10L, r.xlen("x"));
        is(ids.get(9), r.xrevrange("x", StreamEntryID.MAXIMUM_ID, StreamEntryID.MINIMUM_ID, 1).get(0).getID());
        is(Map.of("n", "3"), r.xrange("x", ids.get(3), ids.get(3)).get(0).getFields());
        CompletableFuture<List<Map.Entry<String, List<StreamEntry>>>> heard = CompletableFuture.supplyAsync(() ->
            r.xread(new XReadParams().block(15_000), Map.of("x", StreamEntryID.XREAD_NEW_ENTRY)));
        until(() -> r.info("clients").contains("blocked_clients:1"));
        StreamEntryID next = r.xadd("x", StreamEntryID.NEW_ENTRY, Map.of("n", "next"));
        is(next, heard.get().get(0).getValue().get(0).getID());
        is("OK", r.xgroupCreate("x", "g", new StreamEntryID("0-0"), false));
        refused("BUSYGROUP", () -> r.xgroupCreate("x", "g", new StreamEntryID("0-0"), false));
        List<StreamEntry> mine = r.xreadGroup("g", "me", new XReadGroupParams().count(3),
            Map.of("x", StreamEntryID.XREADGROUP_UNDELIVERED_ENTRY)).get(0).getValue();
        is(ids.subList(0, 3), mine.stream().map(StreamEntry::getID).toList());
        is(1L, r.xack("x", "g", ids.get(0)));
        is(2L, r.xpending("x", "g").getTotal());
        is(1L, r.xpending("x", "g", new XPendingParams().start(StreamEntryID.MINIMUM_ID).end(StreamEntryID.MAXIMUM_ID).count(9))
            .get(1).getDeliveredTimes());
        is(ids.get(1), r.xclaim("x", "g", "other", 0, new XClaimParams(), ids.get(1)).get(0).getID());
        is(List.of(ids.get(1), ids.get(2)), r.xautoclaimJustId("x", "g", "third", 0, new StreamEntryID("0-0"),
            new XAutoClaimParams()).getValue());
        is(11L, r.xinfoStream("x").getLength());
        is(2L, r.xinfoGroups("x").get(0).getPending());
        is(3, r.xinfoConsumers2("x", "g").size());
        is(1L, r.xdel("x", ids.get(0)));
        is(5L, r.xtrim("x", 5, false));
        is(1L, r.xgroupDestroy("x", "g"));
    }

    static void scripts(JedisPooled r) {
        String take = "if redis.call('GET', KEYS[1]) < ARGV[1] then return {err = 'EMPTY nothing is left'} end\n"
            + "return {redis.call('DECRBY', KEYS[1], ARGV[1]), 'taken'}";
        is("OK", r.set("stock", "9"));
        is(List.of(6L, "taken"), r.eval(take, List.of("stock"), List.of("3")));
        String sha = r.scriptLoad(take);
        is(List.of(true, false), r.scriptExists(List.of(sha, "0".repeat(40))));
        is(List.of(3L, "taken"), r.evalsha(sha, 1, "stock", "3"));
        refused("EMPTY nothing is left", () -> r.evalsha(sha, 1, "stock", "9"));
        is("3", r.evalReadonly("return redis.call('GET', KEYS[1])", List.of("stock"), List.of()));
        is("OK", r.scriptFlush());
        refused("NOSCRIPT", () -> r.evalsha(sha, 1, "stock", "1"));
    }

    static void bits(JedisPooled r) {
        is(false, r.setbit("b", 7, true));
        is(true, r.getbit("b", 7));
        is("OK", r.set("c".getBytes(), new byte[] {-1, 15}));
        is(12L, r.bitcount("c"));
        is(6L, r.bitcount("c", 2, 11, BitCountOption.BIT));
        is(2L, r.bitop(BitOP.AND, "d", "b", "c"));
        is(8L, r.bitpos("c", false));
        is(List.of(0L, 15L), r.bitfield("d", "SET", "u8", "8", "15", "GET", "u4", "12"));
        is(1L, r.pfadd("p", "a", "b"));
        is(2L, r.pfcount("p"));
    }

    static void pipelines(JedisPooled r) {
        try (AbstractPipeline pipe = r.pipelined()) {
            List<Response<Long>> replies = new ArrayList<>();
            for (int at = 0; at < 5000; at++) replies.add(pipe.rpush("l", String.valueOf(at)));
            pipe.sync();
            for (int at = 0; at < 5000; at++) is(at + 1L, replies.get(at).get());
            Response<String> good = pipe.set("k", "v");
            Response<Long> bad = pipe.lpush("k", "a");
            Response<Map<String, String>> none = pipe.hgetAll("missing");
            pipe.sync();
            is("OK", good.get());
            refused("WRONGTYPE", bad::get);
            is(Map.of(), none.get());
        }
    }

    static void transactions(JedisPooled r) throws Exception {
        try (AbstractTransaction change = r.multi()) {
            change.set("n", "1");
            Response<Long> sum = change.incrBy("n", 2);
            is(List.of("OK", 3L), change.exec());
            is(3L, sum.get());
        }
        try (AbstractTransaction change = r.transaction(false)) {
            change.watch("n");
            is("OK", r.set("n", "5"));
            change.multi();
            change.set("n", "0");
            is(null, change.exec());
        }
        is("5", r.get("n"));
        ExecutorService workers = Executors.newFixedThreadPool(4);
        List<Future<?>> ends = new ArrayList<>();
        for (int worker = 0; worker < 4; worker++) {
            ends.add(workers.submit(() -> {
                for (int done = 0; done < 50; ) {
                    try (AbstractTransaction change = r.transaction(false)) {
                        change.watch("n");
                        int n = Integer.parseInt(r.get("n"));
                        change.multi();
                        change.set("n", String.valueOf(n + 1));
                        if (change.exec() != null) done++;
                    }
                }
            }));
        }
        for (Future<?> end : ends) end.get();
        workers.shutdown();
        is("205", r.get("n"));
    }

    static void blocking(JedisPooled r) throws Exception {
        is(null, r.blpop(0.01, "missing"));
        CompletableFuture<String> first = CompletableFuture.supplyAsync(() -> r.blpop(20, "queue", "other").get(1));
        until(() -> r.info("clients").contains("blocked_clients:1"));
        is(2L, r.rpush("queue", "job", "next"));
        is("job", first.get());
        is("next", r.blmove("queue", "done", ListDirection.LEFT, ListDirection.RIGHT, 1));
        is(List.of("next"), r.lrange("done", 0, -1));
    }

    static void messages(JedisPooled r) throws Exception {
        BlockingQueue<List<String>> heard = new LinkedBlockingQueue<>();
        JedisPubSub listener = new JedisPubSub() {
            @Override
            public void onMessage(String channel, String text) {
                heard.add(List.of(channel, text));
            }

            @Override
            public void onPMessage(String pattern, String channel, String text) {
                heard.add(List.of(pattern, channel, text));
            }
        };
        Thread thread = new Thread(() -> r.subscribe(listener, "news"));
        thread.start();
        until(() -> r.publish("news", "first") == 1);
        listener.psubscribe("ne*");
        until(() -> r.publish("nebula", "") == 1);
        is(2L, r.publish("news", "ä✓"));
        is(List.of("news", "first"), heard.take());
        is(List.of("ne*", "nebula", ""), heard.take());
        is(Set.of(List.of("news", "ä✓"), List.of("ne*", "news", "ä✓")), Set.of(heard.take(), heard.take()));
        listener.unsubscribe();
        listener.punsubscribe();
        thread.join();
        is(0L, r.publish("news", "nobody"));
    }

    static void scans(JedisPooled r) {
        Set<String> names = new HashSet<>(), found = new HashSet<>();
        for (int at = 0; at < 1000; at++) names.add("scan:" + at);
        for (String name : names) is("OK", r.set(name, "v"));
        r.sadd("scan:set", "a");
        String cursor = ScanParams.SCAN_POINTER_START;
        do {
            ScanResult<String> page = r.scan(cursor, new ScanParams().match("scan:*").count(50), "string");
            found.addAll(page.getResult());
            cursor = page.getCursor();
        } while (!cursor.equals(ScanParams.SCAN_POINTER_START));
        is(names, found);
        is(1001L, r.dbSize());
    }

    static void ports(RedisProtocol protocol) {
        List<DefaultJedisClientConfig.Builder> wrong = List.of(config(protocol), config(protocol).password("wrong"),
            config(protocol).user("nobody").password("secret"));
        for (DefaultJedisClientConfig.Builder one : wrong) {
            refused(one == wrong.get(0) ? "NOAUTH" : "WRONGPASS", () -> {
                try (Jedis r = new Jedis(at(lockedPort), one.build())) {
                    return r.get("k");
                }
            });
        }
        try (Jedis r = new Jedis(at(lockedPort), config(protocol).user("default").password("secret").build())) {
            is("PONG", r.ping());
        }
        try (JedisPooled r = new JedisPooled("redis://:secret@127.0.0.1:" + lockedPort + "/2")) {
            is(null, r.get("k"));
        }
    }

    static void restart(JedisPooled r) throws Exception {
        is("OK", r.set("kept", "v"));
        System.out.println("restart please");
        is("done", answers.readLine());
        until(() -> {
            try {
                return "v".equals(r.get("kept"));
            } catch (JedisConnectionException gone) {
                return false; // one of the connections in the pool
            }
        });
    }

    interface Step {
        void run(JedisPooled r) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        port = Integer.parseInt(arguments[0]);
        lockedPort = Integer.parseInt(arguments[2]);
        for (RedisProtocol protocol : new RedisProtocol[] {null, RedisProtocol.RESP3}) {
            connects(protocol);
            JedisPooled r = new JedisPooled(at(port), config(protocol).build());
            List<Step> steps = List.of(Client::texts, Client::lists, Client::hashes, Client::sets, Client::sortedSets,
                Client::streams, Client::scripts, Client::bits, Client::pipelines, Client::transactions,
                Client::blocking, Client::messages, Client::scans);
            for (Step step : steps) {
                is("OK", r.flushAll());
                step.run(r);
            }
            ports(protocol);
            restart(r);
            r.close();
            System.out.println("Jedis, protocol " + (protocol == null ? "not chosen" : protocol) + ": all steps done");
        }
        System.exit(0);
    }
}
