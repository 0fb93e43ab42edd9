#include "record/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

uint64_t clock_monotonic_ns(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_MONOTONIC, &now) != 0) {
        return 0;
    }
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__) || defined(__i386__)
/* Many virtual machines hide the invariant bit although their kernel trusts the counter. */
static bool kernel_trusts_tsc(void)
{
    char text[8] = {0};
    int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                    O_RDONLY | O_CLOEXEC);

    if (file < 0) {
        return false;
    }
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    return count == 4 && memcmp(text, "tsc\n", 4) == 0;
}
#endif

enum clock_kind clock_choose(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a = 0;
    unsigned b = 0;
    unsigned c = 0;
    unsigned d = 0;

    if ((__get_cpuid(0x80000007u, &a, &b, &c, &d) != 0 && (d & 1u << 8) != 0) ||
        kernel_trusts_tsc()) {
        return CLOCK_TSC;
    }
#elif defined(__aarch64__)
    return CLOCK_ARM;
#endif
    return CLOCK_MONOTONIC_NS;
}

const char *clock_name(enum clock_kind kind)
{
    switch (kind) {
    case CLOCK_TSC: return "tsc";
    case CLOCK_ARM: return "cntvct";
    case CLOCK_MONOTONIC_NS: break;
    }
    return "monotonic";
}

/* The tightest of a few tries: an interrupt between the two reads would skew the pair. */
clock_pair clock_now(enum clock_kind kind)
{
    clock_pair best = {0, 0};
    uint64_t best_width = UINT64_MAX;

    for (unsigned i = 0; i < 8; i++) {
        uint64_t before = clock_read(kind);
        uint64_t ns = clock_monotonic_ns();
        uint64_t after = clock_read(kind);

        if (after - before < best_width) {
            best_width = after - before;
            best.ticks = before + (after - before) / 2;
            best.ns = ns;
        }
    }
    return best;
}

uint64_t clock_rate_guess(enum clock_kind kind)
{
    uint64_t one = UINT64_C(1) << 32;
    clock_pair from;
    clock_pair to;

    if (kind == CLOCK_MONOTONIC_NS) {
        return one;
    }
    from = clock_now(kind);
    do {
        to = clock_now(kind);
    } while (to.ns - from.ns < 250000 && to.ns >= from.ns);
    return clock_rate(from, to, one);
}

uint64_t clock_rate(clock_pair from, clock_pair to, uint64_t guess)
{
    if (to.ns < from.ns + 200000 || to.ticks <= from.ticks) {
        return guess;
    }
    uint64_t ns = to.ns - from.ns;
    uint64_t ticks = to.ticks - from.ticks;

    /* Shift both down until the quotient below cannot overflow. */
    while (ns >= UINT64_C(1) << 32) {
        ns >>= 1;
        ticks >>= 1;
    }
    return ticks == 0 ? guess : (ns << 32) / ticks;
}
