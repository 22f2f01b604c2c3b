/* From reset to main on any Cortex-M: vectors, data, zeros, and a painted stack whose high water can be read later. */
#include <stdint.h>

extern uint32_t data_in_flash[], data_start[], data_end[], bss_start[], bss_end[], stack_top[];
int main(void);

/* What the stack is painted with. */
#define PAINT 0xA5A5A5A5u

static void stop(void)
{
    for (;;)
        ;
}

static void start(void)
{
    const uint32_t *from = data_in_flash;
    volatile uint32_t *to;
    uint32_t here;
    for (to = data_start; to < data_end;)
        *to++ = *from++;
    for (to = bss_start; to < bss_end;)
        *to++ = 0;
    __asm volatile("mov %0, sp" : "=r"(here));
    for (; to < (volatile uint32_t *)(here - 32);)
        *to++ = PAINT;
    main();
    stop();
}

/* Interrupts stay masked: they only wake the core from its sleep. */
__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    stack_top, (void *)start, (void *)stop, (void *)stop,
};
