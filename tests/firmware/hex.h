/* Hexadecimal text into bytes. */
#ifndef HEX_H
#define HEX_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_CHARS 65536

static unsigned from_hex(const char *text, uint8_t *bytes, unsigned max)
{
    unsigned length = 0, value;
    while (length < max && sscanf(text + 2 * length, "%2x", &value) == 1 && text[2 * length] > ' ')
        bytes[length++] = (uint8_t)value;
    return length;
}

#endif
