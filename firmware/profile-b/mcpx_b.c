/* The whole of profile B: COBS in and out, CRC-16, the few shapes of CBOR that a request can have, registration. */
#include "mcpx_b.h"

#if MCPX_B_PACKET < 32 || MCPX_B_PACKET > 253
#error "MCPX_B_PACKET: 32 to 253"
#endif

#define KEY_METHOD 1
#define KEY_ID 2
#define KEY_PARAMS 3
#define KEY_RESULT 4
#define KEY_ERROR 5

#define MAP_OF(count) (0xA0 | (count))
/* The protocol's own methods are negative: -1 - n. */
#define METHOD_REGISTER 0
#define METHOD_HEARTBEAT 1
#define REGISTER_ITEM 0x20 /* -1 in CBOR */
#define EVENT_ITEM 0x22    /* -3 */
#define CRC_BYTES 2

uint8_t mcpx_b_in[MCPX_B_PACKET];
uint8_t mcpx_b_out[MCPX_B_PACKET];

static uint8_t received;  /* bytes in mcpx_b_in; more than it holds: lost */
static uint8_t block;     /* COBS: bytes until the next code byte */
static uint8_t owes_zero; /* COBS: a zero stands before the next block */

static uint16_t crc16(const uint8_t *at, uint8_t length)
{
    uint16_t crc = 0xFFFF;
    while (length--) {
        uint8_t bit;
        crc ^= (uint16_t)*at++ << 8;
        for (bit = 0; bit < 8; bit++)
            crc = crc & 0x8000 ? (uint16_t)(crc << 1) ^ 0x1021 : (uint16_t)(crc << 1);
    }
    return crc;
}

/* Reads one item's head between *from and end and steps over it, and over the bytes of a string. Returns its type (one
 * of CBOR_*), or 255 where it is cut off, longer than need be, or nothing that an argument may be. */
static uint8_t read_item(const uint8_t **from, const uint8_t *end, uint32_t *value)
{
    const uint8_t *at = *from;
    uint8_t type, extra;
    uint32_t number;
    if (at == end)
        return 255;
    type = *at >> 5;
    extra = *at++ & 31;
    number = extra;
    if (extra >= 24) {
        uint8_t bytes = 1 << (extra - 24);
        uint8_t left = bytes;
        if (extra > 26 || end - at < bytes)
            return 255;
        number = 0;
        while (left--)
            number = number << 8 | *at++;
        if (type != 7 && (bytes == 1 ? number < 24 : number >> (bytes * 4) == 0))
            return 255;
    }
    if (type == CBOR_BYTES || type == CBOR_TEXT) {
        if (number > (uint32_t)(end - at))
            return 255;
        at += (uint8_t)number;
    }
    if (type == 7) {
        if (extra == 20 || extra == 21)
            type = CBOR_BOOL;
        else if (extra == 26)
            type = CBOR_FLOAT;
        else
            return 255;
    }
    *from = at;
    *value = number;
    return type;
}

uint32_t mcpx_b_next(const uint8_t **args)
{
    uint32_t value;
    const uint8_t *at = *args + 1; /* over the key */
    uint8_t type = read_item(&at, mcpx_b_in + MCPX_B_PACKET, &value);
    if (type == CBOR_BOOL)
        value -= 20;
    if (type == CBOR_BYTES || type == CBOR_TEXT)
        at -= (uint8_t)value;
    *args = at;
    return value;
}

uint8_t mcpx_b_is_negative(const uint8_t *args)
{
    return args[1] >> 5 == CBOR_INT;
}

uint8_t *mcpx_b_put(uint8_t *at, uint8_t type, uint32_t value)
{
    uint8_t bytes = 0;
    if (type == CBOR_BOOL) {
        *at++ = value ? 0xF5 : 0xF4;
        return at;
    }
    if (type == CBOR_FLOAT) {
        type = 7;
        bytes = 4;
    } else if (value >= 0x10000)
        bytes = 4;
    else if (value >= 0x100)
        bytes = 2;
    else if (value >= 24)
        bytes = 1;
    type <<= 5;
    if (bytes == 0)
        *at++ = type | (uint8_t)value;
    else
        *at++ = type | (bytes == 4 ? 26 : 23 + bytes);
    while (bytes--)
        *at++ = (uint8_t)(value >> (bytes * 8));
    return at;
}

uint8_t mcpx_b_seal(uint8_t *end)
{
    uint8_t length = end - mcpx_b_out;
    uint16_t crc = crc16(mcpx_b_out, length);
    *end++ = crc >> 8;
    *end = (uint8_t)crc;
    return length + CRC_BYTES;
}

/* What the stub says of itself, spec section 3.3. */
static uint8_t *put_registration(uint8_t *at)
{
    uint8_t tool, arg;
    *at++ = MAP_OF(4);
    *at++ = 0;
    *at++ = 1;
    *at++ = 1;
    at = mcpx_b_put(at, CBOR_BYTES, mcpx_b_serial_length);
    for (arg = 0; arg < mcpx_b_serial_length; arg++)
        *at++ = mcpx_b_serial[arg];
    *at++ = 2;
    at = mcpx_b_put(at, CBOR_UINT, MCPX_B_PACKET);
    *at++ = 4;
    at = mcpx_b_put(at, CBOR_MAP, mcpx_b_tool_count);
    for (tool = 0; tool < mcpx_b_tool_count; tool++) {
        const MCPX_B_ROM mcpax_tool_t *one = &mcpx_b_tools[tool];
        at = mcpx_b_put(at, CBOR_UINT, one->tool_id);
        at = mcpx_b_put(at, CBOR_BYTES, one->arg_count + 1);
        *at++ = one->ret_type;
        for (arg = 0; arg < one->arg_count; arg++)
            *at++ = one->arg_types[arg];
    }
    return at;
}

/* Begins a message that nobody asked for; returns where its parameters go. */
static uint8_t *put_unasked(uint8_t method_item)
{
    uint8_t *at = mcpx_b_out;
    *at++ = MAP_OF(2);
    *at++ = KEY_METHOD;
    *at++ = method_item;
    *at++ = KEY_PARAMS;
    return at;
}

uint8_t mcpx_b_register(void)
{
    return mcpx_b_seal(put_registration(put_unasked(REGISTER_ITEM)));
}

uint8_t *mcpx_b_event(uint8_t event_id)
{
    uint8_t *at = put_unasked(EVENT_ITEM);
    *at++ = MAP_OF(2);
    *at++ = 0;
    at = mcpx_b_put(at, CBOR_UINT, event_id);
    *at++ = 1;
    return at;
}

/* Whether the pairs in [at, end) are the arguments that this tool takes. */
static uint8_t fits(const MCPX_B_ROM mcpax_tool_t *tool, const uint8_t *at, const uint8_t *end)
{
    uint8_t arg;
    uint32_t value;
    for (arg = 0; arg < tool->arg_count; arg++) {
        uint8_t type, wanted = tool->arg_types[arg];
        if (at == end || *at++ != arg)
            return 0;
        type = read_item(&at, end, &value);
        if (type != wanted && !(wanted == CBOR_INT && type == CBOR_UINT))
            return 0;
    }
    return at == end;
}

/* Runs a tool on `count` pairs in [at, end). Its result goes to *result, which becomes where that ended. */
static uint8_t run(uint8_t id, uint8_t count, const uint8_t *at, const uint8_t *end, uint8_t **result)
{
    uint8_t index;
    for (index = 0; index < mcpx_b_tool_count; index++) {
        const MCPX_B_ROM mcpax_tool_t *tool = &mcpx_b_tools[index];
        uint16_t capacity = mcpx_b_out + MCPX_B_PACKET - CRC_BYTES - *result;
        uint16_t length = capacity;
        uint8_t status;
        if (tool->tool_id != id)
            continue;
        if (tool->arg_count != count || !fits(tool, at, end))
            return MCPX_B_BAD_ARGUMENTS;
        status = (uint8_t)tool->handler(at, *result, &length);
        if (status == MCPX_B_DONE && length > capacity)
            return MCPX_B_FAILED;
        *result += status == MCPX_B_DONE ? length : 0;
        return status;
    }
    return MCPX_B_UNKNOWN;
}

/* Carries out a method of the protocol or, where it is none of those, a tool. */
static uint8_t perform(uint8_t is_own, uint8_t method, const uint8_t *at, const uint8_t *end, uint8_t **result)
{
    uint8_t count = 0;
    if (mcpx_b_in[0] == MAP_OF(3)) {
        if (end - at < 2 || at[0] != KEY_PARAMS || (at[1] & 0xF8) != MAP_OF(0))
            return MCPX_B_BAD_ARGUMENTS;
        count = at[1] & 7;
        at += 2;
    }
    if (!is_own)
        return run(method, count, at, end, result);
    if (count != 0 || at != end)
        return MCPX_B_BAD_ARGUMENTS;
    if (method == METHOD_REGISTER)
        *result = put_registration(*result);
    else if (method == METHOD_HEARTBEAT)
        *(*result)++ = MAP_OF(0);
    else
        return MCPX_B_UNKNOWN;
    return MCPX_B_DONE;
}

/* Writes the rest of an answer, behind its id: the result or the error. Returns where it ended. */
static uint8_t *respond(uint8_t is_own, uint8_t method, const uint8_t *from, const uint8_t *end, uint8_t *at)
{
    uint8_t *result = at + 1;
    uint8_t status = perform(is_own, method, from, end, &result);
    *at = KEY_RESULT;
    if (status == MCPX_B_DONE)
        return result;
    *at++ = KEY_ERROR;
    *at++ = MAP_OF(1);
    *at++ = 0;
    return mcpx_b_put(at, CBOR_UINT, status);
}

uint8_t mcpx_b_answer(uint8_t length)
{
    const uint8_t *at = mcpx_b_in + 2;
    const uint8_t *end = mcpx_b_in + length - CRC_BYTES;
    uint8_t *out = mcpx_b_out;
    uint32_t method, id;
    uint8_t type;
    /* {1: m, 2: i} are five bytes. */
    if (length < 5 + CRC_BYTES || length > MCPX_B_PACKET || crc16(mcpx_b_in, length) != 0)
        return 0;
    if ((mcpx_b_in[0] != MAP_OF(2) && mcpx_b_in[0] != MAP_OF(3)) || mcpx_b_in[1] != KEY_METHOD)
        return 0;
    type = read_item(&at, end, &method);
    if (type > CBOR_INT || method > 255 || (type == CBOR_UINT && method == 0))
        return 0;
    if (at == end || *at++ != KEY_ID || read_item(&at, end, &id) != CBOR_UINT || id > 0xFFFF)
        return 0;
    *out++ = MAP_OF(2);
    *out++ = KEY_ID;
    out = mcpx_b_put(out, CBOR_UINT, id);
    return mcpx_b_seal(respond(type == CBOR_INT, (uint8_t)method, at, end, out));
}

/* A packet of at most 253 bytes: blocks end at zeros only, and the code byte is never 255. */
void mcpx_b_send(uint8_t length)
{
    const uint8_t *at = mcpx_b_out;
    const uint8_t *end = at + length;
    if (length == 0)
        return;
    for (;;) {
        const uint8_t *zero = at;
        while (zero < end && *zero != 0)
            zero++;
        mcpx_b_write((uint8_t)(zero - at) + 1);
        while (at < zero)
            mcpx_b_write(*at++);
        if (at++ == end)
            break;
    }
    mcpx_b_write(0);
}

void mcpx_b_announce(void)
{
    /* Ends whatever the line made up while the board was without power. */
    mcpx_b_write(0);
    mcpx_b_send(mcpx_b_register());
}

static void keep(uint8_t byte)
{
    if (received < MCPX_B_PACKET)
        mcpx_b_in[received] = byte;
    if (received <= MCPX_B_PACKET)
        received++;
}

void mcpx_b_take(uint8_t byte)
{
    if (byte == 0) {
        uint8_t length = received;
        uint8_t is_whole = block == 0;
        received = 0;
        block = 0;
        owes_zero = 0;
        if (is_whole && length <= MCPX_B_PACKET)
            mcpx_b_send(mcpx_b_answer(length));
    } else if (block != 0) {
        block--;
        keep(byte);
    } else {
        if (owes_zero)
            keep(0);
        owes_zero = byte != 255;
        block = byte - 1;
    }
}
