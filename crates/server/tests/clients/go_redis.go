// go-redis in ordinary use: what its documentation promises must hold against Bobbin.
//
//	go_redis PORT UNIX_SOCKET LOCKED_PORT
//
// The arguments and the line "restart please" are those of redis_py.py. As there, all of it must hold against redis-server
// too, but for what is behind `since`.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

var (
	ctx, cancel              = context.WithTimeout(context.Background(), 100*time.Second)
	port, socket, lockedPort = os.Args[1], os.Args[2], os.Args[3]
	answers                  = bufio.NewReader(os.Stdin)
	allBytes                 = func() (all string) {
		bytes := make([]byte, 256)
		for at := range bytes {
			bytes[at] = byte(at)
		}
		return string(bytes)
	}()
)

func failed(format string, values ...any) {
	where := ""
	for depth := 2; ; depth++ {
		_, file, line, known := runtime.Caller(depth)
		if !known || filepath.Base(file) != "go_redis.go" {
			break
		}
		where += fmt.Sprintf("go_redis.go:%d: ", line)
	}
	fmt.Fprintln(os.Stderr, where+fmt.Sprintf(format, values...))
	os.Exit(1)
}

// is takes what a call gives, which must be `want` and no error.
func is[T any](want T) func(T, error) {
	return func(got T, err error) {
		if err != nil {
			failed("%v instead of %v", err, want)
		}
		if !reflect.DeepEqual(got, want) {
			failed("%v instead of %v", got, want)
		}
	}
}

// value gives what a call gives, which must be no error.
func value[T any](got T, err error) T {
	if err != nil {
		failed("%v", err)
	}
	return got
}

// fails takes the error of a call, which must say `text`.
func fails(err error, text string) {
	if err == nil || !strings.Contains(err.Error(), text) {
		failed("%v instead of an error with %q", err, text)
	}
}

// none takes the error of a call that must find nothing.
func none(err error) {
	if !errors.Is(err, redis.Nil) {
		failed("%v instead of nothing", err)
	}
}

func must(condition bool, what string) {
	if !condition {
		failed("not so: %s", what)
	}
}

// until waits for what another connection or the clock brings about.
func until(condition func() bool) {
	for round := 0; round < 3000; round++ {
		if condition() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	failed("what was waited for did not happen")
}

// since reports whether the server is one of that version of Redis, or newer, or promises its replies.
func since(r *redis.Client, major, minor int) bool {
	_, version, _ := strings.Cut(value(r.Info(ctx, "server").Result()), "redis_version:")
	parts := strings.SplitN(version, ".", 3)
	has := [2]int{value(strconv.Atoi(parts[0])), value(strconv.Atoi(parts[1]))}
	return has[0] > major || has[0] == major && has[1] >= minor
}

func at(port string, protocol int, more ...func(*redis.Options)) *redis.Client {
	options := &redis.Options{Addr: "127.0.0.1:" + port, Protocol: protocol}
	for _, change := range more {
		change(options)
	}
	return redis.NewClient(options)
}

func connects(r *redis.Client, protocol int) {
	is("PONG")(r.Ping(ctx).Result())
	is("hello")(r.Echo(ctx, "hello").Result())
	wanted := int64(3) // go-redis asks for it by itself
	if protocol != 0 {
		wanted = int64(protocol)
	}
	must(value(r.Do(ctx, "HELLO").Result()) != nil, "HELLO is answered")
	if protocol != 2 {
		is(wanted)(value(r.Do(ctx, "HELLO").Result()).(map[any]any)["proto"].(int64), nil)
	}
	if since(r, 7, 2) {
		info := value(r.Do(ctx, "CLIENT", "INFO").Text())
		must(strings.Contains(info, "lib-name=go-redis"), info)
	}
	named := at(port, protocol, func(options *redis.Options) { options.ClientName, options.DB = "a-name", 1 })
	is("a-name")(named.ClientGetName(ctx).Result())
	must(strings.Contains(value(named.ClientList(ctx).Result()), "name=a-name "), "the name is listed")
	named.Close()
	is(map[string]string{"port": port})(r.ConfigGet(ctx, "port").Result())
	must(time.Since(value(r.Time(ctx).Result())).Abs() < time.Hour, "the clocks agree")
	must(value(r.Command(ctx).Result())["get"].FirstKeyPos == 1, "GET's key is its first argument")
	is([]string{"a", "b"})(r.CommandGetKeys(ctx, "MSET", "a", "1", "b", "2").Result())
	info := value(r.InfoMap(ctx, "server").Result())
	is("standalone")(info["Server"]["redis_mode"], nil)
}

func texts(r *redis.Client) {
	is("OK")(r.Set(ctx, "k", allBytes, 0).Result())
	is(allBytes)(r.Get(ctx, "k").Result())
	none(r.Get(ctx, "missing").Err())
	is(false)(r.SetNX(ctx, "k", "w", 0).Result())
	is(true)(r.SetXX(ctx, "k", "w", time.Minute).Result())
	is("w")(r.SetArgs(ctx, "k", "x", redis.SetArgs{Get: true, KeepTTL: true}).Result())
	must(value(r.TTL(ctx, "k").Result()) > 50*time.Second, "its time is kept")
	is("OK")(r.MSet(ctx, "a", 1, "b", 2.5, "c", true).Result())
	is([]any{"1", nil, "2.5", "1"})(r.MGet(ctx, "a", "missing", "b", "c").Result())
	is(int64(42))(r.IncrBy(ctx, "a", 41).Result())
	is(42.5)(r.IncrByFloat(ctx, "a", 0.5).Result())
	fails(r.Incr(ctx, "a").Err(), "not an integer")
	is(int64(7))(r.Append(ctx, "b", "wise").Result())
	is("wise")(r.GetRange(ctx, "b", 3, -1).Result())
	is("2.5wise")(r.GetDel(ctx, "b").Result())
	is(int64(2))(r.Del(ctx, "a", "c", "missing").Result())
	is(time.Duration(-2))(r.TTL(ctx, "missing").Result())
	is("OK")(r.Set(ctx, "short", "v", 30*time.Millisecond).Result())
	until(func() bool { return r.Get(ctx, "short").Err() == redis.Nil })
	is("x")(r.GetEx(ctx, "k", 0).Result())
	is(time.Duration(-1))(r.TTL(ctx, "k").Result())
	is("OK")(r.MSet(ctx, "one", "ohmytext", "two", "mynewtext").Result())
	is("mytext")(value(r.LCS(ctx, &redis.LCSQuery{Key1: "one", Key2: "two"}).Result()).MatchString, nil)
	matches := value(r.LCS(ctx, &redis.LCSQuery{Key1: "one", Key2: "two", Idx: true, MinMatchLen: 4}).Result())
	is(1)(len(matches.Matches), nil)
	is(int64(7))(matches.Matches[0].Key1.End, nil)
	fails(r.LPush(ctx, "k", 1).Err(), "WRONGTYPE")
	fails(r.Do(ctx, "NONSENSE", "a").Err(), "unknown command")
}

func lists(r *redis.Client) {
	is(int64(3))(r.RPush(ctx, "l", "a", "b", "c").Result())
	is(int64(4))(r.LPush(ctx, "l", "z").Result())
	is([]string{"z", "a", "b", "c"})(r.LRange(ctx, "l", 0, -1).Result())
	is(int64(5))(r.LInsertBefore(ctx, "l", "b", "x").Result())
	is(int64(1))(r.LRem(ctx, "l", 0, "x").Result())
	is(int64(2))(r.LPos(ctx, "l", "b", redis.LPosArgs{}).Result())
	is([]int64{2})(r.LPosCount(ctx, "l", "b", 0, redis.LPosArgs{}).Result())
	is("z")(r.LMove(ctx, "l", "m", "LEFT", "RIGHT").Result())
	is([]string{"a", "b"})(r.LPopCount(ctx, "l", 2).Result())
	key, items, err := r.LMPop(ctx, "left", 5, "missing", "l").Result()
	is("l")(key, err)
	is([]string{"c"})(items, nil)
	none(r.LPop(ctx, "l").Err())
	none(r.LIndex(ctx, "m", 5).Err())
}

func hashes(r *redis.Client) {
	type job struct {
		Name  string  `redis:"name"`
		Tries int     `redis:"tries"`
		Share float64 `redis:"share"`
		Ready bool    `redis:"ready"`
	}
	is(int64(4))(r.HSet(ctx, "h", job{"build", 3, 0.25, true}).Result())
	var found job
	must(r.HGetAll(ctx, "h").Scan(&found) == nil, "a hash becomes a struct")
	is(job{"build", 3, 0.25, true})(found, nil)
	is(map[string]string{"name": "build", "tries": "3", "share": "0.25", "ready": "1"})(r.HGetAll(ctx, "h").Result())
	is(map[string]string{})(r.HGetAll(ctx, "missing").Result())
	is([]any{"build", nil})(r.HMGet(ctx, "h", "name", "missing").Result())
	is(int64(5))(r.HIncrBy(ctx, "h", "tries", 2).Result())
	is(0.75)(r.HIncrByFloat(ctx, "h", "share", 0.5).Result())
	is(false)(r.HSetNX(ctx, "h", "name", "other").Result())
	is(int64(1))(r.HDel(ctx, "h", "ready", "missing").Result())
	is(int64(3))(r.HLen(ctx, "h").Result())
	must(len(value(r.HRandFieldWithValues(ctx, "h", 2).Result())) == 2, "two fields with their values")
	if since(r, 7, 4) {
		is([]int64{1, -2})(r.HExpire(ctx, "h", time.Hour, "name", "missing").Result())
		must(value(r.HTTL(ctx, "h", "name").Result())[0] > 3500, "a field has a time")
		is([]int64{1})(r.HPersist(ctx, "h", "name").Result())
	}
	fields := map[string]any{}
	for at := 0; at < 1000; at++ {
		fields[fmt.Sprint("field:", at)] = at
	}
	is(int64(1000))(r.HSet(ctx, "many", fields).Result())
	count, walk := 0, r.HScan(ctx, "many", 0, "field:*", 100).Iterator()
	for walk.Next(ctx) {
		count++
	}
	must(walk.Err() == nil && count == 2000, "each field and each value of a hash that nobody changes comes once")
}

func sets(r *redis.Client) {
	is(int64(3))(r.SAdd(ctx, "s", "x", "y", 1, "x").Result())
	is(map[string]struct{}{"x": {}, "y": {}, "1": {}})(r.SMembersMap(ctx, "s").Result())
	is([]bool{true, false})(r.SMIsMember(ctx, "s", "x", "z").Result())
	is(int64(2))(r.SAdd(ctx, "t", "y", "z").Result())
	is([]string{"y"})(r.SInter(ctx, "s", "t").Result())
	is(int64(1))(r.SInterCard(ctx, 0, "s", "t").Result())
	is(int64(4))(r.SUnionStore(ctx, "u", "s", "t").Result())
	is([]string{"z"})(r.SDiff(ctx, "t", "s").Result())
	is(true)(r.SMove(ctx, "s", "t", "x").Result())
	must(len(value(r.SPopN(ctx, "t", 5).Result())) == 3, "all three are popped")
	is(false)(r.SIsMember(ctx, "t", "x").Result())
	for at := 0; at < 1000; at++ {
		r.SAdd(ctx, "many", at)
	}
	found, walk := map[string]bool{}, r.SScan(ctx, "many", 0, "", 100).Iterator()
	for walk.Next(ctx) {
		found[walk.Val()] = true
	}
	must(walk.Err() == nil && len(found) == 1000, "each member comes")
}

func sortedSets(r *redis.Client) {
	is(int64(3))(r.ZAdd(ctx, "z", redis.Z{Score: 1, Member: "a"}, redis.Z{Score: 2.5, Member: "b"}, redis.Z{Score: 2.5, Member: "c"}).Result())
	is([]redis.Z{{Score: 1, Member: "a"}, {Score: 2.5, Member: "b"}, {Score: 2.5, Member: "c"}})(r.ZRangeWithScores(ctx, "z", 0, -1).Result())
	is([]string{"c", "b"})(r.ZRangeArgs(ctx, redis.ZRangeArgs{Key: "z", Start: "(1", Stop: "+inf", ByScore: true, Rev: true}).Result())
	is([]redis.Z{{Score: 2.5, Member: "b"}})(r.ZRangeByScoreWithScores(ctx, "z", &redis.ZRangeBy{Min: "2", Max: "3", Count: 1}).Result())
	is(int64(1))(r.ZAddArgs(ctx, "z", redis.ZAddArgs{GT: true, Ch: true, Members: []redis.Z{{Score: 9, Member: "a"}, {Score: 1, Member: "b"}}}).Result())
	is(2.5)(r.ZScore(ctx, "z", "b").Result())
	none(r.ZScore(ctx, "z", "missing").Err())
	is([]float64{9, 0, 2.5})(r.ZMScore(ctx, "z", "a", "missing", "c").Result())
	is(int64(2))(r.ZRank(ctx, "z", "a").Result())
	if since(r, 7, 2) {
		is(redis.RankScore{Rank: 0, Score: 9})(r.ZRevRankWithScore(ctx, "z", "a").Result())
	}
	is(3.5)(r.ZIncrBy(ctx, "z", 1, "b").Result())
	is(int64(2))(r.ZCount(ctx, "z", "-inf", "(9").Result())
	is([]redis.Z{{Score: 2.5, Member: "c"}})(r.ZPopMin(ctx, "z").Result())
	is([]redis.Z{{Score: 9, Member: "a"}})(r.ZPopMax(ctx, "z", 1).Result())
	is(int64(2))(r.ZAdd(ctx, "y", redis.Z{Score: 10, Member: "b"}, redis.Z{Score: 20, Member: "d"}).Result())
	is([]redis.Z{{Score: 13.5, Member: "b"}, {Score: 20, Member: "d"}})(r.ZUnionWithScores(ctx, redis.ZStore{Keys: []string{"z", "y"}}).Result())
	is([]redis.Z{{Score: 27, Member: "b"}})(r.ZInterWithScores(ctx, &redis.ZStore{Keys: []string{"z", "y"}, Weights: []float64{2, 2}}).Result())
	key, popped, err := r.ZMPop(ctx, "max", 5, "missing", "y").Result()
	is("y")(key, err)
	is([]redis.Z{{Score: 20, Member: "d"}, {Score: 10, Member: "b"}})(popped, nil)
	pair := value(r.BZPopMin(ctx, time.Second, "missing", "z").Result())
	is(redis.ZWithKey{Z: redis.Z{Score: 3.5, Member: "b"}, Key: "z"})(*pair, nil)
}

func streams(r *redis.Client) {
	ids := []string{}
	for at := 0; at < 10; at++ {
		ids = append(ids, value(r.XAdd(ctx, &redis.XAddArgs{Stream: "x", Values: []any{"n", at}}).Result()))
	}
	is(int64(10))(r.XLen(ctx, "x").Result())
	is("5-0")(r.XAdd(ctx, &redis.XAddArgs{Stream: "y", ID: "5-*", Values: map[string]any{"a": allBytes}}).Result())
	is([]redis.XMessage{{ID: "5-0", Values: map[string]any{"a": allBytes}}})(r.XRange(ctx, "y", "-", "+").Result())
	is([]redis.XMessage{{ID: ids[9], Values: map[string]any{"n": "9"}}})(r.XRevRangeN(ctx, "x", "+", "-", 1).Result())
	read := value(r.XRead(ctx, &redis.XReadArgs{Streams: []string{"x", "y", ids[8], "0"}, Count: 5, Block: -1}).Result())
	must(len(read) == 2 && read[0].Messages[0].ID == ids[9] && read[1].Stream == "y", "both streams are read")
	heard := make(chan []redis.XStream)
	go func() {
		heard <- value(r.XRead(ctx, &redis.XReadArgs{Streams: []string{"x", "$"}, Block: 20 * time.Second}).Result())
	}()
	until(func() bool { return value(r.InfoMap(ctx, "clients").Result())["Clients"]["blocked_clients"] == "1" })
	next := value(r.XAdd(ctx, &redis.XAddArgs{Stream: "x", Values: []any{"n", "next"}}).Result())
	is([]redis.XStream{{Stream: "x", Messages: []redis.XMessage{{ID: next, Values: map[string]any{"n": "next"}}}}})(<-heard, nil)

	is("OK")(r.XGroupCreateMkStream(ctx, "x", "g", "0").Result())
	fails(r.XGroupCreate(ctx, "x", "g", "0").Err(), "BUSYGROUP")
	mine := value(r.XReadGroup(ctx, &redis.XReadGroupArgs{Group: "g", Consumer: "me", Streams: []string{"x", ">"}, Count: 3, Block: -1}).Result())
	is(3)(len(mine[0].Messages), nil)
	is(int64(1))(r.XAck(ctx, "x", "g", ids[0], "1-1").Result())
	pending := value(r.XPending(ctx, "x", "g").Result())
	is(redis.XPending{Count: 2, Lower: ids[1], Higher: ids[2], Consumers: map[string]int64{"me": 2}})(*pending, nil)
	each := value(r.XPendingExt(ctx, &redis.XPendingExtArgs{Stream: "x", Group: "g", Start: "-", End: "+", Count: 9}).Result())
	must(len(each) == 2 && each[1].ID == ids[2] && each[1].Consumer == "me" && each[1].RetryCount == 1, "both are pending")
	is([]string{ids[1]})(r.XClaimJustID(ctx, &redis.XClaimArgs{Stream: "x", Group: "g", Consumer: "other", Messages: []string{ids[1]}}).Result())
	claimed, start, err := r.XAutoClaim(ctx, &redis.XAutoClaimArgs{Stream: "x", Group: "g", Consumer: "third", Start: "0", Count: 9}).Result()
	is("0-0")(start, err)
	is([]string{ids[1], ids[2]})([]string{claimed[0].ID, claimed[1].ID}, nil)
	is([]redis.XInfoGroup{{Name: "g", Consumers: 3, Pending: 2, LastDeliveredID: ids[2], EntriesRead: 3, Lag: 8}})(r.XInfoGroups(ctx, "x").Result())
	is(3)(len(value(r.XInfoConsumers(ctx, "x", "g").Result())), nil)
	info := value(r.XInfoStream(ctx, "x").Result())
	must(info.Length == 11 && info.LastGeneratedID == next && info.FirstEntry.ID == ids[0], "XINFO STREAM's reply")
	full := value(r.XInfoStreamFull(ctx, "x", 2).Result())
	must(len(full.Entries) == 2 && len(full.Groups[0].Consumers) == 3 && full.EntriesAdded == 11, "and in full")
	is(int64(1))(r.XDel(ctx, "x", ids[0]).Result())
	is(int64(5))(r.XTrimMaxLen(ctx, "x", 5).Result())
	is(int64(2))(r.XGroupDelConsumer(ctx, "x", "g", "third").Result())
	is(int64(1))(r.XGroupDestroy(ctx, "x", "g").Result())
}

func scripts(r *redis.Client) {
	take := redis.NewScript(`
		local left = tonumber(redis.call('GET', KEYS[1]) or '0')
		if left < tonumber(ARGV[1]) then return redis.error_reply('EMPTY nothing is left') end
		return {redis.call('DECRBY', KEYS[1], ARGV[1]), 'taken', ARGV[1]}`)
	is(false)(value(take.Exists(ctx, r).Result())[0], nil)
	is("OK")(r.Set(ctx, "stock", 10, 0).Result())
	is([]any{int64(7), "taken", "3"})(take.Run(ctx, r, []string{"stock"}, 3).Slice())
	is([]bool{true})(take.Exists(ctx, r).Result())
	fails(take.Run(ctx, r, []string{"stock"}, 100).Err(), "EMPTY nothing is left")
	fails(r.Eval(ctx, "return redis.call('LPUSH', KEYS[1], 'a')", []string{"stock"}).Err(), "WRONGTYPE")
	is("7")(r.EvalRO(ctx, "return redis.call('GET', KEYS[1])", []string{"stock"}).Text())
	fails(r.EvalRO(ctx, "return redis.call('SET', KEYS[1], 'a')", []string{"stock"}).Err(), "Write commands are not allowed")
	none(r.Eval(ctx, "return false", nil).Err())
	var taken *redis.Cmd
	value(r.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		taken = take.EvalSha(ctx, pipe, []string{"stock"}, 2)
		return nil
	}))
	is([]any{int64(5), "taken", "2"})(taken.Slice())
	is("OK")(r.ScriptFlush(ctx).Result())
	fails(take.EvalSha(ctx, r, []string{"stock"}, 1).Err(), "NOSCRIPT")
}

func bits(r *redis.Client) {
	is(int64(0))(r.SetBit(ctx, "b", 7, 1).Result())
	is(int64(1))(r.GetBit(ctx, "b", 7).Result())
	is("OK")(r.Set(ctx, "c", "\xff\x0f", 0).Result())
	is(int64(12))(r.BitCount(ctx, "c", nil).Result())
	is(int64(6))(r.BitCount(ctx, "c", &redis.BitCount{Start: 2, End: 11, Unit: "BIT"}).Result())
	is(int64(2))(r.BitOpAnd(ctx, "d", "b", "c").Result())
	is("\x01\x00")(r.Get(ctx, "d").Result())
	is(int64(8))(r.BitPos(ctx, "c", 0).Result())
	is([]int64{0, 15})(r.BitField(ctx, "d", "SET", "u8", "8", 15, "GET", "u4", "12").Result())
	is(int64(1))(r.PFAdd(ctx, "p", "a", "b").Result())
	is(int64(2))(r.PFCount(ctx, "p").Result())
}

func pipelines(r *redis.Client) {
	replies := value(r.Pipelined(ctx, func(pipe redis.Pipeliner) error {
		for at := 0; at < 5000; at++ {
			pipe.RPush(ctx, "l", at)
		}
		return nil
	}))
	for at, reply := range replies {
		is(int64(at + 1))(reply.(*redis.IntCmd).Result())
	}
	pipe := r.Pipeline()
	good, bad, after := pipe.Set(ctx, "k", "v", 0), pipe.LPush(ctx, "k", 1), pipe.Get(ctx, "k")
	_, err := pipe.Exec(ctx)
	fails(err, "WRONGTYPE")
	is("OK")(good.Result())
	fails(bad.Err(), "WRONGTYPE")
	is("v")(after.Result())
	big := strings.Repeat(allBytes, 10<<20>>8)
	is("OK")(r.Set(ctx, "big", big, 0).Result())
	got := value(r.Get(ctx, "big").Bytes())
	must(bytes.Equal(got, []byte(big)), "a big value comes back")
}

func transactions(r *redis.Client) {
	var sum *redis.IntCmd
	value(r.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, "n", 1, 0)
		sum = pipe.IncrBy(ctx, "n", 2)
		return nil
	}))
	is(int64(3))(sum.Result())
	_, err := r.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		pipe.Set(ctx, "n", 9, 0)
		return pipe.Do(ctx, "GET").Err()
	})
	fails(err, "EXECABORT")
	is("3")(r.Get(ctx, "n").Result())
	changed := r.Watch(ctx, func(tx *redis.Tx) error {
		value(r.Set(ctx, "n", 5, 0).Result())
		_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error { return pipe.Set(ctx, "n", 0, 0).Err() })
		return err
	}, "n")
	must(changed == redis.TxFailedErr, "a change of a watched key is reported")
	is("5")(r.Get(ctx, "n").Result())

	var all sync.WaitGroup
	for worker := 0; worker < 4; worker++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for done := 0; done < 50; {
				err := r.Watch(ctx, func(tx *redis.Tx) error {
					n := value(tx.Get(ctx, "n").Int())
					_, err := tx.TxPipelined(ctx, func(pipe redis.Pipeliner) error { return pipe.Set(ctx, "n", n+1, 0).Err() })
					return err
				}, "n")
				must(err == nil || err == redis.TxFailedErr, "a transaction is done or told why not")
				if err == nil {
					done++
				}
			}
		}()
	}
	all.Wait()
	is("205")(r.Get(ctx, "n").Result())
}

func blocking(r *redis.Client) {
	none(r.BLPop(ctx, time.Second, "missing").Err())
	done := make(chan []string)
	go func() {
		first := value(r.BLPop(ctx, 20*time.Second, "queue", "other").Result())
		done <- append(first, value(r.BLMove(ctx, "queue", "done", "LEFT", "RIGHT", 20*time.Second).Result()))
	}()
	until(func() bool { return value(r.InfoMap(ctx, "clients").Result())["Clients"]["blocked_clients"] == "1" })
	is(int64(2))(r.RPush(ctx, "queue", "job", "next").Result())
	is([]string{"queue", "job", "next"})(<-done, nil)
	short, end := context.WithTimeout(ctx, 50*time.Millisecond)
	defer end()
	impatient := at(port, 0, func(options *redis.Options) { options.ContextTimeoutEnabled = true })
	must(errors.Is(impatient.BRPop(short, 0, "missing").Err(), os.ErrDeadlineExceeded), "a context ends a wait")
	impatient.Close()
	is("PONG")(r.Ping(ctx).Result())
}

func messages(r *redis.Client) {
	p := r.Subscribe(ctx, "news")
	value(p.Receive(ctx))
	if p.PSubscribe(ctx, "ne*") != nil {
		failed("PSUBSCRIBE")
	}
	value(p.Receive(ctx))
	is(map[string]int64{"news": 1, "none": 0})(r.PubSubNumSub(ctx, "news", "none").Result())
	is(int64(1))(r.PubSubNumPat(ctx).Result())
	heard := p.Channel()
	is(int64(2))(r.Publish(ctx, "news", allBytes).Result())
	is(redis.Message{Channel: "news", Payload: allBytes})(*<-heard, nil)
	is(redis.Message{Channel: "news", Pattern: "ne*", Payload: allBytes})(*<-heard, nil)
	p.Close()
	until(func() bool { return value(r.Publish(ctx, "news", "nobody").Result()) == 0 })
	shard := r.SSubscribe(ctx, "part")
	value(shard.Receive(ctx))
	is(int64(1))(r.SPublish(ctx, "part", "one").Result())
	is("one")(value(shard.ReceiveMessage(ctx)).Payload, nil)
	shard.Close()
}

func scans(r *redis.Client) {
	pipe := r.Pipeline()
	names := []string{}
	for at := 0; at < 1000; at++ {
		name := fmt.Sprintf("scan:%04d", at)
		names = append(names, name)
		pipe.Set(ctx, name, at, 0)
	}
	value(pipe.Exec(ctx))
	value(r.SAdd(ctx, "scan:set", 1).Result())
	found := map[string]bool{}
	for walk := r.ScanType(ctx, 0, "scan:*", 50, "string").Iterator(); walk.Next(ctx); {
		found[walk.Val()] = true
	}
	must(len(found) == len(names), "no other key comes")
	for _, name := range names {
		must(found[name], name)
	}
	is(int64(1001))(r.DBSize(ctx).Result())
}

func ports(r *redis.Client, protocol int) {
	unix := redis.NewClient(&redis.Options{Network: "unix", Addr: socket, Protocol: protocol})
	is("OK")(unix.Set(ctx, "k", "v", 0).Result())
	is("v")(r.Get(ctx, "k").Result())
	unix.Close()
	for _, wrong := range []func(*redis.Options){
		func(options *redis.Options) {},
		func(options *redis.Options) { options.Password = "wrong" },
		func(options *redis.Options) { options.Username, options.Password = "nobody", "secret" },
	} {
		refused := at(lockedPort, protocol, wrong, func(options *redis.Options) { options.MaxRetries = -1 })
		err := refused.Ping(ctx).Err()
		must(err != nil && (strings.Contains(err.Error(), "NOAUTH") || strings.Contains(err.Error(), "WRONGPASS")), fmt.Sprint(err))
		refused.Close()
	}
	url := redis.NewClient(value(redis.ParseURL("redis://default:secret@127.0.0.1:" + lockedPort + "/2")))
	must(strings.Contains(value(url.Do(ctx, "CLIENT", "INFO").Text()), " db=2 "), "the second database is chosen")
	url.Close()
}

func restart(r *redis.Client) {
	is("OK")(r.Set(ctx, "kept", "v", 0).Result())
	fmt.Println("restart please")
	is("done\n")(answers.ReadString('\n'))
	is("v")(r.Get(ctx, "kept").Result())
}

func main() {
	defer cancel()
	for _, protocol := range []int{0, 2} {
		r := at(port, protocol)
		connects(r, protocol)
		for _, step := range []func(*redis.Client){texts, lists, hashes, sets, sortedSets, streams, scripts, bits, pipelines, transactions,
			blocking, messages, scans} {
			is("OK")(r.FlushAll(ctx).Result())
			step(r)
		}
		ports(r, protocol)
		restart(r)
		r.Close()
		fmt.Printf("go-redis %s, protocol %d: all steps done\n", redis.Version(), protocol)
	}
}
