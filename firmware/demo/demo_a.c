/* The demonstration stub in profile A: reads a sensor, sets an LED, releases something for good, says when it is too hot. */
#include "../profile-a/mcpx_a.h"
#include "board.h"

static uint8_t releases;

/* 1: () -> reading (2 bytes), LED, releases */
static int read_sensor(const uint8_t *req, uint8_t *resp) MCPX_A_HANDLER
{
    uint16_t reading = board_sensor();
    (void)req;
    resp[0] = reading >> 8;
    resp[1] = (uint8_t)reading;
    resp[2] = board_led();
    resp[3] = releases;
    return MCPX_A_DONE;
}

/* 2: (0 or 1) -> () */
static int set_led(const uint8_t *req, uint8_t *resp) MCPX_A_HANDLER
{
    (void)resp;
    if (req[0] > 1)
        return MCPX_A_BAD_ARGUMENTS;
    board_set_led(req[0]);
    return MCPX_A_DONE;
}

/* 3: (amount, 2 bytes, 1 to 5000) -> releases; only while the LED warns of it */
static int release(const uint8_t *req, uint8_t *resp) MCPX_A_HANDLER
{
    uint16_t amount = (uint16_t)req[0] << 8 | req[1];
    if (amount == 0 || amount > 5000)
        return MCPX_A_BAD_ARGUMENTS;
    if (!board_led())
        return MCPX_A_REFUSED;
    board_release(amount);
    resp[0] = ++releases;
    return MCPX_A_DONE;
}

const MCPX_A_ROM mcpax_cmd_t mcpx_a_commands[] = {
    { 1, 0, 4, read_sensor },
    { 2, 1, 0, set_led },
    { 3, 2, 1, release },
};
const MCPX_A_ROM uint8_t mcpx_a_command_count = sizeof mcpx_a_commands / sizeof mcpx_a_commands[0];

void mcpx_a_write(uint8_t byte)
{
    board_write(byte);
}

#ifndef WITHOUT_MAIN
/* Event 1: reading (2 bytes); once each time that the switch closes. */
static void watch(void)
{
    static uint8_t was_hot;
    uint8_t is_hot = board_is_hot();
    if (is_hot && !was_hot) {
        uint16_t reading = board_sensor();
        uint8_t payload[2];
        payload[0] = reading >> 8;
        payload[1] = (uint8_t)reading;
        if (!mcpx_a_event(1, payload, sizeof payload))
            return;
    }
    was_hot = is_hot;
}

int main(void)
{
    board_start();
    for (;;) {
        mcpx_a_take(board_read());
        watch();
    }
}
#endif
