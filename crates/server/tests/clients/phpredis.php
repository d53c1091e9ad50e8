<?php
// phpredis in ordinary use: what its documentation promises must hold against Bobbin.
//
//     php phpredis.php PORT UNIX_SOCKET LOCKED_PORT
//
// The arguments and the line "restart please" are those of redis_py.py. As there, all of it must hold against redis-server,
// too.

declare(strict_types=1);

[, $port, $socket, $locked_port] = $argv;
$port = (int)$port;
$locked_port = (int)$locked_port;
$all_bytes = implode('', array_map('chr', range(0, 255)));

set_error_handler(function (int $level, string $text, string $file, int $line): never {
    throw new ErrorException($text, 0, $level, $file, $line);
});

/** Ends the script unless `$got` is `$wanted`, type and all. */
function is(mixed $wanted, mixed $got): void
{
    if ($wanted !== $got) {
        throw new LogicException(var_export($got, true) . ' instead of ' . var_export($wanted, true));
    }
}

/** As `is`, in whatever order. */
function holds(array $wanted, array $got): void
{
    sort($wanted);
    sort($got);
    is($wanted, $got);
}

/** The text of the error that a call must end in. */
function refused(callable $call): string
{
    try {
        $result = $call();
    } catch (RedisException $error) {
        return $error->getMessage();
    }
    throw new LogicException(var_export($result, true) . ' instead of an error');
}

/** Waits for what another connection or the clock brings about. */
function until(callable $condition): void
{
    for ($round = 0; $round < 3000; $round++) {
        if ($condition()) {
            return;
        }
        usleep(10_000);
    }
    throw new LogicException('what was waited for did not happen');
}

function connected(): Redis
{
    global $port;
    $r = new Redis();
    is(true, $r->connect('127.0.0.1', $port, 20.0));
    return $r;
}

/** What `$work` sends: it runs in a process of its own beside `$meanwhile`. */
function beside(callable $work, callable $meanwhile): mixed
{
    [$here, $there] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM, 0);
    $child = pcntl_fork();
    if ($child === 0) {
        $work(connected(), function (mixed $result) use ($there): never {
            fwrite($there, serialize($result));
            posix_kill(getmypid(), SIGKILL); // the parent's connections stay open
        });
    }
    fclose($there);
    $meanwhile();
    $result = unserialize(stream_get_contents($here));
    pcntl_waitpid($child, $status);
    return $result;
}

function connects(Redis $r): void
{
    global $port;
    is(true, $r->ping());
    is('hello', $r->echo('hello'));
    is('standalone', $r->info('server')['redis_mode']);
    is(['port' => (string)$port], $r->config('GET', 'port'));
    is(true, $r->client('setname', 'a-name'));
    is('a-name', $r->client('getname'));
    is(true, in_array('a-name', array_column($r->client('list'), 'name'), true));
    is(true, $r->select(1));
    is(1, $r->getDBNum());
    is(true, $r->set('elsewhere', 'v'));
    is(true, $r->select(0));
    is(0, $r->exists('elsewhere'));
    is(true, abs((int)$r->time()[0] - time()) < 3600);
}

function texts(Redis $r): void
{
    global $all_bytes;
    is(true, $r->set($all_bytes, $all_bytes));
    is($all_bytes, $r->get($all_bytes));
    is(false, $r->get('missing'));
    is(true, $r->set('k', 'v', ['nx', 'ex' => 100]));
    is(false, $r->set('k', 'w', ['nx']));
    is(true, $r->ttl('k') > 90);
    is(true, $r->persist('k'));
    is(-1, $r->ttl('k'));
    is(true, $r->setex('k', 100, 'w'));
    is(true, $r->mSet(['a' => '1', 'b' => '2']));
    is(['1', false, '2'], $r->mGet(['a', 'missing', 'b']));
    is(42, $r->incrBy('a', 41));
    is(42.5, $r->incrByFloat('a', 0.5));
    is(false, $r->incr('k'));
    is(true, str_contains($r->getLastError(), 'not an integer'));
    $r->clearLastError();
    is(4, $r->append('b', 'abc'));
    is('abc', $r->getRange('b', 1, -1));
    is('w', $r->getSet('k', 'x'));
    is(2, $r->del(['a', 'b', 'missing']));
    is(Redis::REDIS_STRING, $r->type('k'));
    is(true, $r->psetex('short', 30, 'v'));
    until(fn() => $r->get('short') === false);
    is(-2, $r->ttl('short'));
    is(false, $r->rawCommand('NONSENSE', 'a'));
    is(true, str_contains($r->getLastError(), 'unknown command'));
    $big = str_repeat($all_bytes, 10 << 20 >> 8);
    is(true, $r->set('big', $big));
    is(true, $r->get('big') === $big);
    $r->setOption(Redis::OPT_SERIALIZER, Redis::SERIALIZER_PHP);
    is(true, $r->set('object', ['list' => [1, 2.5, null], 'text' => 'ä']));
    is(['list' => [1, 2.5, null], 'text' => 'ä'], $r->get('object'));
    $r->setOption(Redis::OPT_SERIALIZER, Redis::SERIALIZER_NONE);
    $r->setOption(Redis::OPT_PREFIX, 'app:');
    is(true, $r->set('k', 'mine'));
    $r->setOption(Redis::OPT_PREFIX, '');
    is('mine', $r->get('app:k'));
}

function lists(Redis $r): void
{
    is(3, $r->rPush('l', 'a', 'b', 'c'));
    is(4, $r->lPush('l', 'z'));
    is(['z', 'a', 'b', 'c'], $r->lRange('l', 0, -1));
    is(5, $r->lInsert('l', Redis::BEFORE, 'b', 'x'));
    is(1, $r->lRem('l', 'x', 0));
    is('a', $r->lIndex('l', 1));
    is(true, $r->lSet('l', 1, 'y'));
    is('z', $r->lPop('l'));
    is('c', $r->rPoplPush('l', 'm'));
    is(['c'], $r->lRange('m', 0, -1));
    is(true, $r->lTrim('l', 0, 0));
    is(1, $r->lLen('l'));
    is(false, $r->lPush($r->set('text', 'v') ? 'text' : '', 'a'));
    is(true, str_contains($r->getLastError(), 'WRONGTYPE'));
    $r->clearLastError();
}

function hashes(Redis $r): void
{
    is(1, $r->hSet('h', 'name', 'build'));
    is(true, $r->hMSet('h', ['tries' => '3', 'share' => '0.25']));
    is(['name' => 'build', 'tries' => '3', 'share' => '0.25'], $r->hGetAll('h'));
    is(['name' => 'build', 'missing' => false], $r->hMGet('h', ['name', 'missing']));
    is(5, $r->hIncrBy('h', 'tries', 2));
    is(0.75, $r->hIncrByFloat('h', 'share', 0.5));
    is(false, $r->hSetNx('h', 'name', 'other'));
    is(true, $r->hExists('h', 'name'));
    is(1, $r->hDel('h', 'name', 'missing'));
    is(5, $r->hStrLen('h', 'tries') + $r->hStrLen('h', 'share'));
    holds(['tries', 'share'], $r->hKeys('h'));
    $fields = [];
    for ($at = 0; $at < 1000; $at++) {
        $fields["field:$at"] = (string)$at;
    }
    $r->hMSet('many', $fields);
    $found = [];
    $cursor = null;
    while ($page = $r->hScan('many', $cursor, 'field:*', 100)) {
        $found += $page;
    }
    holds($fields, $found);
}

function sets(Redis $r): void
{
    is(3, $r->sAdd('s', 'x', 'y', '1', 'x'));
    holds(['x', 'y', '1'], $r->sMembers('s'));
    is([1, 0], $r->sMisMember('s', 'x', 'z'));
    is(2, $r->sAddArray('t', ['y', 'z']) ? $r->sCard('t') : -1);
    is(['y'], $r->sInter('s', 't'));
    is(4, $r->sUnionStore('u', 's', 't'));
    is(['z'], $r->sDiff('t', 's'));
    is(true, $r->sMove('s', 't', 'x'));
    is(3, count($r->sPop('t', 5)));
    is(false, $r->sPop('t'));
    $r->sAddArray('many', array_map('strval', range(1, 1000)));
    $found = [];
    $cursor = null;
    while ($page = $r->sScan('many', $cursor, '*', 100)) {
        $found = array_merge($found, $page);
    }
    is(1000, count(array_unique($found)));
}

function sorted_sets(Redis $r): void
{
    is(3, $r->zAdd('z', 1, 'a', 2.5, 'b', 2.5, 'c'));
    is(['a' => 1.0, 'b' => 2.5, 'c' => 2.5], $r->zRange('z', 0, -1, true));
    is(['c', 'b'], $r->zRevRangeByScore('z', '+inf', '(1'));
    is(['b' => 2.5], $r->zRangeByScore('z', '2', '3', ['withscores' => true, 'limit' => [0, 1]]));
    is(1, $r->zAdd('z', ['XX', 'CH'], 9, 'a'));
    is(9.0, $r->zScore('z', 'a'));
    is(false, $r->zScore('z', 'missing'));
    is(2, $r->zRank('z', 'a'));
    is(3.5, $r->zIncrBy('z', 1, 'b'));
    is(2, $r->zCount('z', '-inf', '(9'));
    is(['c' => 2.5], $r->zPopMin('z'));
    is(['a' => 9.0], $r->zPopMax('z', 1));
    is(1, $r->zAdd('y', 10, 'b'));
    is(1, $r->zInterStore('x', ['z', 'y'], [2.0, 1.0], 'max'));
    is(['b' => 10.0], $r->zRange('x', 0, -1, true));
    is(['z', 'b', '3.5'], $r->bzPopMin(['missing', 'z'], 1));
    for ($at = 0; $at < 1000; $at++) {
        $r->zAdd('many', $at / 4, "member:$at");
    }
    $found = [];
    $cursor = null;
    while ($page = $r->zScan('many', $cursor, 'member:*', 100)) {
        $found += $page;
    }
    is(1000, count($found));
    is(2.25, $found['member:9']);
}

function streams(Redis $r): void
{
    $ids = array_map(fn(int $at) => $r->xAdd('x', '*', ['n' => (string)$at]), range(0, 9));
    is('5-1', $r->xAdd('y', '5-1', ['a' => 'b']));
    is(['5-1' => ['a' => 'b']], $r->xRange('y', '-', '+'));
    is([$ids[9] => ['n' => '9']], $r->xRevRange('x', '+', '-', 1));
    is(['x' => [$ids[9] => ['n' => '9']], 'y' => ['5-1' => ['a' => 'b']]], $r->xRead(['x' => $ids[8], 'y' => '0']));
    $heard = beside(fn(Redis $own, callable $send) => $send($own->xRead(['x' => '$'], 1, 20_000)), function () use ($r, &$next) {
        until(fn() => $r->info('clients')['blocked_clients'] == 1);
        $next = $r->xAdd('x', '*', ['n' => 'next']);
    });
    is(['x' => [$next => ['n' => 'next']]], $heard);
    is(true, $r->xGroup('CREATE', 'x', 'g', '0'));
    is([$ids[0] => ['n' => '0'], $ids[1] => ['n' => '1']], $r->xReadGroup('g', 'me', ['x' => '>'], 2)['x']);
    is(1, $r->xAck('x', 'g', [$ids[0]]));
    is([1, $ids[1], $ids[1], [['me', '1']]], $r->xPending('x', 'g'));
    is([$ids[1] => ['n' => '1']], $r->xClaim('x', 'g', 'other', 0, [$ids[1]]));
    is(11, $r->xInfo('STREAM', 'x')['length']);
    is(1, $r->xInfo('GROUPS', 'x')[0]['pending']);
    is(1, $r->xDel('x', [$ids[0]]));
    is(5, $r->xTrim('x', 5));
    is(5, $r->xLen('x'));
}

function scripts(Redis $r): void
{
    $take = "if redis.call('GET', KEYS[1]) < ARGV[1] then return {err = 'EMPTY nothing is left'} end
        return {redis.call('DECRBY', KEYS[1], ARGV[1]), 'taken'}";
    is(false, $r->evalSha(sha1($take), ['stock', '3'], 1));
    is(true, str_contains($r->getLastError(), 'NOSCRIPT'));
    $r->clearLastError();
    is(true, $r->set('stock', '9'));
    is([6, 'taken'], $r->eval($take, ['stock', '3'], 1));
    is([3, 'taken'], $r->evalSha(sha1($take), ['stock', '3'], 1));
    is('EMPTY nothing is left', refused(fn() => $r->evalSha(sha1($take), ['stock', '9'], 1)));
    is(sha1('return 1'), $r->script('load', 'return 1'));
    is([1, 0], $r->script('exists', sha1('return 1'), sha1('')));
    is(true, $r->script('flush'));
    is([[1, 'two', [3]], false], $r->multi()->eval("return {1, 'two', {3}}")->eval('return false')->exec());
}

function bits(Redis $r): void
{
    is(0, $r->setBit('b', 7, true));
    is(1, $r->getBit('b', 7));
    is(true, $r->set('c', "\xff\x0f"));
    is(12, $r->bitCount('c'));
    is(2, $r->bitOp('AND', 'd', 'b', 'c'));
    is("\x01\x00", $r->get('d'));
    is(8, $r->bitPos('c', 0));
    is(1, $r->pfAdd('p', ['a', 'b']) ? 1 : 0);
    is(2, $r->pfCount('p'));
}

function pipelines(Redis $r): void
{
    $pipe = $r->multi(Redis::PIPELINE);
    for ($at = 0; $at < 5000; $at++) {
        $pipe->rPush('l', (string)$at);
    }
    is(range(1, 5000), $pipe->exec());
    is([true, false, 'v'], $r->pipeline()->set('k', 'v')->lPush('k', 'x')->get('k')->exec());
    $r->clearLastError();
}

function transactions(Redis $r): void
{
    is([true, 2, '2'], $r->multi()->set('a', '1')->incr('a')->get('a')->exec());
    is(true, $r->watch('a'));
    is(true, connected()->set('a', '9'));
    is(false, $r->multi()->set('a', '0')->exec());
    is('9', $r->get('a'));
    is(true, $r->watch('a'));
    is(true, $r->unwatch());
    is(true, $r->multi()->set('a', '0')->discard());
    is('9', $r->get('a'));
}

function blocking(Redis $r): void
{
    is([], $r->blPop(['missing', 'none'], 1));
    $found = beside(
        fn(Redis $own, callable $send) => $send([
            $own->blPop(['queue', 'other'], 20),
            $own->brpoplpush('queue', 'done', 20),
        ]),
        function () use ($r) {
            until(fn() => $r->info('clients')['blocked_clients'] == 1);
            is(2, $r->rPush('queue', 'job', 'next'));
        },
    );
    is([['queue', 'job'], 'next'], $found);
    is(['next'], $r->lRange('done', 0, -1));
}

function messages(Redis $r): void
{
    global $all_bytes;
    $heard = beside(
        function (Redis $own, callable $send) {
            $heard = [];
            $own->subscribe(['news', 'end'], function (Redis $own, string $channel, string $text) use (&$heard, $send) {
                $heard[] = [$channel, $text];
                if ($channel === 'end') {
                    $send($heard);
                }
            });
        },
        function () use ($r, $all_bytes) {
            until(fn() => $r->pubsub('numsub', ['news', 'end']) === ['news' => 1, 'end' => 1]);
            is(1, $r->publish('news', $all_bytes));
            is(1, $r->publish('end', ''));
        },
    );
    is([['news', $all_bytes], ['end', '']], $heard);
}

function scans(Redis $r): void
{
    $names = array_map(fn(int $at) => "scan:$at", range(1, 1000));
    is(true, $r->mSet(array_fill_keys($names, 'v')));
    $r->setOption(Redis::OPT_SCAN, Redis::SCAN_RETRY);
    $found = [];
    $cursor = null;
    while ($page = $r->scan($cursor, 'scan:*', 50)) {
        $found = array_merge($found, $page);
    }
    holds($names, array_values(array_unique($found)));
    is(1000, $r->dbSize());
    is(1, count($r->keys('scan:100?')) + count($r->keys('scan:999')) - count($r->keys('scan:1000')));
}

function ports(Redis $r): void
{
    global $socket, $locked_port;
    $unix = new Redis();
    is(true, $unix->connect($socket));
    is(true, $unix->set('k', 'v'));
    is('v', $r->get('k'));
    $locked = new Redis();
    $locked->connect('127.0.0.1', $locked_port);
    is(true, str_contains(refused(fn() => $locked->get('k')), 'NOAUTH'));
    is(true, str_contains(refused(fn() => $locked->auth('wrong')), 'WRONGPASS'));
    is(true, str_contains(refused(fn() => $locked->auth(['nobody', 'secret'])), 'WRONGPASS'));
    is(true, $locked->auth(['default', 'secret']));
    is(false, $locked->get('k'));
    $again = new Redis();
    is(true, $again->pconnect('127.0.0.1', $locked_port));
    is(true, $again->auth('secret'));
    is(true, $again->ping());
}

function restart(Redis $r): void
{
    is(true, $r->set('kept', 'v'));
    echo "restart please\n";
    is("done\n", fgets(STDIN));
    until(function () use ($r) {
        try {
            return $r->get('kept') === 'v'; // it connects again by itself
        } catch (RedisException) {
            return false;
        }
    });
}

$r = connected();
connects($r);
$steps = ['texts', 'lists', 'hashes', 'sets', 'sorted_sets', 'streams', 'scripts', 'bits', 'pipelines', 'transactions', 'blocking',
    'messages', 'scans', 'ports', 'restart'];
foreach ($steps as $step) {
    is(true, $r->flushAll());
    $step($r);
}
echo 'phpredis ' . phpversion('redis') . ": all steps done\n";
