// A clock for servers under Valgrind, where everything takes some fifty times as long: time, the day's apart, passes that
// much slower, so that what a server bounds by time (a turn, a batch) holds as many requests as without Valgrind.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SLOWER 64
#define SECOND_NS 1000000000LL

int clock_gettime(clockid_t clock, struct timespec *at) {
    int result = syscall(SYS_clock_gettime, clock, at);
    if (result == 0 && clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) {
        long long ns = (at->tv_sec * SECOND_NS + at->tv_nsec) / SLOWER;
        at->tv_sec = ns / SECOND_NS;
        at->tv_nsec = ns % SECOND_NS;
    }
    return result;
}
