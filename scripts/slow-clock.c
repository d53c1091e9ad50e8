// A clock for servers under Valgrind, where everything takes some fifty times as long: for the thread that serves clients,
// time passes that much slower, so that what it bounds by time (a turn, a batch) holds as many requests as without Valgrind.
// Other threads keep their time: they wait for absolute instants of the system's clock.
#define _GNU_SOURCE
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLOWER 64
#define SECOND_NS 1000000000LL

// When the thread first asked, in nanoseconds; -1 if its time is not slowed, 0 if it has not asked.
static __thread long long begun_ns;

static int serves_clients(void) {
    char name[17] = "";
    prctl(PR_GET_NAME, name);
    return strcmp(name, "bobbin-0") == 0 || strcmp(name, "redis-server") == 0;
}

int clock_gettime(clockid_t clock, struct timespec *at) {
    int result = syscall(SYS_clock_gettime, clock, at);
    if (result != 0 || clock != CLOCK_MONOTONIC) return result;
    long long ns = at->tv_sec * SECOND_NS + at->tv_nsec;
    if (begun_ns == 0) begun_ns = serves_clients() ? ns : -1;
    if (begun_ns > 0) {
        ns = begun_ns + (ns - begun_ns) / SLOWER;
        at->tv_sec = ns / SECOND_NS;
        at->tv_nsec = ns % SECOND_NS;
    }
    return result;
}
