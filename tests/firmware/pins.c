/* A board that is only memory, for tests: what leaves is kept, the sensor always reads 2150. */
#include "pins.h"

#include "../../firmware/demo/board.h"

uint8_t sent[sent_max];
unsigned sent_length;
static uint8_t led;

void board_write(uint8_t byte)
{
    if (sent_length < sent_max)
        sent[sent_length] = byte;
    sent_length++;
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
