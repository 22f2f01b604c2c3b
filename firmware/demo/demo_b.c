/* The demonstration stub in profile B: the same three tools and the same event, and it says itself which tools it has. */
#include "../profile-b/mcpx_b.h"
#include "board.h"

static uint8_t releases;

/* 1: () -> {0: reading, 1: LED, 2: releases} */
static int read_sensor(const uint8_t *args, uint8_t *resp, uint16_t *resp_len)
{
    uint8_t *at = mcpx_b_put(resp, CBOR_MAP, 3);
    (void)args;
    *at++ = 0;
    at = mcpx_b_put(at, CBOR_UINT, board_sensor());
    *at++ = 1;
    at = mcpx_b_put(at, CBOR_BOOL, board_led());
    *at++ = 2;
    at = mcpx_b_put(at, CBOR_UINT, releases);
    *resp_len = at - resp;
    return MCPX_B_DONE;
}

/* 2: (0 or 1) -> {0: LED} */
static int set_led(const uint8_t *args, uint8_t *resp, uint16_t *resp_len)
{
    uint8_t *at = mcpx_b_put(resp, CBOR_MAP, 1);
    uint32_t is_on = mcpx_b_next(&args);
    if (is_on > 1)
        return MCPX_B_BAD_ARGUMENTS;
    board_set_led((uint8_t)is_on);
    *at++ = 0;
    at = mcpx_b_put(at, CBOR_BOOL, board_led());
    *resp_len = at - resp;
    return MCPX_B_DONE;
}

/* 3: (amount, 1 to 5000) -> {0: releases}; only while the LED warns of it */
static int release(const uint8_t *args, uint8_t *resp, uint16_t *resp_len)
{
    uint8_t *at = mcpx_b_put(resp, CBOR_MAP, 1);
    uint32_t amount = mcpx_b_next(&args);
    if (amount == 0 || amount > 5000)
        return MCPX_B_BAD_ARGUMENTS;
    if (!board_led())
        return MCPX_B_REFUSED;
    board_release((uint16_t)amount);
    *at++ = 0;
    at = mcpx_b_put(at, CBOR_UINT, ++releases);
    *resp_len = at - resp;
    return MCPX_B_DONE;
}

const MCPX_B_ROM mcpax_tool_t mcpx_b_tools[] = {
    { 1, 0, { 0 }, CBOR_MAP, read_sensor },
    { 2, 1, { CBOR_UINT }, CBOR_MAP, set_led },
    { 3, 1, { CBOR_UINT }, CBOR_MAP, release },
};
const MCPX_B_ROM uint8_t mcpx_b_serial[] = { 'd', 'e', 'm', 'o' };
MCPX_B_COUNT_TABLES;

void mcpx_b_write(uint8_t byte)
{
    board_write(byte);
}

#ifndef WITHOUT_MAIN
/* Event 1: {0: reading}; once each time that the switch closes. */
static void watch(void)
{
    static uint8_t was_hot;
    uint8_t is_hot = board_is_hot();
    if (is_hot && !was_hot) {
        uint8_t *at = mcpx_b_put(mcpx_b_event(1), CBOR_MAP, 1);
        *at++ = 0;
        mcpx_b_send(mcpx_b_seal(mcpx_b_put(at, CBOR_UINT, board_sensor())));
    }
    was_hot = is_hot;
}

int main(void)
{
    board_start();
    mcpx_b_announce();
    for (;;) {
        uint8_t byte = board_read();
        mcpx_b_take(byte);
        if (byte == 0) /* between frames */
            watch();
    }
}
#endif
