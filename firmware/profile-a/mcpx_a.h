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

/* SDCC keeps arguments in static RAM unless told to use the stack, and calls through pointers only what does. */
#ifdef __SDCC
#define MCPX_A_REENTRANT __reentrant
#define MCPX_A_ROM __code
#else
#define MCPX_A_REENTRANT
#ifdef __AVR
#define MCPX_A_ROM __flash
#else
#define MCPX_A_ROM
#endif
#endif
#define MCPX_A_HANDLER MCPX_A_REENTRANT

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

/* The longest payload of an event. */
#define MCPX_A_EVENT_PAYLOAD 64

/* Sends an event, 1 to 255, such as an alarm, with the payload that the gateway's configuration expects. Returns 0 where
 * it was not sent, because the payload is too long or a frame is being read: try again after the next byte. Call it from
 * the loop that calls mcpx_a_take, never from an interrupt or a handler. */
uint8_t mcpx_a_event(uint8_t event_id, const uint8_t *payload, uint8_t payload_length) MCPX_A_REENTRANT;

/* Forgets a frame begun: for boards with a clock, after 100 ms without a byte. */
void mcpx_a_forget(void);

#endif
