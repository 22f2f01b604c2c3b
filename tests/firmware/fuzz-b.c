/* Mutated packets at the profile B core, through its UART; every answer is a packet with a good CRC, an id and a body.
 * Seeds: whole packets. */
#include "../../firmware/profile-b/mcpx_b.h"
#include "fuzz.h"
#include "pins.h"

static void take_cobs(const uint8_t *at, unsigned length)
{
    const uint8_t *end = at + length;
    for (;;) {
        const uint8_t *zero = at;
        while (zero < end && *zero != 0 && zero - at < 254)
            zero++;
        mcpx_b_take((uint8_t)(zero - at + 1));
        for (; at < zero; at++)
            mcpx_b_take(*at);
        if (at == end)
            break;
        if (*at == 0)
            at++;
    }
    mcpx_b_take(0);
}

/* Undoes COBS in `sent`, one frame that ends with its only zero. */
static unsigned undo_cobs(uint8_t *packet)
{
    unsigned at = 0, length = 0;
    while (at < sent_length - 1) {
        unsigned code = sent[at++], left = code - 1;
        if (code == 0 || at + left > sent_length - 1)
            fail("no COBS", sent, sent_length);
        while (left--)
            packet[length++] = sent[at++];
        if (at < sent_length - 1)
            packet[length++] = 0;
    }
    return length;
}

static void check_answer(void)
{
    uint8_t packet[sent_max];
    unsigned length;
    if (sent_length > MCPX_B_PACKET + 2 || sent[sent_length - 1] != 0)
        fail("no frame", sent, sent_length);
    length = undo_cobs(packet);
    if (length < 7 || length > MCPX_B_PACKET || crc_of(packet, length) != 0)
        fail("no packet", packet, length);
    if (packet[0] != 0xA2 || packet[1] != 2 || packet[2] > 0x19)
        fail("no answer", packet, length);
    unsigned body = packet[2] < 24 ? 3 : packet[2] == 0x18 ? 4 : 5;
    if (packet[body] != 4 && (packet[body] != 5 || packet[body + 1] != 0xA1 || packet[body + 3] == 0))
        fail("neither result nor error", packet, length);
}

/* An event leaves whole, whatever was heard before it. */
static void say_event(void)
{
    uint8_t packet[sent_max];
    unsigned length;
    sent_length = 0;
    mcpx_b_send(mcpx_b_seal(mcpx_b_put(mcpx_b_event((uint8_t)(1 + chance(255))), CBOR_MAP, 0)));
    length = undo_cobs(packet);
    if (crc_of(packet, length) != 0 || packet[0] != 0xA2 || packet[2] != 0x22 || packet[3] != 3)
        fail("no event", packet, length);
}

int main(int count, char **arguments)
{
    unsigned long times = strtoul(arguments[count - 2], NULL, 10), answered = 0, begun;
    uint8_t bytes[SEED_BYTES + 2];
    chance_state = strtoul(arguments[count - 1], NULL, 10);
    read_seeds();
    mcpx_b_announce();
    for (begun = 0; begun < times; begun++) {
        unsigned at, length = next_seed(bytes) - 2;
        length = mutate(bytes, length);
        if (chance(16)) {
            uint16_t crc = crc_of(bytes, length);
            bytes[length++] = (uint8_t)(crc >> 8);
            bytes[length++] = (uint8_t)crc;
        }
        sent_length = 0;
        if (chance(16))
            take_cobs(bytes, length);
        else {
            /* As it is: code bytes that point anywhere. */
            for (at = 0; at < length; at++)
                mcpx_b_take(bytes[at]);
            sent_length = 0;
            mcpx_b_take(0);
        }
        if (sent_length > 0) {
            answered++;
            check_answer();
        }
        if (chance(8) == 0)
            say_event();
    }
    printf("%lu %lu\n", times, answered);
    return 0;
}
