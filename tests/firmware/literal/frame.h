/* The reference frame, as a stub reads and writes it that has a buffer of 128 bytes: SOF, LEN, TYPE, TOOL_ID, SEQ, PAYLOAD,
 * CRC. */
#ifndef LITERAL_FRAME_H
#define LITERAL_FRAME_H

#include <stdint.h>

enum { TYPE_CALL = 1, TYPE_RESPONSE = 2, TYPE_REGISTRATION = 3, TYPE_HEARTBEAT = 4 };

typedef struct {
    uint8_t type, tool_id, seq, length;
    uint8_t payload[124];
} frame_t;

/* Waits for the next frame whose CRC is right. */
void frame_read(frame_t *frame);
void frame_write(uint8_t type, uint8_t tool_id, uint8_t seq, const uint8_t *payload, uint8_t length);

#endif
