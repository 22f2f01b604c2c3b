/* Sleeping until one interrupt is pending, without ever taking it. */
#ifndef SLEEP_H
#define SLEEP_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))

static inline void prepare_sleep(uint32_t interrupt)
{
    __asm volatile("cpsid i");
    REGISTER(0xE000E100) = 1u << interrupt; /* NVIC: enabled */
}

static inline void sleep_until(uint32_t interrupt)
{
    __asm volatile("wfi" ::: "memory");
    REGISTER(0xE000E280) = 1u << interrupt; /* NVIC: no longer pending */
}

#endif
