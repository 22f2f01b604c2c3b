/* Mutated frames at the profile A core; every answer is a frame of a kind it may give. Seeds: whole frames. */
#include "../../firmware/profile-a/mcpx_a.h"
#include "fuzz.h"
#include "pins.h"

static void check_answers(const uint8_t *heard, unsigned heard_length)
{
    const uint8_t *at = sent;
    const uint8_t *end = sent + sent_length;
    if (sent_length > sent_max)
        fail("too much was said", heard, heard_length);
    while (at < end) {
        unsigned length = at[1];
        if (at[0] != 0x7E || end - at < 4 + (int)length || length < 4 || length > 4 + MCPX_A_PAYLOAD)
            fail("no frame", sent, sent_length);
        if (at[2] != 2 && at[2] != 4)
            fail("a type that it must not send", sent, sent_length);
        if (at[5] != 0 && length != 4)
            fail("data with an error", sent, sent_length);
        if (crc_of(at + 1, length + 3) != 0)
            fail("a wrong CRC", sent, sent_length);
        at += 4 + length;
    }
}

/* Between frames an event leaves whole; in the middle of one, or too long, not at all. */
static void say_event(void)
{
    uint8_t payload[MCPX_A_EVENT_PAYLOAD + 8] = { 0 };
    uint8_t length = (uint8_t)chance(sizeof payload);
    uint8_t is_sent;
    sent_length = 0;
    is_sent = mcpx_a_event((uint8_t)(1 + chance(255)), payload, length);
    if (sent_length != (is_sent ? 7u + length : 0))
        fail("half an event", sent, sent_length);
    if (is_sent && (length > MCPX_A_EVENT_PAYLOAD || sent[0] != 0x7E || sent[2] != 5 || crc_of(sent + 1, sent_length - 1) != 0))
        fail("no event", sent, sent_length);
}

int main(int count, char **arguments)
{
    unsigned long times = strtoul(arguments[count - 2], NULL, 10), answered = 0, begun;
    uint8_t bytes[SEED_BYTES + 2];
    chance_state = strtoul(arguments[count - 1], NULL, 10);
    read_seeds();
    for (begun = 0; begun < times; begun++) {
        /* Without SOF and CRC, which are put around what was changed; LEN mostly is what it should be. */
        unsigned at, length = next_seed(bytes + 1) - 3;
        memmove(bytes + 1, bytes + 2, length);
        length = mutate(bytes + 1, length);
        if (length > 0 && chance(4))
            bytes[1] = (uint8_t)(length - 1);
        bytes[0] = 0x7E;
        length++;
        if (chance(16)) {
            uint16_t crc = crc_of(bytes + 1, length - 1);
            bytes[length++] = (uint8_t)(crc >> 8);
            bytes[length++] = (uint8_t)crc;
        }
        sent_length = 0;
        for (at = 0; at < length; at++)
            mcpx_a_take(bytes[at]);
        if (chance(64) == 0)
            mcpx_a_forget();
        if (chance(8) == 0)
            for (at = 0; at < MCPX_A_PAYLOAD + 8; at++)
                mcpx_a_take(0);
        answered += sent_length > 0;
        check_answers(bytes, length);
        if (chance(8) == 0)
            say_event();
    }
    printf("%lu %lu\n", times, answered);
    return 0;
}
