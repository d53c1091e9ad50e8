/* Counts what a program copies: preloaded (LD_PRELOAD), it takes the place of memcpy and memmove, and adds the bytes of each
 * call of at least LEAST to the number of 8 bytes in the file named by COPIES. */

#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEAST 4096

static _Atomic uint64_t *copied_bytes;

__attribute__((constructor)) static void begin(void)
{
    const char *path = getenv("COPIES");
    int file = path ? open(path, O_RDWR) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof *copied_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED)
        copied_bytes = mapped;
    close(file);
}

void *memmove(void *to, const void *from, size_t bytes)
{
    if (bytes >= LEAST && copied_bytes)
        *copied_bytes += bytes;
    unsigned char *target = to;
    const unsigned char *source = from;
    if (target <= source)
        for (size_t at = 0; at < bytes; at++)
            target[at] = source[at];
    else
        for (size_t at = bytes; at > 0; at--)
            target[at - 1] = source[at - 1];
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    return memmove(to, from, bytes);
}
