"""redis-py's search API on Bobbin: hashes are found by their fields, as its documentation and RediSearch's promise.

    search_redis_py.py PORT UNIX_SOCKET LOCKED_PORT PARSER

The arguments and the line "restart please" are those of redis_py.py. All of it must hold against RediSearch 2.10.5 too, but for
what is behind `IS_BOBBIN`; the redis-server that tests find has no FT.* commands.
"""

import math
import sys
import time

PARSER = sys.argv[4]
if PARSER == "python":
    sys.modules["hiredis"] = None

import redis
from redis import Redis
from redis.commands.search import reducers
from redis.commands.search.aggregation import AggregateRequest, Asc, Desc
from redis.commands.search.field import GeoField, GeoShapeField, NumericField, TagField, TextField, VectorField
from redis.commands.search.index_definition import IndexDefinition, IndexType
from redis.commands.search.query import GeoFilter, NumericFilter, Query
from redis.exceptions import ResponseError
from waiting import until

PORT = int(sys.argv[1])
assert redis.utils.HIREDIS_AVAILABLE == (PARSER == "hiredis")
with Redis(port=PORT) as first:
    IS_BOBBIN = "bobbin_version" in first.info("server")

PLAYERS = {
    1: {"name": "Anna Stone", "clan": "red", "level": 12, "home": "13.40,52.52", "motto": "running and jumping"},
    2: {"name": "Hannah Hill", "clan": "red,gold", "level": 40, "home": "2.35,48.86", "motto": "never stop running"},
    3: {"name": "Bruno Stark", "clan": "blue", "level": 7, "home": "-0.13,51.51", "motto": "sleep well"},
    4: {"name": "Joanna Gold", "clan": "Blue Moon", "level": 40, "home": "13.05,52.40", "motto": "runs alone"},
    5: {"name": "Otto Stone", "clan": "", "level": 23, "home": "12.50,41.90"},
}
PLAYER_FIELDS = (
    TextField("name", sortable=True, withsuffixtrie=True),
    TagField("clan", index_empty=True),
    NumericField("level", sortable=True),
    GeoField("home"),
    TextField("motto", index_missing=True),
)

# A query, and the numbers of the players that match it.
QUERIES = [
    ("*", [1, 2, 3, 4, 5]),
    # Words: in any TEXT field, in one, in some; every one, any, none.
    ("stone", [1, 5]),
    ("STONE", [1, 5]),
    ("nobody", []),
    ("@name:stone", [1, 5]),
    ("@motto:stone", []),
    ("@name|motto:alone", [4]),
    ("@name:(anna stone)", [1]),
    ("@name:anna stone", [1]),
    ("@name:(stone gold)", []),
    ("@name:(stone|gold)", [1, 4, 5]),
    ("@name:(stone -anna)", [5]),
    ("-@name:stone", [2, 3, 4]),
    ("-(@name:stone | @name:hill)", [3, 4]),
    ("stone ~anna", [1, 5]),
    ("(stone) => { $weight: 2.0 }", [1, 5]),
    # Words of one stem; stop words.
    ("run", [1, 2, 4]),
    ("@motto:(the running)", [1, 2, 4]),
    ("and", []),
    # Beginnings, endings, middles, patterns, words that are almost the same.
    ("@name:st*", [1, 3, 5]),
    ("@name:*nna", [1, 4]),
    ("@name:*anna*", [1, 2, 4]),
    ("@name:w'?tt?'", [5]),
    ("@name:w'st*k'", [3]),
    ("@name:%stane%", [1, 5]),
    ("@name:%%hanoh%%", [2]),
    # Tags: whole values, folded.
    ("@clan:{red}", [1, 2]),
    ("@clan:{RED}", [1, 2]),
    ("@clan:{gold}", [2]),
    ("@clan:{blue}", [3]),
    ("@clan:{blue moon}", [4]),
    (r"@clan:{blue\ moon}", [4]),
    ('@clan:{"blue moon"}', [4]),
    ("@clan:{red | blue}", [1, 2, 3]),
    ("@clan:{red} @clan:{gold}", [2]),
    ("-@clan:{red}", [3, 4, 5]),
    ("@clan:{blue*}", [3, 4]),
    ("@clan:{*moon}", [4]),
    ("@clan:{*ol*}", [2]),
    ("@clan:{w'?ed'}", [1, 2]),
    ('@clan:{""}', [5]),
    # Numbers.
    ("@level:[12 40]", [1, 2, 4, 5]),
    ("@level:[(12 40]", [2, 4, 5]),
    ("@level:[(12 (40]", [5]),
    ("@level:[-inf 12]", [1, 3]),
    ("@level:[12 +inf]", [1, 2, 4, 5]),
    ("@level:[40]", [2, 4]),
    ("@level==40", [2, 4]),
    ("@level!=40", [1, 3, 5]),
    ("@level>12", [2, 4, 5]),
    ("@level>=12", [1, 2, 4, 5]),
    ("@level<12", [3]),
    ("@level<=12", [1, 3]),
    ("-@level:[12 40]", [3]),
    # Places.
    ("@home:[13.4 52.5 50 km]", [1, 4]),
    ("@home:[13.4 52.5 5000 m]", [1]),
    ("@home:[13.4 52.5 20 mi]", [1, 4]),
    # Fields that are not there.
    ("ismissing(@motto)", [5]),
    ("-ismissing(@motto)", [1, 2, 3, 4]),
    # Several conditions, and their union and difference.
    ("@clan:{red} @level:[20 +inf]", [2]),
    ("@clan:{red} | @level:[20 +inf]", [1, 2, 4, 5]),
    ("@clan:{red} -@level:[20 +inf]", [1]),
    ("(@clan:{blue} | @clan:{gold}) @level:[-inf 10]", [3]),
]

# The text of a query that is none, and a part of the error.
WRONG_QUERIES = [
    ("@level:[12", "Syntax error"),
    ("(stone", "Syntax error"),
    ("@home:[13.4 52.5 5 parsec]", "Invalid GeoFilter unit"),
    ("@name:$who", "No such parameter"),
    ("ismissing(@name)", "INDEXMISSING"),
    ("@name:''", "INDEXEMPTY"),
]


def raises(call, *arguments, **options):
    """The text of the error that a call must end in."""
    try:
        result = call(*arguments, **options)
    except ResponseError as raised:
        return str(raised)
    raise AssertionError(f"{call} {arguments} gave {result!r} instead of an error")


def number(key):
    """The number at the end of a key."""
    return int(key.rpartition(":")[2])


def numbers(result):
    """Those of a reply, in its order."""
    return [number(document.id) for document in result.docs]


def found(index, query, parameters=None):
    """The numbers of all that match, ascending. The total is how many they are."""
    query = Query(query) if isinstance(query, str) else query
    result = index.search(query.paging(0, 100), query_params=parameters)
    assert result.total == len(result.docs), (result.total, result.docs)
    return sorted(numbers(result))


def indexed(index):
    """The index, once it has read what was there before it."""
    until(lambda: int(index.info()["indexing"]) == 0)
    return index


def create(r, name, fields, prefix, **options):
    index = r.ft(name)
    assert index.create_index(fields, definition=IndexDefinition(prefix=[prefix], **options)) in ("OK", True)
    return indexed(index)


def players(r):
    """Half of the players are there before the index is."""
    for player in (1, 2, 3):
        r.hset(f"player:{player}", mapping=PLAYERS[player])
    index = create(r, "players", PLAYER_FIELDS, "player:", index_type=IndexType.HASH)
    for player in (4, 5):
        r.hset(f"player:{player}", mapping=PLAYERS[player])
    r.hset("team:6", mapping=PLAYERS[1])
    return index


def records(result):
    return [dict(zip(row[::2], row[1::2])) for row in result.rows]


def queries(r):
    index = players(r)
    for query, expected in QUERIES:
        assert found(index, query) == expected, query
        assert index.search(Query(query).paging(0, 0)).total == len(expected), query
    for query, error in WRONG_QUERIES:
        assert error in raises(index.search, query), query
    if IS_BOBBIN:
        for query in ["@nothing:stone", "@nothing:{stone}", "@nothing:[1 2]"]:
            assert "Unknown field" in raises(index.search, query), query


def options(r):
    index = players(r)
    assert found(index, Query("running").verbatim()) == [1, 2]
    assert found(index, Query("alone").limit_fields("name")) == []
    assert found(index, Query("alone").limit_fields("name", "motto")) == [4]
    assert found(index, Query("stone").limit_ids("player:5", "player:3", "none")) == [5]
    assert found(index, Query("*").add_filter(NumericFilter("level", 12, 30))) == [1, 5]
    above = NumericFilter("level", 12, NumericFilter.INF, minExclusive=True)
    assert found(index, Query("*").add_filter(above)) == [2, 4, 5]
    near = GeoFilter("home", 13.4, 52.5, 50)
    assert found(index, Query("*").add_filter(near)) == [1, 4]
    assert found(index, Query("stone").add_filter(near).add_filter(NumericFilter("level", 0, 100))) == [1]
    assert found(index, Query("@motto:and").no_stopwords()) == []
    assert found(index, Query("stone").timeout(10_000)) == [1, 5]
    for query, parameters, expected in [
        ("@name:($first | $second)", {"first": "Otto", "second": "Bruno"}, [3, 5]),
        ("@name:$start*", {"start": "st"}, [1, 3, 5]),
        ("@clan:{$clan}", {"clan": "blue moon"}, [4]),
        ("@clan:{$none}", {"none": ""}, [5]),
        ("@level:[$least ($most]", {"least": 12, "most": 40}, [1, 5]),
        ("@home:[$east $north $radius $unit]", {"east": 13.4, "north": 52.5, "radius": 5, "unit": "km"}, [1]),
    ]:
        assert found(index, query, parameters) == expected, query


def orders_and_pages(r):
    index = players(r)
    page = lambda query, offset, count: numbers(index.search(query.paging(offset, count)))
    by_name = [1, 3, 2, 4, 5]
    assert page(Query("*").sort_by("name"), 0, 10) == by_name
    assert page(Query("*").sort_by("name", asc=False), 0, 10) == by_name[::-1]
    assert page(Query("*").sort_by("name"), 1, 2) == [3, 2]
    assert page(Query("*").sort_by("name"), 9, 2) == []
    assert page(Query("*").sort_by("level"), 0, 3) == [3, 1, 5]
    assert page(Query("*").sort_by("level", asc=False), 2, 3) == [5, 1, 3]
    assert page(Query("@clan:{red}").sort_by("level", asc=False), 0, 10) == [2, 1]
    pages = [page(Query("*").sort_by("level"), offset, 2) for offset in (0, 2, 4)]
    assert sorted(sum(pages, [])) == [1, 2, 3, 4, 5], "no row is on two pages"
    for player in range(6, 26):
        r.hset(f"player:{player}", mapping={"name": "one of many", "level": 1000 + player})
    # Without LIMIT, which redis-py always sends, there are ten rows.
    reply = r.execute_command("FT.SEARCH", "players", "many", "NOCONTENT")
    shown = [reply["total_results"], *reply["results"]] if isinstance(reply, dict) else reply
    assert (shown[0], len(shown)) == (20, 11)
    assert page(Query("many").sort_by("level"), 17, 10) == [23, 24, 25]
    # A row without the field is the last, whatever the direction.
    r.hdel("player:25", "level")
    assert page(Query("many").sort_by("level"), 19, 1) == page(Query("many").sort_by("level", asc=False), 19, 1) == [25]


def contents(r):
    index = players(r)
    [document] = index.search(Query("bruno")).docs
    assert document.id == "player:3"
    everything = {name: value for name, value in vars(document).items() if name not in ("id", "payload")}
    assert everything == {name: str(value) for name, value in PLAYERS[3].items()}
    [document] = index.search(Query("bruno").no_content()).docs
    assert document.id == "player:3" and not hasattr(document, "name")
    [document] = index.search(Query("bruno").return_fields("level", "absent")).docs
    assert document.level == "7" and not hasattr(document, "name") and not hasattr(document, "absent")
    [document] = index.search(Query("bruno").return_field("level", as_field="rank").return_field("name")).docs
    assert (document.rank, document.name) == ("7", "Bruno Stark") and not hasattr(document, "level")
    # Fields that no index knows are returned, too, and bytes that are no text.
    r.hset("player:3", mapping={"secret": b"\x00\xff"})
    [document] = index.search(Query("bruno").return_field("secret", decode_field=False)).docs
    assert document.secret == b"\x00\xff"


def sort_keys(r):
    """redis-py has no name for WITHSORTKEYS. The key of a text is as it is compared: folded, without UNF."""
    players(r)
    for field, key in [("level", "#12"), ("name", "$anna stone")]:
        words = ["players", "anna", "SORTBY", field, "WITHSORTKEYS", "NOCONTENT"]
        reply = plain(r.execute_command("FT.SEARCH", *words))
        if isinstance(reply, dict):
            assert [(result["id"], result["sortkey"]) for result in reply["results"]] == [("player:1", key)]
        else:
            assert reply == [1, "player:1", key]


def plain(value):
    """A reply with names as str: redis-py does not decode those of FT.SEARCH."""
    if isinstance(value, dict):
        return {plain(name): plain(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.decode() if isinstance(value, bytes) else value


def changes_show_at_once(r):
    index = players(r)
    r.hset("player:3", "name", "Carla Stone")
    assert (found(index, "@name:stone"), found(index, "bruno")) == ([1, 3, 5], [])
    assert r.hincrby("player:3", "level", 93) == 100
    assert found(index, "@level:[100 +inf]") == [3]
    r.hdel("player:3", "motto")
    assert found(index, "ismissing(@motto)") == [3, 5]
    r.rename("player:3", "team:3")
    assert found(index, "carla") == []
    r.rename("team:3", "player:7")
    assert found(index, "carla") == [7]
    r.copy("player:7", "player:8")
    r.delete("player:7")
    assert found(index, "carla") == [8]
    r.set("player:8", "no hash")
    assert found(index, "carla") == []
    with r.pipeline(transaction=True) as pipeline:
        for player in range(100, 200):
            pipeline.hset(f"player:{player}", mapping={"name": "crowd", "level": player})
        pipeline.execute()
    assert found(index, "crowd") == list(range(100, 200))
    with r.pipeline(transaction=False) as pipeline:
        pipeline.hset("player:200", mapping={"name": "crowd"})
        pipeline.delete("player:100")
        pipeline.execute()
    assert found(index, "crowd @level:[-inf +inf]") == list(range(101, 200))
    assert found(index, "crowd -@level:[-inf +inf]") == [200]


def expired_rows_are_not_found(r):
    index = players(r)
    r.pexpire("player:1", 200)
    r.persist("player:1")
    r.pexpire("player:2", 100)
    until(lambda: not r.exists("player:2"))
    assert found(index, "*") == [1, 3, 4, 5]
    assert found(index, "running") == [1, 4]
    r.hpexpire("player:1", 100, "motto")
    until(lambda: not r.hexists("player:1", "motto"))
    assert found(index, "ismissing(@motto)") == [1, 5]
    assert found(index, "running") == [4]


def rows_that_do_not_fit(r):
    """A hash whose field is not of the declared type is in no index, and FT.INFO counts it."""
    index = players(r)
    r.hset("player:9", mapping={"name": "stone", "level": "many"})
    assert found(index, "stone") == [1, 5]
    assert int(index.info()["hash_indexing_failures"]) == 1
    r.hset("player:9", "level", 9)
    assert found(index, "stone") == [1, 5, 9]


def declarations(r):
    r.hset("old:1", "word", "before")
    index = r.ft("skipping")
    definition = IndexDefinition(prefix=["old:", "new:"])
    index.create_index((TextField("word"),), skip_initial_scan=True, definition=definition)
    r.hset("new:2", "word", "before")
    assert found(indexed(index), "before") == [2]
    assert "already exists" in raises(index.create_index, (TextField("word"),))
    # FILTER, and a language.
    definition = dict(filter="@age > 17", language="german")
    adults = create(r, "adults", (TextField("word"), NumericField("age")), "person:", **definition)
    for person, age in [(1, 17), (2, 18), (3, 40)]:
        r.hset(f"person:{person}", mapping={"word": "Kinder", "age": age})
    children = Query("kindern").language("german")
    assert found(adults, children) == [2, 3]
    r.hset("person:1", "age", 18)
    assert found(adults, children) == [1, 2, 3]
    # A language of each hash.
    tongues = create(r, "tongues", (TextField("word"),), "tongue:", language_field="tongue")
    r.hset("tongue:1", mapping={"word": "Kinder", "tongue": "german"})
    r.hset("tongue:2", mapping={"word": "children", "tongue": "english"})
    assert found(tongues, Query("kindern").language("german")) == [1]
    # Stop words: others, none.
    for stop_words, expected in [(["foo"], ([], [1])), ([], ([1], [1]))]:
        index = r.ft("stopping")
        index.create_index((TextField("word"),), stopwords=stop_words, definition=IndexDefinition(prefix=["stop:"]))
        r.hset("stop:1", "word", "foo the")
        assert (found(index, "foo"), found(index, "the")) == expected, stop_words
        index.dropindex()
    # Words without stems, tags as they stand, other separators, other names, fields only to sort by.
    fields = (
        TextField("plain", no_stem=True, weight=2.0),
        TagField("exact", case_sensitive=True, separator=";"),
        TagField("loose", as_name="other"),
        NumericField("rank", no_index=True, sortable=True),
    )
    index = create(r, "options", fields, "option:", score=0.5)
    r.hset("option:1", mapping={"plain": "running", "exact": "A,b; c", "loose": "X", "rank": 2})
    r.hset("option:2", mapping={"plain": "run", "exact": "a,B", "loose": "y", "rank": 1})
    assert (found(index, "run"), found(index, Query("running").verbatim())) == ([2], [1])
    for query, expected in [(r"{A\,b}", [1]), (r"{a\,b}", []), ("{c}", [1]), (r"{a\,B}", [2])]:
        assert found(index, "@exact:" + query) == expected, query
    assert found(index, "@other:{x}") == [1]
    assert found(index, "@rank:[1 2]") == [], "a field with NOINDEX is in no search"
    assert numbers(index.search(Query("*").sort_by("rank"))) == [2, 1]
    # Options that change nothing that a client sees.
    index = r.ft("terse")
    terse = dict(no_term_offsets=True, no_highlight=True, no_field_flags=True, no_term_frequencies=True)
    definition = IndexDefinition(prefix=["terse:"])
    index.create_index((TextField("word"),), max_text_fields=True, definition=definition, **terse)
    assert {"NOOFFSETS", "NOFREQS", "NOFIELDS"} <= set(index.info()["index_options"])
    # An index that nobody asks ends.
    definition = IndexDefinition(prefix=["passing:"])
    r.ft("passing").create_index((TextField("word"),), temporary=1, definition=definition)
    until(lambda: "passing" not in r.execute_command("FT._LIST"))


def alterations(r):
    index = players(r)
    r.hset("player:1", mapping={"city": "Berlin", "age": 30})
    index.alter_schema_add((TagField("city"), NumericField("age", sortable=True)))
    assert found(indexed(index), "@city:{berlin} @age:[30 30]") == [1]
    r.hset("player:2", mapping={"city": "Paris"})
    assert found(index, "@city:{paris}") == [2]
    raises(index.alter_schema_add, TagField("city"))
    # An attribute is a flat list in either protocol, unless the client chose protocol 3.
    names = [attribute[3] for attribute in index.info()["attributes"]]
    assert names == ["name", "clan", "level", "home", "motto", "city", "age"]


def descriptions(r):
    index = players(r)
    info = index.info()
    assert info["index_name"] == "players"
    for name, expected in [("num_docs", 5), ("indexing", 0), ("percent_indexed", 1), ("hash_indexing_failures", 0)]:
        assert float(info[name]) == expected, name
    for name in ["max_doc_id", "num_terms", "num_records", "inverted_sz_mb", "doc_table_size_mb", "key_table_size_mb",
                 "records_per_doc_avg", "number_of_uses", "gc_stats", "cursor_stats", "index_definition"]:
        assert name in info, name
    name, clan, level, _, motto = map(set, info["attributes"])
    assert {"SORTABLE", "WITHSUFFIXTRIE"} <= name and "INDEXEMPTY" in clan and "INDEXMISSING" in motto
    assert "SORTABLE" in level and "SORTABLE" not in motto
    assert r.execute_command("FT._LIST") in (["players"], {"players"})
    assert sorted(value for value in index.tagvals("clan") if value) == ["blue", "blue moon", "gold", "red"]
    assert float(index.config_get("TIMEOUT")["TIMEOUT"]) >= 0
    assert "MAXSEARCHRESULTS" in index.config_get("*")
    plan = index.explain("@level:[12 40] @name:st*")
    assert plan.startswith("INTERSECT {\n") and "NUMERIC {12.000000 <= @level <= 40.000000}" in plan, plan
    assert "PREFIX{st*}" in plan
    r.ft("words").create_index((TextField("word"),))
    assert r.ft("words").explain("hello") == "UNION {\n  hello\n  +hello(expanded)\n}\n"
    lines = r.execute_command("FT.EXPLAINCLI", "players", "@level:[12 40]")
    assert "NUMERIC {12.000000 <= @level <= 40.000000}" in "\n".join(lines)


def aliases(r):
    index = players(r)
    other = create(r, "teams", (TextField("name"),), "team:")
    assert index.aliasadd("people") in ("OK", True)
    assert found(r.ft("people"), "stone") == [1, 5]
    assert "already exists" in raises(other.aliasadd, "people")
    other.aliasupdate("people")
    assert found(r.ft("people"), "stone") == [6]
    r.ft("people").aliasdel("people")
    raises(r.ft("people").search, "stone")
    raises(r.ft("people").aliasdel, "people")


def removals(r):
    index = players(r)
    assert index.delete_document("player:1", delete_actual_document=True) == 1
    assert found(index, "stone") == [5]
    assert index.delete_document("player:1", delete_actual_document=True) == 0
    if IS_BOBBIN:
        removals_by_query(r, index)
    assert r.hget("team:6", "name") == "Anna Stone"
    # An index goes, and its hashes stay; or both go.
    assert index.dropindex() in ("OK", True)
    assert r.hget("player:3", "name") == "Bruno Stark"
    raises(index.search, "*")
    raises(index.info)
    raises(index.dropindex)
    index = create(r, "players", PLAYER_FIELDS, "player:")
    assert 3 in found(index, "*")
    index.dropindex(delete_documents=True)
    until(lambda: not r.exists("player:3"))
    assert r.exists("team:6") == 1
    create(r, "players", PLAYER_FIELDS, "player:")
    r.flushall()
    assert list(r.execute_command("FT._LIST")) == []


def removals_by_query(r, index):
    """What matches is deleted, and counted."""
    assert r.execute_command("FT.DELETEBY", "players", "@level:[40 +inf]") == 2
    assert (found(index, "*"), r.exists("player:2", "player:4")) == ([3, 5], 0)
    parameters = ["PARAMS", 2, "who", "otto"]
    assert r.execute_command("FT.DELETEBY", "players", "@name:$who", *parameters) == 1
    assert r.execute_command("FT.DELETEBY", "players", "@name:nobody") == 0
    assert found(index, "*") == [3]


ITEMS = [
    ("fruit", "apple", 3), ("fruit", "pear", 5), ("root", "carrot", 1.5), ("fruit", "plum", 4), ("root", "beet", 2.5),
]


def items(r):
    fields = (TagField("kind", sortable=True), TextField("name", sortable=True), NumericField("price", sortable=True))
    index = create(r, "items", fields, "item:")
    for item, (kind, name, price) in enumerate(ITEMS):
        r.hset(f"item:{item}", mapping={"kind": kind, "name": name, "price": price, "shelf": item % 2})
    return index


def groups(r):
    index = items(r)
    first = reducers.first_value("@name", Desc("@price"))
    request = AggregateRequest("*").group_by(
        "@kind",
        reducers.count().alias("count"),
        reducers.count_distinct("@name").alias("distinct"),
        reducers.count_distinctish("@name").alias("distinctish"),
        reducers.sum("@price").alias("sum"),
        reducers.min("@price").alias("min"),
        reducers.max("@price").alias("max"),
        reducers.avg("@price").alias("avg"),
        reducers.stddev("@price").alias("stddev"),
        reducers.quantile("@price", 0.5).alias("median"),
        reducers.tolist("@name").alias("names"),
        reducers.random_sample("@name", 2).alias("sample"),
        first.alias("dearest"),
    ).sort_by(Asc("@kind"))
    fruit, root = records(index.aggregate(request))
    for record, names in [(fruit, {"apple", "pear", "plum"}), (root, {"beet", "carrot"})]:
        assert set(record.pop("names")) == names
        sample = record.pop("sample")
        assert len(sample) == 2 and set(sample) <= names
    root.pop("median")
    assert fruit == {
        "kind": "fruit", "count": "3", "distinct": "3", "distinctish": "3", "sum": "12", "min": "3", "max": "5",
        "avg": "4", "stddev": "1", "median": "4", "dearest": "pear",
    }
    assert math.isclose(float(root.pop("stddev")), math.sqrt(0.5), rel_tol=1e-9)
    assert root == {
        "kind": "root", "count": "2", "distinct": "2", "distinctish": "2", "sum": "4", "min": "1.5", "max": "2.5",
        "avg": "2", "dearest": "beet",
    }
    # All in one group; names that nobody chose; groups of groups.
    [record] = records(index.aggregate(AggregateRequest("*").group_by([], reducers.count())))
    assert record == {"__generated_aliascount": "5"}
    [record] = records(index.aggregate(AggregateRequest("@kind:{root}").group_by("@kind", reducers.avg("@price"))))
    assert record == {"kind": "root", "__generated_aliasavgprice": "2"}
    request = AggregateRequest("*").group_by("@kind", reducers.count().alias("n"))
    assert records(index.aggregate(request.group_by([], reducers.max("@n").alias("most")))) == [{"most": "3"}]


def pipelines_of_records(r):
    index = items(r)
    run = lambda request, **parameters: records(index.aggregate(request, **parameters))
    names = lambda request: [record["name"] for record in run(request)]
    everything = ["apple", "beet", "carrot", "pear", "plum"]
    assert names(AggregateRequest("*").sort_by("@name")) == everything
    assert names(AggregateRequest("*").sort_by(Desc("@name"))) == everything[::-1]
    assert names(AggregateRequest("*").sort_by("@name", max=2)) == everything[:2]
    assert names(AggregateRequest("*").sort_by("@name").limit(1, 2)) == everything[1:3]
    by_two = AggregateRequest("*").load("@name").sort_by(Desc("@kind"), Asc("@price"))
    assert names(by_two) == ["carrot", "beet", "apple", "plum", "pear"]
    assert run(AggregateRequest("@name:carrot").load("name", "@shelf")) == [{"name": "carrot", "shelf": "0"}]
    assert run(AggregateRequest("@name:carrot").load("@price", "AS", "cost")) == [{"cost": "1.5"}]
    [record] = run(AggregateRequest("@name:carrot").load())
    assert record == {"kind": "root", "name": "carrot", "price": "1.5", "shelf": "0"}
    counted = AggregateRequest("@kind:{$kind}").group_by([], reducers.count().alias("n"))
    assert run(counted, query_params={"kind": "root"}) == [{"n": "2"}]
    for expression, expected in [
        ("@price >= 3 && @price < 5", ["apple", "plum"]),
        ("@kind == 'root' || @name == 'pear'", ["beet", "carrot", "pear"]),
        ("!(@kind == 'fruit')", ["beet", "carrot"]),
        ("contains(@name, 'ar')", ["carrot", "pear"]),
        ("startswith(@name, 'p')", ["pear", "plum"]),
        ("exists(@price)", everything),
    ]:
        request = AggregateRequest("*").load("@name", "@price", "@kind")
        assert names(request.filter(expression).sort_by("@name")) == expected, expression
    for expression, expected in [
        ("@price * 2 + 1", "4"),
        ("@price ^ 2", "2.25"),
        ("floor(@price / 2)", "0"),
        ("ceil(@price / 2)", "1"),
        ("sqrt(@price + 2.5)", "2"),
        ("upper(@name)", "CARROT"),
        ("substr(@name, 0, 3)", "car"),
        ("strlen(@name)", "6"),
        ("contains(@name, 'r')", "2"),
        ("format('%s is a %s', @name, @kind)", "carrot is a root"),
        ("split('a, b,c', ',', ' ')", ["a", "b", "c"]),
        ("timefmt(86400)", "1970-01-02T00:00:00Z"),
        ("parsetime('1970-01-02', '%Y-%m-%d')", "86400"),
        ("year(0)", "1970"),
    ]:
        [record] = run(AggregateRequest("@name:carrot").load("@name", "@price", "@kind").apply(result=expression))
        assert record["result"] == expected, (expression, record["result"])
    assert "not loaded nor in pipeline" in raises(index.aggregate, AggregateRequest("*").apply(result="@nothing"))
    raises(index.aggregate, AggregateRequest("*").apply(result="upper("))
    raises(index.aggregate, AggregateRequest("*").filter("nonsense(@name)"))


def cursors(r):
    index = items(r)
    for item in range(100, 600):
        r.hset(f"item:{item}", mapping={"kind": "many", "name": f"n{item}", "price": item})
    result = index.aggregate(AggregateRequest("@kind:{many}").load("@name").cursor(count=120, max_idle=60))
    seen = [record["name"] for record in records(result)]
    assert len(seen) == 120
    statistics = index.info()["cursor_stats"]
    if isinstance(statistics, list):
        statistics = dict(zip(statistics[::2], statistics[1::2]))
    assert statistics["index_total"] == 1
    while result.cursor.cid:
        result = index.aggregate(result.cursor)
        seen += [record["name"] for record in records(result)]
    assert sorted(seen) == [f"n{item}" for item in range(100, 600)]
    # A cursor that is deleted, one that never was, one whose time has passed, which RediSearch notices later.
    result = index.aggregate(AggregateRequest("*").load("@name").cursor(count=1))
    assert len(result.rows) == 1 and result.cursor.cid != 0
    assert r.execute_command("FT.CURSOR", "DEL", "items", result.cursor.cid) in ("OK", True)
    assert "Cursor not found" in raises(index.aggregate, result.cursor)
    assert "Cursor not found" in raises(r.execute_command, "FT.CURSOR", "READ", "items", 987654321)
    if IS_BOBBIN:
        result = index.aggregate(AggregateRequest("*").load("@name").cursor(count=1, max_idle=1))
        time.sleep(1.5)
        raises(index.aggregate, result.cursor)


def pipelines(r):
    """Several commands sent at once: those of redis-py's search API, too."""
    pipeline = r.ft("texts").pipeline(transaction=False)
    pipeline.create_index((TextField("txt"),))
    pipeline.hset("doc:1", mapping={"txt": "foo bar"})
    pipeline.hset("doc:2", mapping={"txt": "foo bar"})
    pipeline.search(Query("foo bar"))
    reply = pipeline.execute()
    assert reply[:3] == ["OK", 1, 1] or reply[:3] == [True, 1, 1], reply
    total = reply[3][0] if isinstance(reply[3], list) else reply[3].total
    assert total == 2, reply[3]


def refusals(r):
    """What Bobbin does not have is an error, never an answer that leaves it out."""
    index = players(r)
    vector = VectorField("v", "FLAT", {"TYPE": "FLOAT32", "DIM": 2, "DISTANCE_METRIC": "L2"})
    for field in [vector, GeoShapeField("g", GeoShapeField.FLAT), TextField("t", phonetic_matcher="dm:en")]:
        raises(r.ft("refused").create_index, (field,))
    definition = IndexDefinition(index_type=IndexType.JSON)
    raises(r.ft("refused").create_index, (TextField("$.a", as_name="a"),), definition=definition)
    raises(index.search, Query('"anna stone"'))
    raises(index.search, Query("*=>[KNN 2 @v $blob]"), query_params={"blob": b"\0" * 8})
    for query in [Query("stone").with_scores(), Query("stone").slop(1), Query("stone").in_order(),
                  Query("stone").highlight(), Query("stone").summarize(), Query("stone").scorer("BM25")]:
        raises(index.search, query)
    for call in [lambda: index.spellcheck("stne"), lambda: index.dict_add("words", "stone"),
                 lambda: index.synupdate("group", False, "stone", "rock"), lambda: index.profile(Query("stone")),
                 lambda: r.execute_command("FT.SUGADD", "suggestions", "stone", 1)]:
        raises(call)
    assert list(r.execute_command("FT._LIST")) == ["players"]


def other_databases(r):
    """Indexes are over database 0."""
    index = players(r)
    with Redis(port=PORT, db=1, decode_responses=True) as other:
        assert "on db != 0" in raises(other.ft("elsewhere").create_index, (TextField("word"),))
        other.hset("player:50", mapping={"name": "stone"})
    if IS_BOBBIN:  # RediSearch 2.10 finds it.
        assert found(index, "stone") == [1, 5]


def bytes_as_names(protocol):
    """Replies to a client that decodes nothing."""
    with Redis(port=PORT, **({} if protocol is None else {"protocol": protocol})) as r:
        r.flushall()
        index = r.ft("texts")
        index.create_index((TextField("title"), TextField("parent")))
        for key, title in [("doc:1", "alpha"), ("doc:2", "beta")]:
            r.hset(key, mapping={"title": title, "parent": "redis"})
        assert found(index, "redis") == [1, 2]
        [row] = index.aggregate(AggregateRequest("redis").group_by("@parent", reducers.count().alias("n"))).rows
        assert row == [b"parent", b"redis", b"n", b"2"]


def maps(r):
    """Replies of protocol 3 as they are: redis-py does not make them its own objects if the protocol is named."""
    players(r)
    reply = plain(r.ft("players").search(Query("bruno").return_field("level")))
    assert reply["total_results"] == 1
    [result] = reply["results"]
    assert (result["id"], result["extra_attributes"]) == ("player:3", {"level": "7"})
    assert (reply["attributes"], reply["format"], reply["warning"], result["values"]) == ([], "STRING", [], [])
    [result] = r.ft("players").search(Query("bruno").no_content())["results"]
    assert result["id"] == "player:3" and "extra_attributes" not in result
    request = AggregateRequest("@clan:{red}").group_by([], reducers.count().alias("n"))
    reply = r.ft("players").aggregate(request)
    assert (reply["total_results"], reply["format"]) == (1, "STRING")
    assert [result["extra_attributes"] for result in reply["results"]] == [{"n": "2"}]
    reply, cursor = r.ft("players").aggregate(AggregateRequest("*").cursor(count=2))
    assert len(reply["results"]) == 2 and cursor > 0
    info = r.ft("players").info()
    assert (info["num_docs"], info["attributes"][2]["attribute"]) == (5, "level")
    assert {"SORTABLE", "UNF"} <= set(info["attributes"][2]["flags"])
    assert info["index_definition"]["prefixes"] == ["player:"] and info["index_definition"]["key_type"] == "HASH"
    assert {"blue", "blue moon", "gold", "red"} <= set(r.ft("players").tagvals("clan"))
    assert isinstance(r.ft("players").config_get("TIMEOUT"), dict)


def restart(r):
    index = players(r)
    index.aliasadd("people")
    print("restart please", flush=True)
    assert sys.stdin.readline() == "done\n"
    people = r.ft("people")
    until(lambda: is_loaded(people))
    for query, expected in QUERIES:
        assert found(people, query) == expected, query
    r.hset("player:6", mapping={"name": "Late Stone", "level": 1})
    assert found(index, "@name:stone") == [1, 5, 6]


def is_loaded(index):
    try:
        return int(index.info()["indexing"]) == 0
    except redis.exceptions.BusyLoadingError:
        return False


STEPS = [
    queries, options, orders_and_pages, contents, sort_keys, changes_show_at_once, expired_rows_are_not_found,
    rows_that_do_not_fit, declarations, alterations, descriptions, aliases, removals, groups, pipelines_of_records,
    cursors, pipelines, other_databases,
] + ([refusals] if IS_BOBBIN else [])


def main():
    for protocol in [None, 2]:
        chosen = {} if protocol is None else {"protocol": protocol}
        r = Redis(port=PORT, decode_responses=True, **chosen)
        for step in STEPS + [restart]:
            r.flushall()
            begin = time.monotonic()
            step(r)
            print(f"{step.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
        bytes_as_names(protocol)
        r.close()
        print(f"redis-py's search, {PARSER}, protocol {protocol or 'not chosen'}: all steps done", flush=True)
    with Redis(port=PORT, decode_responses=True, protocol=3) as r:
        r.flushall()
        maps(r)


main()
