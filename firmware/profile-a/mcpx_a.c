/* The whole of profile A: reads frames byte by byte, looks the command up, answers from the same buffer. */
#include "mcpx_a.h"

#if MCPX_A_PAYLOAD > 124
#error "MCPX_A_PAYLOAD: this core knows lengths of one byte only, so at most 124"
#endif

#define SOF 0x7E
#define CALL 1
#define RESPONSE 2
#define HEARTBEAT 4
#define EVENT 5

/* TYPE, TOOL_ID and SEQ stand before the payload in what LEN counts. */
#define HEAD 3

/* Whether a second SOF may be the length of a frame that fits. */
#define HAS_LENGTH_OF_SOF (HEAD + MCPX_A_PAYLOAD >= SOF)

/* An answer has its status besides, and its length has one byte too. */
#define RESULT_MAX (MCPX_A_PAYLOAD < 123 ? MCPX_A_PAYLOAD : 123)

#if MCPX_A_CRC_BYTES == 2
typedef uint16_t crc_t;
#define CRC_START 0xFFFF
#else
typedef uint8_t crc_t;
#define CRC_START 0
#endif

/* All there is of static RAM: 3 + 8 + 1 + 1 + 2 bytes. */
static uint8_t frame[HEAD + MCPX_A_PAYLOAD];
static uint8_t length;   /* LEN of the frame being read; 0: none yet */
static uint8_t position; /* 0: waiting for SOF; 1: for LEN; then 2 + bytes read after it */
static crc_t crc;

static void check(uint8_t byte)
{
    uint8_t bit;
#if MCPX_A_CRC_BYTES == 2
    crc ^= (crc_t)byte << 8;
    for (bit = 0; bit < 8; bit++)
        crc = crc & 0x8000 ? (crc_t)(crc << 1) ^ 0x1021 : (crc_t)(crc << 1);
#else
    crc ^= byte;
    for (bit = 0; bit < 8; bit++)
        crc = crc & 0x80 ? (crc_t)(crc << 1) ^ 0x07 : (crc_t)(crc << 1);
#endif
}

static void send(uint8_t byte)
{
    check(byte);
    mcpx_a_write(byte);
}

static void send_crc(void)
{
#if MCPX_A_CRC_BYTES == 2
    mcpx_a_write(crc >> 8);
#endif
    mcpx_a_write((uint8_t)crc);
}

/* The head in `frame` goes back as it came but for its type; the result stands where the request stood. */
static void answer(uint8_t type, uint8_t status, uint8_t result_length)
{
    uint8_t at;
    frame[0] = type;
    crc = CRC_START;
    mcpx_a_write(SOF);
    send(HEAD + 1 + result_length);
    for (at = 0; at < HEAD; at++)
        send(frame[at]);
    send(status);
    for (; at < HEAD + result_length; at++)
        send(frame[at]);
    send_crc();
}

uint8_t mcpx_a_event(uint8_t event_id, const uint8_t *payload, uint8_t payload_length) MCPX_A_REENTRANT
{
    /* The frame that is being read needs `crc`, and a line that is written to may lose its next byte. */
    if (position != 0 || payload_length > MCPX_A_EVENT_PAYLOAD)
        return 0;
    crc = CRC_START;
    mcpx_a_write(SOF);
    send(HEAD + payload_length);
    send(EVENT);
    send(event_id);
    send(0); /* SEQ: nothing answers an event */
    while (payload_length--)
        send(*payload++);
    send_crc();
    return 1;
}

static void call(uint8_t payload_length)
{
    uint8_t at;
    uint8_t status = MCPX_A_UNKNOWN;
    uint8_t result_length = 0;
    for (at = 0; at < mcpx_a_command_count; at++) {
        const MCPX_A_ROM mcpax_cmd_t *command = &mcpx_a_commands[at];
        if (command->cmd_id != frame[1])
            continue;
        status = MCPX_A_BAD_ARGUMENTS;
        if (command->req_len != payload_length || command->resp_len > RESULT_MAX)
            break;
        status = (uint8_t)command->handler(frame + HEAD, frame + HEAD);
        if (status == MCPX_A_DONE)
            result_length = command->resp_len;
        break;
    }
    answer(RESPONSE, status, result_length);
}

/* Anything but a call or an empty heartbeat is nobody's or an echo: silence. */
static void handle(void)
{
    if (frame[0] == CALL)
        call(length - HEAD);
    else if (frame[0] == HEARTBEAT && length == HEAD)
        answer(HEARTBEAT, MCPX_A_DONE, 0);
}

void mcpx_a_forget(void)
{
    position = 0;
}

void mcpx_a_take(uint8_t byte)
{
    uint8_t at;
#if HAS_LENGTH_OF_SOF
    /* Only a call is that long, and CALL is less than any length: this is the length of a frame whose SOF was doubled. */
    if (position == 2 && length == SOF && byte != CALL) {
        crc = CRC_START;
        position = 1;
    }
#endif
    if (position == 0) {
        crc = CRC_START;
        position = byte == SOF;
        return;
    }
    if (position == 1) {
#if !HAS_LENGTH_OF_SOF
        /* A doubled SOF is no length: the second one may be the true one. */
        if (byte == SOF)
            return;
#endif
        check(byte);
        length = byte;
        position = 2;
        if (byte < HEAD || byte > sizeof frame)
            position = 0;
        return;
    }
    check(byte);
    at = position - 2;
    if (at < length)
        frame[at] = byte;
    position++;
    if (at + 1 < length + MCPX_A_CRC_BYTES)
        return;
    position = 0;
    if (crc == 0)
        handle();
}
