/* Profile A, written after the source's appendix: its table, and its contract that a response is SEQ, PAYLOAD and a status
 * byte, in this order. */
#include "frame.h"
#include "line.h"

static uint8_t led;

static int read_sensor_handler(const uint8_t *req, uint8_t *resp)
{
    (void)req;
    resp[0] = 0x08;
    resp[1] = 0x66;
    resp[2] = led;
    resp[3] = 0x7E;
    return 0;
}

static int set_led_handler(const uint8_t *req, uint8_t *resp)
{
    (void)resp;
    if (req[0] > 1)
        return 2;
    led = req[0];
    return 0;
}

typedef struct {
    uint8_t cmd_id;
    uint8_t req_len;
    uint8_t resp_len;
    int (*handler)(const uint8_t *req, uint8_t *resp);
} mcpax_cmd_t;

static const mcpax_cmd_t commands[] = {
    { 0x01, 0, 4, read_sensor_handler },
    { 0x02, 1, 0, set_led_handler },
};

static void answer(const frame_t *call)
{
    uint8_t resp[5], resp_len = 0, status = 1;
    unsigned at;
    for (at = 0; at < sizeof commands / sizeof commands[0]; at++) {
        if (commands[at].cmd_id != call->tool_id)
            continue;
        status = call->length == commands[at].req_len ? (uint8_t)commands[at].handler(call->payload, resp) : 2;
        if (status == 0)
            resp_len = commands[at].resp_len;
    }
    resp[resp_len] = status;
    frame_write(TYPE_RESPONSE, call->tool_id, call->seq, resp, resp_len + 1);
}

int main(void)
{
    static const uint8_t done = 0;
    frame_t frame;
    line_open();
    for (;;) {
        frame_read(&frame);
        if (frame.type == TYPE_CALL)
            answer(&frame);
        else if (frame.type == TYPE_HEARTBEAT)
            frame_write(TYPE_HEARTBEAT, 0, frame.seq, &done, 1);
    }
}
