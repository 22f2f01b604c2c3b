/* A board whose line is standard input and output, for the demonstration stubs under `mcpx conform stub`. */
#define _POSIX_C_SOURCE 200809L
#include "../../../firmware/demo/board.h"

#include <stdlib.h>
#include <unistd.h>

static uint8_t led;

void board_start(void)
{
}

uint8_t board_read(void)
{
    uint8_t byte;
    if (read(0, &byte, 1) != 1)
        exit(0);
    return byte;
}

void board_write(uint8_t byte)
{
    if (write(1, &byte, 1) != 1)
        exit(0);
}

uint16_t board_sensor(void)
{
    return 2150;
}

void board_set_led(uint8_t is_on)
{
    led = is_on;
}

uint8_t board_led(void)
{
    return led;
}

void board_release(uint16_t amount)
{
    (void)amount;
}

uint8_t board_is_hot(void)
{
    return 0;
}
