/* mcpx profile A, the table stub: numbered commands over small frames. See spec/devices.md, section 2.
 * C99; no libc, no allocation, at most 16 bytes of static RAM. */
#ifndef MCPX_A_H
#define MCPX_A_H

#include <stdint.h>

/* The longest request or result, in bytes. */
#ifndef MCPX_A_PAYLOAD
#define MCPX_A_PAYLOAD 8
#endif

/* 2, or 1 where the gateway's configuration says "crc": 8. */
#ifndef MCPX_A_CRC_BYTES
#define MCPX_A_CRC_BYTES 2
#endif

/* SDCC calls through pointers only what keeps its arguments on the stack. */
#ifdef __SDCC
#define MCPX_A_HANDLER __reentrant
#define MCPX_A_ROM __code
#else
#define MCPX_A_HANDLER
#ifdef __AVR
#define MCPX_A_ROM __flash
#else
#define MCPX_A_ROM
#endif
#endif

enum {
    MCPX_A_DONE = 0,
    MCPX_A_UNKNOWN = 1,
    MCPX_A_BAD_ARGUMENTS = 2,
    MCPX_A_BUSY = 3,
    MCPX_A_REFUSED = 4,
    MCPX_A_FAILED = 5
};

typedef struct {
    uint8_t cmd_id;   /* 1 to 255 */
    uint8_t req_len;  /* fixed request payload length */
    uint8_t resp_len; /* fixed response payload length */
    /* Returns a status. `req` and `resp` are the same memory: read before writing. */
    int (*handler)(const uint8_t *req, uint8_t *resp) MCPX_A_HANDLER;
} mcpax_cmd_t;

/* Given by the board: its commands, in ROM, and how a byte leaves. */
extern const MCPX_A_ROM mcpax_cmd_t mcpx_a_commands[];
extern const MCPX_A_ROM uint8_t mcpx_a_command_count;
void mcpx_a_write(uint8_t byte);

/* Every byte that arrives goes in here; whole frames are answered before it returns. */
void mcpx_a_take(uint8_t byte);

/* Forgets a frame begun: for boards with a clock, after 100 ms without a byte. */
void mcpx_a_forget(void);

#endif
