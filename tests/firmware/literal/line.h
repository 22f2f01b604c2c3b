/* The line of a stub written after the source alone: a pseudo terminal of its own, whose path it prints. */
#ifndef LITERAL_LINE_H
#define LITERAL_LINE_H

#include <stdint.h>

void line_open(void);
/* Waits for a byte; ends the program where the line has ended. */
uint8_t line_read(void);
void line_write(uint8_t byte);

/* The CRC-16 of a frame, byte by byte. */
uint16_t crc_step(uint16_t crc, uint8_t byte);

#endif
