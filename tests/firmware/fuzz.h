/* Mutated frames for the fuzzers: valid ones from standard input, in hexadecimal, changed where their parts are. */
#ifndef FUZZ_H
#define FUZZ_H

#include "hex.h"

#define SEEDS_MAX 256
#define SEED_BYTES 256

static uint8_t seeds[SEEDS_MAX][SEED_BYTES];
static unsigned seed_lengths[SEEDS_MAX], seed_count;
static uint64_t chance_state;

/* xorshift64*: the same numbers on every machine. */
static uint32_t chance(uint32_t below)
{
    chance_state ^= chance_state >> 12;
    chance_state ^= chance_state << 25;
    chance_state ^= chance_state >> 27;
    return (uint32_t)((chance_state * 0x2545F4914F6CDD1DULL) >> 33) % below;
}

static void read_seeds(void)
{
    static char line[LINE_MAX_CHARS];
    while (seed_count < SEEDS_MAX && fgets(line, sizeof line, stdin)) {
        unsigned length = from_hex(line, seeds[seed_count], SEED_BYTES / 2);
        if (length > 0)
            seed_lengths[seed_count++] = length;
    }
}

/* Bytes that mean something to a parser. */
static const uint8_t telling[] = { 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x17, 0x18, 0x19, 0x1A, 0x1B, 0x20, 0x21, 0x38,
    0x40, 0x42, 0x58, 0x5A, 0x60, 0x62, 0x78, 0x7E, 0x7F, 0x80, 0xA0, 0xA1, 0xA2, 0xA3, 0xA4, 0xBF, 0xF4, 0xF5, 0xF6,
    0xFA, 0xFE, 0xFF };

/* Changes up to four places: another byte, one more, one less, many more, the end of another seed. */
static unsigned mutate(uint8_t *bytes, unsigned length)
{
    unsigned times = chance(5);
    while (times--) {
        unsigned at = chance(length + 1);
        switch (chance(6)) {
        case 0:
            if (at < length)
                bytes[at] = telling[chance(sizeof telling)];
            break;
        case 1:
            if (at < length)
                bytes[at] ^= (uint8_t)(1 << chance(8));
            break;
        case 2:
            if (length < SEED_BYTES - 1) {
                memmove(bytes + at + 1, bytes + at, length - at);
                bytes[at] = telling[chance(sizeof telling)];
                length++;
            }
            break;
        case 3:
            if (at < length) {
                memmove(bytes + at, bytes + at + 1, length - at - 1);
                length--;
            }
            break;
        case 4:
            /* Too long for any stub, now and then. */
            if (chance(8) == 0)
                while (length < SEED_BYTES - 1 && chance(128))
                    bytes[length++] = telling[chance(sizeof telling)];
            break;
        default: {
            unsigned other = chance(seed_count);
            unsigned more = chance(seed_lengths[other] + 1);
            if (at + more < SEED_BYTES) {
                memcpy(bytes + at, seeds[other] + seed_lengths[other] - more, more);
                length = at + more;
            }
        }
        }
    }
    return length;
}

static unsigned next_seed(uint8_t *bytes)
{
    unsigned which = chance(seed_count);
    memcpy(bytes, seeds[which], seed_lengths[which]);
    return seed_lengths[which];
}

static uint16_t crc_of(const uint8_t *bytes, unsigned length)
{
    uint16_t crc = 0xFFFF;
    while (length--) {
        uint8_t x = (uint8_t)(crc >> 8 ^ *bytes++);
        x ^= x >> 4;
        crc = (uint16_t)(crc << 8 ^ x << 12 ^ x << 5 ^ x);
    }
    return crc;
}

static void fail(const char *what, const uint8_t *bytes, unsigned length)
{
    fprintf(stderr, "%s: ", what);
    while (length--)
        fprintf(stderr, "%02x", *bytes++);
    fprintf(stderr, "\n");
    exit(1);
}

#endif
