/* mcpx profile B, the self-describing stub: CBOR messages with a CRC-16. See spec/devices.md, section 3.
 * C99; no libc, no allocation; two buffers and a few bytes of state. */
#ifndef MCPX_B_H
#define MCPX_B_H

#include <stdint.h>

/* The longest packet taken and given, CRC included: 32 to 253 bytes, and enough for the registration. */
#ifndef MCPX_B_PACKET
#define MCPX_B_PACKET 96
#endif

#ifdef __AVR
#define MCPX_B_ROM __flash
#else
#define MCPX_B_ROM
#endif

enum {
    MCPX_B_DONE = 0,
    MCPX_B_UNKNOWN = 1,
    MCPX_B_BAD_ARGUMENTS = 2,
    MCPX_B_BUSY = 3,
    MCPX_B_REFUSED = 4,
    MCPX_B_FAILED = 5
};

/* CBOR major types, and two of the many things that major type 7 is. */
enum {
    CBOR_UINT = 0,
    CBOR_INT = 1,
    CBOR_BYTES = 2,
    CBOR_TEXT = 3,
    CBOR_MAP = 5,
    CBOR_BOOL = 20,
    CBOR_FLOAT = 26
};

typedef struct {
    uint8_t tool_id;   /* 1 to 255, ascending in the table */
    uint8_t arg_count; /* at most 4 */
    uint8_t arg_types[4];
    uint8_t ret_type; /* CBOR_MAP */
    /* Returns a status. `args` are the pairs of the arguments' map, already checked: as many as there should be, of the
     * types they should have; read them in order with mcpx_b_next. `resp` takes a CBOR map of at most *resp_len bytes;
     * *resp_len becomes its length. */
    int (*handler)(const uint8_t *args, uint8_t *resp, uint16_t *resp_len);
} mcpax_tool_t;

/* Given by the board: its tools, in ROM and no more than fit the registration; who it is; how a byte leaves. */
extern const MCPX_B_ROM mcpax_tool_t mcpx_b_tools[];
extern const MCPX_B_ROM uint8_t mcpx_b_tool_count;
extern const MCPX_B_ROM uint8_t mcpx_b_serial[];
extern const MCPX_B_ROM uint8_t mcpx_b_serial_length; /* 1 to 16 */
void mcpx_b_write(uint8_t byte);

/* Counts the tables above it, and compiles only where their registration fits a packet. */
#define MCPX_B_COUNT_TABLES \
    const MCPX_B_ROM uint8_t mcpx_b_tool_count = sizeof mcpx_b_tools / sizeof mcpx_b_tools[0]; \
    const MCPX_B_ROM uint8_t mcpx_b_serial_length = sizeof mcpx_b_serial; \
    typedef char mcpx_b_registration_fits \
        [20 + sizeof mcpx_b_serial + 8 * (sizeof mcpx_b_tools / sizeof mcpx_b_tools[0]) <= MCPX_B_PACKET ? 1 : -1]

/* UART: every byte that arrives goes in; whole frames are answered before it returns. Announce once at boot. */
void mcpx_b_take(uint8_t byte);
void mcpx_b_announce(void);

/* Other framings (SPI, CAN, BLE): a packet put in mcpx_b_in becomes its answer in mcpx_b_out. Returns the answer's
 * length; 0: silence. mcpx_b_register makes the announcement the same way. */
extern uint8_t mcpx_b_in[MCPX_B_PACKET];
extern uint8_t mcpx_b_out[MCPX_B_PACKET];
uint8_t mcpx_b_answer(uint8_t length);
uint8_t mcpx_b_register(void);

/* An event, 1 to 255, such as an alarm: begin it, write the map of its values (at most MCPX_B_EVENT_VALUES bytes; CBOR_MAP of
 * 0 where it has none), close it with mcpx_b_seal, which returns the length of the packet in mcpx_b_out, and send that: on
 * a UART with mcpx_b_send, best after a zero was taken, when no request is half read. Call these from the loop that takes,
 * never from an interrupt or a handler, which would write over an answer. */
#define MCPX_B_EVENT_VALUES (MCPX_B_PACKET - 11)
uint8_t *mcpx_b_event(uint8_t event_id);
uint8_t mcpx_b_seal(uint8_t *end);
void mcpx_b_send(uint8_t length);

/* For handlers. The next argument: its number (of CBOR_INT: -1 - n where it is negative, as mcpx_b_is_negative says),
 * or the length of its string, whose bytes stand at the new *args and must be stepped over by the handler. */
uint32_t mcpx_b_next(const uint8_t **args);
/* Whether the next argument is a negative integer. */
uint8_t mcpx_b_is_negative(const uint8_t *args);
/* Writes the head of an item (of CBOR_BOOL, CBOR_FLOAT: all of it, by its value or its bits); returns where it ended. */
uint8_t *mcpx_b_put(uint8_t *at, uint8_t type, uint32_t value);

#endif
