/*
 * clock - the counter every record is stamped with, and what it means in nanoseconds.
 *
 * The counter is the time-stamp counter where it is invariant, the generic timer on ARM, else the
 * monotonic clock. Its rate is measured against the monotonic clock: roughly when the process
 * opens its first session, and exactly over the whole session when it ends. One linear function
 * per trace turns readings into nanoseconds, so order is kept.
 */
#ifndef CG_RECORD_CLOCK_H
#define CG_RECORD_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum clock_kind { CLOCK_MONOTONIC_NS = 0, CLOCK_TSC = 1, CLOCK_ARM = 2 };

/* The one that is read without a call here, if there is any. */
#if defined(__x86_64__) || defined(__i386__)
#define CLOCK_REGISTER CLOCK_TSC
#elif defined(__aarch64__)
#define CLOCK_REGISTER CLOCK_ARM
#else
#define CLOCK_REGISTER CLOCK_MONOTONIC_NS
#endif

/* A moment seen on both clocks. */
typedef struct clock_pair {
    uint64_t ticks;
    uint64_t ns;
} clock_pair;

/* Which counter this machine offers. Asked once per session. */
enum clock_kind clock_choose(void);
const char *clock_name(enum clock_kind kind);
clock_pair clock_now(enum clock_kind kind);
/* Nanoseconds per tick x 2^32, measured for about a quarter of a millisecond. */
uint64_t clock_rate_guess(enum clock_kind kind);
/* The rate between two moments, or `guess` when they are too close to tell or nonsense. */
uint64_t clock_rate(clock_pair from, clock_pair to, uint64_t guess);

uint64_t clock_monotonic_ns(void);

static inline uint64_t clock_read(enum clock_kind kind)
{
#if defined(__x86_64__) || defined(__i386__)
    if (__builtin_expect(kind == CLOCK_TSC, 1)) {
        return __builtin_ia32_rdtsc();
    }
#elif defined(__aarch64__)
    if (__builtin_expect(kind == CLOCK_ARM, 1)) {
        uint64_t value;

        __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
        return value;
    }
#else
    (void)kind;
#endif
    return clock_monotonic_ns();
}

/* ticks x rate / 2^32 without overflow for any span of time a session can last. */
static inline uint64_t clock_ns(uint64_t ticks, uint64_t rate)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;

    return (uint64_t)((wide)ticks * rate >> 32);
#else
    uint64_t high = (ticks >> 32) * rate;

    return high + ((ticks & 0xffffffff) * (rate >> 32)) +
           ((ticks & 0xffffffff) * (rate & 0xffffffff) >> 32);
#endif
}

#endif
