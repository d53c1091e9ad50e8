// Jedis' search API (ftSearch and its like) on Bobbin: hashes are found by their fields, as its documentation promises.
//
//     java SearchJedis.java PORT UNIX_SOCKET LOCKED_PORT
//
// The arguments are those of redis_py.py. All of it must hold against RediSearch 2.10.5 too, but for what Bobbin refuses; the
// redis-server that tests find has no FT.* commands.

import java.util.*;
import java.util.function.Supplier;
import java.util.stream.*;
import redis.clients.jedis.*;
import redis.clients.jedis.args.*;
import redis.clients.jedis.exceptions.*;
import redis.clients.jedis.search.*;
import redis.clients.jedis.search.aggr.*;
import redis.clients.jedis.search.schemafields.*;

class SearchClient {
    static JedisPooled r;

    static void is(Object wanted, Object got) {
        if (!Objects.deepEquals(wanted, got)) throw new AssertionError(got + " instead of " + wanted);
    }

    static void must(boolean condition, String what) {
        if (!condition) throw new AssertionError("not so: " + what);
    }

    /** The call must end in an error of the server that says `text`. */
    static void refused(String text, Supplier<?> call) {
        Object result;
        try {
            result = call.get();
        } catch (JedisDataException error) {
            must(error.getMessage().contains(text), error.getMessage() + " has " + text);
            return;
        }
        throw new AssertionError(result + " instead of an error with " + text);
    }

    /** Waits for what the server or the clock brings about. */
    static void until(Supplier<Boolean> condition) {
        for (int round = 0; round < 3000; round++) {
            if (condition.get()) return;
            try {
                Thread.sleep(10);
            } catch (InterruptedException stop) {
                break;
            }
        }
        throw new AssertionError("what was waited for did not happen");
    }

    static Map<String, String> shop(String name, String kind, int staff, String place) {
        return Map.of("name", name, "kind", kind, "staff", String.valueOf(staff), "place", place);
    }

    static final List<Map<String, String>> SHOPS = List.of(
        shop("Corner Bakery", "bread,cakes", 4, "13.40,52.52"),
        shop("Bakers and Sons", "bread", 12, "13.05,52.40"),
        shop("Cycle Corner", "bicycles", 2, "2.35,48.86"),
        shop("Grand Cycles", "Bicycles,tools", 30, "-0.13,51.51"));

    static void indexed(String index) {
        until(() -> String.valueOf(r.ftInfo(index).get("indexing")).equals("0"));
    }

    /** Half of the shops are there before the index is. */
    static void shops() {
        for (int shop = 0; shop < 2; shop++) r.hset("shop:" + shop, SHOPS.get(shop));
        is("OK", r.ftCreate("shops", FTCreateParams.createParams().on(IndexDataType.HASH).prefix("shop:"),
            TextField.of("name").weight(2).sortable(), TagField.of("kind").separator(','),
            NumericField.of("staff").sortable(), GeoField.of("place")));
        indexed("shops");
        for (int shop = 2; shop < 4; shop++) r.hset("shop:" + shop, SHOPS.get(shop));
        r.hset("other:9", SHOPS.get(0));
    }

    static List<Integer> numbers(SearchResult result) {
        return result.getDocuments().stream().map(one -> Integer.valueOf(one.getId().split(":")[1])).toList();
    }

    static List<Integer> found(String query, FTSearchParams params) {
        SearchResult result = r.ftSearch("shops", query, params);
        is(result.getTotalResults(), (long) result.getDocuments().size());
        return numbers(result).stream().sorted().toList();
    }

    static List<Integer> found(String query) {
        return found(query, FTSearchParams.searchParams());
    }

    static void queries() {
        shops();
        is(List.of(0, 1, 2, 3), found("*"));
        is(List.of(0, 2), found("corner"));
        is(List.of(0), found("corner bakery"));
        is(List.of(0, 2, 3), found("bakery | cycles"));
        is(List.of(2), found("@name:(corner -bakery)"));
        is(List.of(0, 1), found("@name:bake*"));
        is(List.of(2, 3), found("@kind:{bicycles}"));
        is(List.of(0), found("@kind:{bread} @kind:{cakes}"));
        is(List.of(0, 1, 3), found("@kind:{bread|tools}"));
        is(List.of(0, 1), found("@staff:[4 (30]"));
        is(List.of(0, 1), found("@place:[13.4 52.5 50 km]"));
        is(List.of(2, 3), found("-@kind:{bread}"));
        refused("Syntax error", () -> r.ftSearch("shops", "(corner"));
        refused("", () -> r.ftSearch("none", "*"));
    }

    static void options() {
        shops();
        Supplier<FTSearchParams> params = FTSearchParams::searchParams;
        is(List.of(0, 1), found("*", params.get().filter("staff", 4, 12)));
        is(List.of(1), found("*", params.get().filter("staff", 4, true, 30, true)));
        is(List.of(0, 1), found("*", params.get().geoFilter("place", 13.4, 52.5, 50, GeoUnit.KM)));
        is(List.of(2), found("corner", params.get().inKeys("shop:2", "shop:3")));
        is(List.of(0, 2), found("corner", params.get().inFields("name").timeout(10_000)));
        is(List.of(3), found("cycles", params.get().verbatim()));
        is(List.of(0, 2), found("@kind:{$kind} | @staff:[$few $few]",
            params.get().addParam("kind", "cakes").addParam("few", 2).dialect(2)));
        is(List.of(2, 0, 1, 3), numbers(r.ftSearch("shops", "*", params.get().sortBy("staff", SortingOrder.ASC))));
        is(List.of(1, 0), numbers(r.ftSearch("shops", "*",
            params.get().sortBy("staff", SortingOrder.DESC).limit(1, 2))));
        is(List.of(1, 0, 2, 3), numbers(r.ftSearch("shops", "*", params.get().sortBy("name", SortingOrder.ASC))));
        is(4L, r.ftSearch("shops", "*", params.get().limit(0, 0)).getTotalResults());
        Document whole = r.ftSearch("shops", "sons").getDocuments().get(0);
        for (Map.Entry<String, String> field : SHOPS.get(1).entrySet()) is(field.getValue(), whole.get(field.getKey()));
        Document part = r.ftSearch("shops", "sons", params.get().returnFields("staff")).getDocuments().get(0);
        is("12", part.getString("staff"));
        must(!part.hasProperty("name"), "only what is named is returned");
        FieldName renamed = FieldName.of("staff").as("people");
        is("12", r.ftSearch("shops", "sons", params.get().returnFields(renamed)).getDocuments().get(0).get("people"));
        is("shop:1", r.ftSearch("shops", "sons", params.get().noContent()).getDocuments().get(0).getId());
    }

    static void changes() {
        shops();
        r.hset("shop:0", "name", "Pharmacy");
        is(List.of(2), found("corner"));
        r.del("shop:2");
        is(List.of(), found("corner"));
        try (AbstractTransaction transaction = r.multi()) {
            transaction.hset("shop:5", Map.of("name", "corner five"));
            transaction.hset("shop:6", Map.of("name", "corner six"));
            transaction.exec();
        }
        is(List.of(5, 6), found("corner"));
        r.pexpire("shop:5", 50);
        until(() -> !r.exists("shop:5"));
        is(List.of(6), found("corner"));
    }

    @SuppressWarnings("unchecked")
    static void declarations() {
        shops();
        Map<String, Object> info = r.ftInfo("shops");
        is("shops", info.get("index_name"));
        is("4", String.valueOf(info.get("num_docs")));
        is(4, ((List<Object>) info.get("attributes")).size());
        is(Set.of("shops"), r.ftList());
        is(Set.of("bread", "cakes", "bicycles", "tools"), r.ftTagVals("shops", "kind"));
        is("OK", r.ftAlter("shops", TagField.of("city").caseSensitive(), TextField.of("owner").noStem()));
        r.hset("shop:0", Map.of("city", "Berlin", "owner", "Weber"));
        is(List.of(0), found("@city:{Berlin} @owner:weber"));
        is(List.of(), found("@city:{berlin}"));
        refused("already exists", () -> r.ftCreate("shops", TextField.of("name")));
        is("OK", r.ftCreate("others", FTCreateParams.createParams().addPrefix("other:").noStopwords().noOffsets()
            .noFreqs().language("english").filter("@staff < 10"), TextField.of("name")));
        indexed("others");
        is("OK", r.ftAliasAdd("places", "shops"));
        is(4L, r.ftSearch("places", "*").getTotalResults());
        refused("already exists", () -> r.ftAliasAdd("places", "others"));
        is("OK", r.ftAliasUpdate("places", "others"));
        is(1L, r.ftSearch("places", "*").getTotalResults());
        is("OK", r.ftAliasDel("places"));
        refused("", () -> r.ftSearch("places", "*"));
        String plan = r.ftExplain("shops", new Query("@staff:[1 2]"));
        must(plan.contains("NUMERIC {1.000000 <= @staff <= 2.000000}"), plan);
        must(r.ftExplainCLI("shops", new Query("@staff:[1 2]")).toString().contains("NUMERIC {1.000000"), "lines");
        must(r.ftConfigGet("TIMEOUT").containsKey("TIMEOUT"), "the option is there");
        is("OK", r.ftDropIndex("others"));
        is("Corner Bakery", r.hget("other:9", "name"));
        is("OK", r.ftDropIndexDD("shops"));
        until(() -> r.exists("shop:0", "shop:1", "shop:2", "shop:3") == 0);
        is(Set.of(), r.ftList());
    }

    static void aggregations() {
        shops();
        AggregationBuilder byKind = new AggregationBuilder("@kind:{bread|bicycles}")
            .apply("@staff >= 10", "is_large")
            .groupBy("@is_large", Reducers.count().as("n"), Reducers.sum("@staff").as("sum"),
                Reducers.avg("@staff").as("avg"), Reducers.min("@staff").as("min"), Reducers.max("@staff").as("max"),
                Reducers.count_distinct("@name").as("names"), Reducers.to_list("@staff").as("list"),
                Reducers.first_value("@staff", SortedField.desc("@staff")).as("first"))
            .sortBy(SortedField.desc("@is_large"));
        AggregationResult groups = r.ftAggregate("shops", byKind);
        Row large = groups.getRow(0), small = groups.getRow(1);
        is(List.of(1L, 2L, 42L, 30L), Stream.of("is_large", "n", "sum", "first").map(large::getLong).toList());
        is(List.of(0L, 2L, 6L, 4L), Stream.of("is_large", "n", "sum", "first").map(small::getLong).toList());
        is(List.of(21.0, 12.0, 30.0, 2.0), Stream.of("avg", "min", "max", "names").map(large::getDouble).toList());
        is(Set.of("12", "30"), new HashSet<>((List<?>) large.get("list")));
        AggregationBuilder median = new AggregationBuilder("@staff:[-inf 12]")
            .groupBy(List.of(), List.of(Reducers.quantile("@staff", 0.5).as("median"), Reducers.stddev("@staff").as("deviation")));
        Row middle = r.ftAggregate("shops", median).getRow(0);
        is(4L, middle.getLong("median"));
        must(Math.abs(middle.getDouble("deviation") - Math.sqrt(28)) < 1e-9, "of 2, 4 and 12: " + middle);
        AggregationBuilder some = new AggregationBuilder().load("@name", "@staff").filter("@staff > 3")
            .apply("upper(@name)", "loud").sortBy(2, SortedField.asc("@staff"));
        is(List.of("CORNER BAKERY", "BAKERS AND SONS"),
            r.ftAggregate("shops", some).getRows().stream().map(row -> row.getString("loud")).toList());
        Map<String, Object> everything = r.ftAggregate("shops", new AggregationBuilder("sons").loadAll()).getResults().get(0);
        is(SHOPS.get(1), everything);
        AggregationBuilder named = new AggregationBuilder("@kind:{$kind}").load("@staff").limit(0, 5)
            .params(Map.of("kind", "cakes")).dialect(2).timeout(10_000);
        is(List.of(Map.of("staff", "4")), r.ftAggregate("shops", named).getResults());
        // A cursor, read to its end; and one that is deleted.
        AggregationBuilder read = new AggregationBuilder().load("@staff").cursor(3, 60_000);
        AggregationResult page = r.ftAggregate("shops", read);
        is(3, page.getRows().size());
        List<Long> staff = new ArrayList<>(page.getRows().stream().map(row -> row.getLong("staff")).toList());
        while (page.getCursorId() != 0) {
            page = r.ftCursorRead("shops", page.getCursorId(), 1);
            for (Row row : page.getRows()) staff.add(row.getLong("staff"));
        }
        Collections.sort(staff);
        is(List.of(2L, 4L, 12L, 30L), staff);
        long cursor = r.ftAggregate("shops", new AggregationBuilder().cursor(1)).getCursorId();
        is("OK", r.ftCursorDel("shops", cursor));
        refused("", () -> r.ftCursorRead("shops", cursor, 1));
        int seen = 0;
        AggregationBuilder all = new AggregationBuilder().load("@staff").cursor(1, 60_000);
        FtAggregateIteration pages = r.ftAggregateIteration("shops", all);
        while (!pages.isIterationCompleted()) seen += pages.nextBatch().getRows().size();
        is(4, seen);
    }

    static void refusals() {
        shops();
        Map<String, Object> vector = Map.of("TYPE", "FLOAT32", "DIM", 2, "DISTANCE_METRIC", "L2");
        refused("", () -> r.ftCreate("refused", new VectorField("v", VectorField.VectorAlgorithm.FLAT, vector)));
        refused("", () -> r.ftCreate("refused", new GeoShapeField("g", GeoShapeField.CoordinateSystem.FLAT)));
        refused("", () -> r.ftCreate("refused", TextField.of("t").phonetic("dm:en")));
        refused("", () -> r.ftCreate("refused", FTCreateParams.createParams().on(IndexDataType.JSON), TextField.of("$.a").as("a")));
        refused("", () -> r.ftSearch("shops", "\"corner bakery\""));
        for (FTSearchParams params : List.of(FTSearchParams.searchParams().slop(1), FTSearchParams.searchParams().inOrder(),
                FTSearchParams.searchParams().highlight(), FTSearchParams.searchParams().summarize(),
                FTSearchParams.searchParams().withScores())) {
            refused("", () -> r.ftSearch("shops", "corner", params));
        }
        refused("", () -> r.ftSugAdd("suggestions", "corner", 1));
        refused("", () -> r.ftSpellCheck("shops", "cornr"));
        refused("", () -> r.ftDictAdd("words", "corner"));
        refused("", () -> r.ftSynUpdate("shops", "group", "corner"));
        is(Set.of("shops"), r.ftList());
    }

    public static void main(String[] arguments) {
        HostAndPort address = new HostAndPort("127.0.0.1", Integer.parseInt(arguments[0]));
        for (RedisProtocol protocol : new RedisProtocol[] {null, RedisProtocol.RESP3}) {
            r = new JedisPooled(address,
                DefaultJedisClientConfig.builder().protocol(protocol).socketTimeoutMillis(20_000).build());
            List<Runnable> steps = new ArrayList<>(List.of(SearchClient::queries, SearchClient::options,
                SearchClient::changes, SearchClient::declarations, SearchClient::aggregations));
            if (r.info("server").contains("bobbin_version:")) steps.add(SearchClient::refusals);
            for (Runnable step : steps) {
                is("OK", r.flushAll());
                step.run();
            }
            r.close();
            System.out.println("Jedis' search, protocol " + (protocol == null ? "not chosen" : protocol) + ": all steps done");
        }
        System.exit(0);
    }
}
