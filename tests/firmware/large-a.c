/* Commands with the longest payloads that a LEN of one byte allows: sums of what was heard, and results that count up. */
#include "../../firmware/demo/board.h"
#include "../../firmware/profile-a/mcpx_a.h"

static uint8_t sum(const uint8_t *req, uint8_t length)
{
    uint8_t total = 0;
    while (length--)
        total += *req++;
    return total;
}

static int sum_123(const uint8_t *req, uint8_t *resp)
{
    resp[0] = sum(req, 123);
    return MCPX_A_DONE;
}

static int sum_124(const uint8_t *req, uint8_t *resp)
{
    resp[0] = sum(req, 124);
    return MCPX_A_DONE;
}

static int count_up(const uint8_t *req, uint8_t *resp)
{
    uint8_t at;
    (void)req;
    for (at = 0; at < 122; at++)
        resp[at] = at;
    return MCPX_A_DONE;
}

const mcpax_cmd_t mcpx_a_commands[] = {
    { 4, 123, 1, sum_123 },
    { 5, 124, 1, sum_124 },
    { 6, 0, 122, count_up },
    { 7, 0, 124, count_up },
};
const uint8_t mcpx_a_command_count = sizeof mcpx_a_commands / sizeof mcpx_a_commands[0];

void mcpx_a_write(uint8_t byte)
{
    board_write(byte);
}
