#define _GNU_SOURCE
#include "line.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

static int line = -1;

void line_open(void)
{
    struct termios raw;
    int port;
    line = posix_openpt(O_RDWR | O_NOCTTY);
    if (line < 0 || grantpt(line) != 0 || unlockpt(line) != 0)
        exit(1);
    /* Held open, so that the line stays when the gateway closes and opens it. */
    port = open(ptsname(line), O_RDWR | O_NOCTTY);
    tcgetattr(port, &raw);
    cfmakeraw(&raw);
    tcsetattr(port, TCSANOW, &raw);
    puts(ptsname(line));
    fflush(stdout);
}

uint8_t line_read(void)
{
    uint8_t byte;
    if (read(line, &byte, 1) != 1)
        exit(0);
    return byte;
}

void line_write(uint8_t byte)
{
    if (write(line, &byte, 1) != 1)
        exit(0);
}

uint16_t crc_step(uint16_t crc, uint8_t byte)
{
    int bit;
    crc ^= (uint16_t)(byte << 8);
    for (bit = 0; bit < 8; bit++)
        crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
    return crc;
}
