/* Profile B, written after the source's appendix: its table, announced row by row as it stands in ROM. Built with FRAMED it
 * speaks in the reference frame and registers with TYPE 3; without, in CBOR maps with the keys 0, 1 and 2 over COBS, and
 * with no CRC, since the source has none there. */
#include <string.h>

#include "frame.h"
#include "line.h"

enum { CBOR_UINT = 0, CBOR_MAP = 5 };

static uint8_t led;

static int dma2d_status_handler(const uint8_t *args, uint8_t *resp, uint16_t *resp_len)
{
    /* {0: busy, 1: LED} */
    (void)args;
    resp[0] = 0xA2;
    resp[1] = 0;
    resp[2] = 0xF4;
    resp[3] = 1;
    resp[4] = led ? 0xF5 : 0xF4;
    *resp_len = 5;
    return 0;
}

/* `args` is the map of the arguments: A1, key 0, a small number. */
static int set_led_handler(const uint8_t *args, uint8_t *resp, uint16_t *resp_len)
{
    if (args[0] != 0xA1 || args[1] != 0 || args[2] > 1)
        return 2;
    led = args[2];
    resp[0] = 0xA1;
    resp[1] = 0;
    resp[2] = led ? 0xF5 : 0xF4;
    *resp_len = 3;
    return 0;
}

typedef struct {
    uint8_t tool_id;
    uint8_t arg_count;
    uint8_t arg_types[4];
    uint8_t ret_type;
    int (*handler)(const uint8_t *args, uint8_t *resp, uint16_t *resp_len);
} mcpax_tool_t;

static const mcpax_tool_t tools[] = {
    { 0x01, 0, {}, CBOR_MAP, dma2d_status_handler },
    { 0x02, 1, { CBOR_UINT }, CBOR_MAP, set_led_handler },
};
#define TOOL_COUNT (sizeof tools / sizeof tools[0])

/* {tool_id: h'arg_count arg_types ret_type', …}; returns its length. */
static uint8_t put_table(uint8_t *at)
{
    uint8_t *from = at;
    unsigned tool;
    *at++ = 0xA0 | TOOL_COUNT;
    for (tool = 0; tool < TOOL_COUNT; tool++) {
        *at++ = tools[tool].tool_id;
        *at++ = 0x46;
        *at++ = tools[tool].arg_count;
        memcpy(at, tools[tool].arg_types, 4);
        at += 4;
        *at++ = tools[tool].ret_type;
    }
    return (uint8_t)(at - from);
}

static int run(uint8_t tool_id, const uint8_t *args, uint8_t *resp, uint16_t *resp_len)
{
    unsigned tool;
    *resp_len = 0;
    for (tool = 0; tool < TOOL_COUNT; tool++)
        if (tools[tool].tool_id == tool_id)
            return tools[tool].handler(args, resp, resp_len);
    return 1;
}

#ifdef FRAMED

static void register_stub(uint8_t seq)
{
    uint8_t table[64];
    frame_write(TYPE_REGISTRATION, 0, seq, table, put_table(table));
}

int main(void)
{
    static const uint8_t done = 0;
    frame_t frame;
    uint8_t resp[64];
    uint16_t resp_len;
    line_open();
    register_stub(0);
    for (;;) {
        frame_read(&frame);
        if (frame.type == TYPE_CALL) {
            resp[0] = (uint8_t)run(frame.tool_id, frame.payload, resp + 1, &resp_len);
            frame_write(TYPE_RESPONSE, frame.tool_id, frame.seq, resp, (uint8_t)(resp_len + 1));
        } else if (frame.type == TYPE_REGISTRATION)
            register_stub(frame.seq);
        else if (frame.type == TYPE_HEARTBEAT)
            frame_write(TYPE_HEARTBEAT, 0, frame.seq, &done, 1);
    }
}

#else

/* {0: "2.0", …}, so far. */
static const uint8_t version[] = { 0xA3, 0, 0x63, '2', '.', '0' };

static void cobs_write(const uint8_t *at, unsigned length)
{
    const uint8_t *end = at + length;
    line_write(0);
    while (at <= end) {
        const uint8_t *zero = at;
        while (zero < end && *zero != 0)
            zero++;
        line_write((uint8_t)(zero - at + 1));
        while (at < zero)
            line_write(*at++);
        at++;
    }
    line_write(0);
}

/* Returns the length of the next packet that is whole. */
static unsigned cobs_read(uint8_t *packet, unsigned size)
{
    for (;;) {
        unsigned length = 0, left = 0;
        uint8_t code = 0xFF, byte;
        while ((byte = line_read()) != 0) {
            if (left != 0) {
                left--;
                if (length < size)
                    packet[length++] = byte;
            } else {
                if (code != 0xFF && length < size)
                    packet[length++] = 0;
                code = byte;
                left = byte - 1u;
            }
        }
        if (left == 0 && length > 0)
            return length;
    }
}

static void announce(void)
{
    uint8_t message[80];
    memcpy(message, version, sizeof version);
    /* 1: -1 (register), 3: the table */
    memcpy(message + sizeof version, "\x01\x20\x03", 3);
    cobs_write(message, sizeof version + 3 + put_table(message + sizeof version + 3));
}

/* A request is {1: method, 2: id} or {1: method, 2: id, 3: arguments}, with small methods and ids of up to two bytes. */
static void answer(const uint8_t *request)
{
    uint8_t message[80], *at = message + sizeof version;
    uint8_t method = request[2], id_bytes = request[4] < 24 ? 1 : request[4] == 24 ? 2 : 3, status;
    uint16_t resp_len;
    if (method == 0x20) {
        announce();
        return;
    }
    memcpy(message, version, sizeof version);
    *at++ = 2;
    memcpy(at, request + 4, id_bytes);
    at += id_bytes;
    status = (uint8_t)run(method, request + 4 + id_bytes + 1, at + 1, &resp_len);
    *at++ = status == 0 ? 4 : 5;
    if (status == 0)
        at += resp_len;
    else {
        *at++ = 0xA1;
        *at++ = 0;
        *at++ = status;
    }
    cobs_write(message, (unsigned)(at - message));
}

int main(void)
{
    uint8_t request[80];
    line_open();
    announce();
    for (;;) {
        cobs_read(request, sizeof request);
        answer(request);
    }
}

#endif
