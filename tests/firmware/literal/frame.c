#include "frame.h"

#include "line.h"

#define SOF 0x7E

void frame_read(frame_t *frame)
{
    for (;;) {
        uint16_t crc = 0xFFFF;
        uint8_t len, at, head[3];
        while (line_read() != SOF)
            ;
        len = line_read();
        if (len < 3 || len > 127)
            continue;
        crc = crc_step(crc, len);
        for (at = 0; at < 3; at++)
            crc = crc_step(crc, head[at] = line_read());
        for (at = 0; at < len - 3; at++)
            crc = crc_step(crc, frame->payload[at] = line_read());
        crc = crc_step(crc, line_read());
        crc = crc_step(crc, line_read());
        if (crc != 0)
            continue;
        frame->type = head[0];
        frame->tool_id = head[1];
        frame->seq = head[2];
        frame->length = len - 3;
        return;
    }
}

static uint16_t sum;

static void put(uint8_t byte)
{
    sum = crc_step(sum, byte);
    line_write(byte);
}

void frame_write(uint8_t type, uint8_t tool_id, uint8_t seq, const uint8_t *payload, uint8_t length)
{
    uint16_t crc;
    line_write(SOF);
    sum = 0xFFFF;
    put(length + 3);
    put(type);
    put(tool_id);
    put(seq);
    while (length--)
        put(*payload++);
    crc = sum;
    line_write(crc >> 8);
    line_write((uint8_t)crc);
}
