/* ATmega328p as an SPI slave: packets with a length before them, idle bytes between; spec/devices.md, section 4.2. */
#include "../profile-b/mcpx_b.h"
#include "pins.h"

#define IDLE 0xFF
#define PREFIX 2

static uint8_t heard;  /* bytes of a prefixed packet received; 255: skipping noise */
static uint8_t wanted; /* its length */
static uint8_t said;   /* bytes of the prefixed answer given */
static uint8_t answer; /* its length; 0: none */

static uint8_t next_out(void)
{
    uint8_t at = said;
    if (answer == 0)
        return IDLE;
    said++;
    if (at < PREFIX)
        return at == 0 ? 0 : answer;
    at -= PREFIX;
    if (at == answer - 1)
        answer = 0;
    return mcpx_b_out[at];
}

static void finish(void)
{
    heard = 0;
    answer = mcpx_b_answer(wanted);
    said = 0;
}

static void take(uint8_t byte)
{
    if (heard == 255 || (heard == 0 && byte == IDLE)) {
        if (byte == IDLE)
            heard = 0;
    } else if (heard == 0) {
        heard = byte == 0 ? 1 : 255; /* no packet taken here has 256 bytes */
    } else if (heard == 1) {
        wanted = byte;
        heard = byte != 0 && byte <= MCPX_B_PACKET ? PREFIX : 255;
    } else {
        mcpx_b_in[heard - PREFIX] = byte;
        heard++;
        if (heard - PREFIX == wanted)
            finish();
    }
}

int main(void)
{
    start_pins();
    DDRB |= _BV(PB4); /* MISO */
    SPCR = _BV(SPE);
    SPDR = IDLE;
    answer = mcpx_b_register();
    for (;;) {
        while (!(SPSR & _BV(SPIF)))
            if (PINB & _BV(PB2)) /* not selected: what was begun is over */
                heard = 0;
        {
            uint8_t byte = SPDR;
            SPDR = next_out();
            take(byte);
        }
    }
}
