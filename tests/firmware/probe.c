/* Tools that no board has: every type of argument given back (9, 10), and a result that is too long (11). */
#include "../../firmware/demo/board.h"
#include "../../firmware/profile-b/mcpx_b.h"

static uint8_t *copy_string(uint8_t *at, uint8_t type, const uint8_t **args)
{
    uint32_t length = mcpx_b_next(args);
    at = mcpx_b_put(at, type, length);
    while (length--)
        *at++ = *(*args)++;
    return at;
}

static int give_back(const uint8_t *args, uint8_t *resp, uint16_t *resp_len)
{
    uint8_t *at = mcpx_b_put(resp, CBOR_MAP, 4);
    uint8_t is_negative = mcpx_b_is_negative(args);
    *at++ = 0;
    at = mcpx_b_put(at, is_negative ? CBOR_INT : CBOR_UINT, mcpx_b_next(&args));
    *at++ = 1;
    at = copy_string(at, CBOR_BYTES, &args);
    *at++ = 2;
    at = copy_string(at, CBOR_TEXT, &args);
    *at++ = 3;
    at = mcpx_b_put(at, CBOR_BOOL, mcpx_b_next(&args));
    *resp_len = (uint16_t)(at - resp);
    return MCPX_B_DONE;
}

static int give_back_float(const uint8_t *args, uint8_t *resp, uint16_t *resp_len)
{
    uint8_t *at = mcpx_b_put(resp, CBOR_MAP, 1);
    *at++ = 0;
    at = mcpx_b_put(at, CBOR_FLOAT, mcpx_b_next(&args));
    *resp_len = (uint16_t)(at - resp);
    return MCPX_B_DONE;
}

static int overdo(const uint8_t *args, uint8_t *resp, uint16_t *resp_len)
{
    (void)args;
    (void)resp;
    *resp_len = 200;
    return MCPX_B_DONE;
}

const mcpax_tool_t mcpx_b_tools[] = {
    { 9, 4, { CBOR_INT, CBOR_BYTES, CBOR_TEXT, CBOR_BOOL }, CBOR_MAP, give_back },
    { 10, 1, { CBOR_FLOAT }, CBOR_MAP, give_back_float },
    { 11, 0, { 0 }, CBOR_MAP, overdo },
    { 200, 0, { 0 }, CBOR_MAP, overdo },
};
const uint8_t mcpx_b_serial[] = { 'p', 'r', 'o', 'b', 'e' };
MCPX_B_COUNT_TABLES;

void mcpx_b_write(uint8_t byte)
{
    board_write(byte);
}
