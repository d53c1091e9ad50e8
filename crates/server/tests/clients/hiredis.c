/* hiredis in ordinary use: what its documentation promises must hold against Bobbin.
 *
 *     hiredis PORT UNIX_SOCKET LOCKED_PORT
 *
 * The arguments and the line "restart please" are those of redis_py.py. */

#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BIG_BYTES (10u << 20)

static int sent_in_line;

static void failed(const char *condition, int line) {
    fprintf(stderr, "hiredis.c:%d: not so: %s; the last command was sent in line %d\n", line, condition, sent_in_line);
    exit(1);
}

#define must(condition) ((condition) ? (void)0 : failed(#condition, __LINE__))
#define redisCommand(...) (sent_in_line = __LINE__, redisCommand(__VA_ARGS__))

static redisContext *connected(redisContext *context) {
    must(context != NULL);
    if (context->err) {
        fprintf(stderr, "not connected: %s\n", context->errstr);
        exit(1);
    }
    return context;
}

/* The reply, which must be of that type. */
static redisReply *is(redisReply *reply, int type) {
    must(reply != NULL);
    if (reply->type != type) {
        fprintf(stderr, "a reply of type %d instead of %d: %s\n", reply->type, type, reply->str ? reply->str : "");
        failed("the reply's type", __LINE__);
    }
    return reply;
}

static void is_status(redisReply *reply, const char *text) {
    must(strcmp(is(reply, REDIS_REPLY_STATUS)->str, text) == 0);
    freeReplyObject(reply);
}

static void is_number(redisReply *reply, long long number) {
    must(is(reply, REDIS_REPLY_INTEGER)->integer == number);
    freeReplyObject(reply);
}

static void is_bytes(redisReply *reply, const void *bytes, size_t count) {
    must(is(reply, REDIS_REPLY_STRING)->len == count);
    must(memcmp(reply->str, bytes, count) == 0);
    freeReplyObject(reply);
}

static void is_nothing(redisReply *reply) {
    freeReplyObject(is(reply, REDIS_REPLY_NIL));
}

static void is_error(redisReply *reply, const char *begin) {
    must(strncmp(is(reply, REDIS_REPLY_ERROR)->str, begin, strlen(begin)) == 0);
    freeReplyObject(reply);
}

/* Whether this is Bobbin, not the redis-server that the test itself is tested on. */
static int is_bobbin(redisContext *context) {
    redisReply *info = is(redisCommand(context, "INFO server"), REDIS_REPLY_STRING);
    int found = strstr(info->str, "bobbin_version") != NULL;
    freeReplyObject(info);
    return found;
}

static redisReply *next(redisContext *context) {
    void *reply = NULL;
    must(redisGetReply(context, &reply) == REDIS_OK);
    return reply;
}

static void values(redisContext *c) {
    is_status(redisCommand(c, "PING"), "PONG");
    is_status(redisCommand(c, "SET %s %d", "k", 42), "OK");
    is_bytes(redisCommand(c, "GET k"), "42", 2);
    is_nothing(redisCommand(c, "GET missing"));
    is_number(redisCommand(c, "INCR k"), 43);
    is_number(redisCommand(c, "RPUSH l a b %b", "c\0\r\n", (size_t)4), 3);
    redisReply *range = is(redisCommand(c, "LRANGE l 0 -1"), REDIS_REPLY_ARRAY);
    must(range->elements == 3);
    must(range->element[2]->len == 4);
    must(memcmp(range->element[2]->str, "c\0\r\n", 4) == 0);
    freeReplyObject(range);
    is_error(redisCommand(c, "LPUSH k a"), "WRONGTYPE ");
    is_number(redisCommand(c, "HSET h a 1 b 2"), 2);
    is_bytes(redisCommand(c, "HGET h b"), "2", 1);
    is_number(redisCommand(c, "SADD s a b a"), 2);
    is_number(redisCommand(c, "ZADD z 1.5 a 2 b"), 2);
    is_number(redisCommand(c, "ZRANK z b"), 1);
    if (is_bobbin(c)) is_error(redisCommand(c, "NOSUCH x * a 1"), "ERR unknown command");
    must(c->err == 0);
}

static void binary_and_big(redisContext *c) {
    unsigned char key[256];
    for (int byte = 0; byte < 256; byte++) key[byte] = (unsigned char)byte;
    char *big = malloc(BIG_BYTES);
    must(big != NULL);
    for (size_t at = 0; at < BIG_BYTES; at++) big[at] = (char)(at % 251);
    is_status(redisCommand(c, "SET %b %b", key, sizeof key, big, (size_t)BIG_BYTES), "OK");
    is_bytes(redisCommand(c, "GET %b", key, sizeof key), big, BIG_BYTES);
    const char *words[] = {"RPUSH", "big", big, ""};
    const size_t lengths[] = {5, 3, BIG_BYTES, 0};
    is_number(redisCommandArgv(c, 4, words, lengths), 2);
    is_bytes(redisCommand(c, "LPOP big"), big, BIG_BYTES);
    is_bytes(redisCommand(c, "LPOP big"), "", 0);
    free(big);
}

static void pipeline(redisContext *c) {
    for (int index = 0; index < 10000; index++) must(redisAppendCommand(c, "RPUSH p %d", index) == REDIS_OK);
    for (int index = 0; index < 10000; index++) is_number(next(c), index + 1);
}

static void transaction(redisContext *c, redisContext *other) {
    is_status(redisCommand(c, "MULTI"), "OK");
    is_status(redisCommand(c, "SET t 1"), "QUEUED");
    is_status(redisCommand(c, "INCR t"), "QUEUED");
    redisReply *done = is(redisCommand(c, "EXEC"), REDIS_REPLY_ARRAY);
    must(done->elements == 2);
    must(done->element[1]->integer == 2);
    freeReplyObject(done);
    is_status(redisCommand(c, "WATCH t"), "OK");
    is_number(redisCommand(other, "INCR t"), 3);
    is_status(redisCommand(c, "MULTI"), "OK");
    is_status(redisCommand(c, "SET t 0"), "QUEUED");
    is_nothing(redisCommand(c, "EXEC"));
    is_bytes(redisCommand(c, "GET t"), "3", 1);
}

static void blocking(redisContext *c, redisContext *other) {
    is_nothing(redisCommand(c, "BLPOP none 0.01"));
    must(redisAppendCommand(c, "BLPOP queue 20") == REDIS_OK);
    int sent = 0;
    while (!sent) must(redisBufferWrite(c, &sent) == REDIS_OK);
    is_number(redisCommand(other, "RPUSH queue job"), 1);
    redisReply *pair = is(next(c), REDIS_REPLY_ARRAY);
    must(pair->elements == 2);
    must(strcmp(pair->element[1]->str, "job") == 0);
    freeReplyObject(pair);
}

/* hiredis before 1.0 does not know RESP3. */
static void resp3(redisContext *c) {
#ifdef REDIS_REPLY_MAP
    redisReply *hello = is(redisCommand(c, "HELLO 3"), REDIS_REPLY_MAP);
    int proto = 0;
    for (size_t at = 0; at + 1 < hello->elements; at += 2) {
        if (strcmp(hello->element[at]->str, "proto") == 0) proto = (int)hello->element[at + 1]->integer;
    }
    must(proto == 3);
    freeReplyObject(hello);
    is_nothing(redisCommand(c, "GET missing"));
    freeReplyObject(is(redisCommand(c, "CONFIG GET port"), REDIS_REPLY_MAP));
    redisReply *info = is(redisCommand(c, "INFO server"), REDIS_REPLY_VERB);
    must(strcmp(info->vtype, "txt") == 0);
    freeReplyObject(info);
#endif
    is_status(redisCommand(c, "RESET"), "RESET");
}

static void passwords(int port) {
    redisContext *c = connected(redisConnect("127.0.0.1", port));
    is_error(redisCommand(c, "GET k"), "NOAUTH ");
    is_error(redisCommand(c, "AUTH wrong"), "WRONGPASS ");
    is_error(redisCommand(c, "HELLO 3"), "NOAUTH ");
    is_status(redisCommand(c, "AUTH secret"), "OK");
    is_status(redisCommand(c, "PING"), "PONG");
    redisFree(c);
}

static void restart(redisContext *ports[2]) {
    is_status(redisCommand(ports[0], "SET kept v"), "OK");
    puts("restart please");
    fflush(stdout);
    char line[16];
    must(fgets(line, sizeof line, stdin) != NULL);
    for (int at = 0; at < 2; at++) {
        redisContext *c = ports[at];
        must(redisCommand(c, "GET kept") == NULL);
        must(c->err == REDIS_ERR_EOF || c->err == REDIS_ERR_IO);
        must(redisReconnect(c) == REDIS_OK);
        is_bytes(redisCommand(c, "GET kept"), "v", 1);
    }
}

int main(int count, char **arguments) {
    must(count == 4);
    signal(SIGPIPE, SIG_IGN);
    int port = atoi(arguments[1]);
    struct timeval patience = {20, 0};
    redisContext *tcp = connected(redisConnectWithTimeout("127.0.0.1", port, patience));
    redisContext *unix_socket = connected(redisConnectUnix(arguments[2]));
    redisContext *ports[] = {tcp, unix_socket};
    for (int at = 0; at < 2; at++) {
        redisContext *c = ports[at], *other = ports[1 - at];
        is_status(redisCommand(c, "FLUSHALL"), "OK");
        values(c);
        binary_and_big(c);
        pipeline(c);
        transaction(c, other);
        blocking(c, other);
        resp3(c);
    }
    passwords(atoi(arguments[3]));
    restart(ports);
    printf("hiredis %d.%d.%d: all steps done\n", HIREDIS_MAJOR, HIREDIS_MINOR, HIREDIS_PATCH);
    redisFree(tcp);
    redisFree(unix_socket);
    return 0;
}
