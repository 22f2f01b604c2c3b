/* An 8052 at 11.0592 MHz: UART at 9600 baud by timer 1, LED on P1.0, actuator on P1.1, sensor on port 2,
 * the thermal switch from P1.2 to ground. */
#include <8052.h>

#include "../demo/board.h"

#ifdef MEASURE_STACK
/* The stack grows up to the end of internal RAM: painted at boot, and the sensor tells how much of it was used. */
#define PAINT 0xA5
extern __idata uint8_t _start__stack[];

static void paint_stack(void)
{
    __idata uint8_t *at = (__idata uint8_t *)(SP + 8);
    do
        *at = PAINT;
    while (at++ != (__idata uint8_t *)0xFF);
}

static uint16_t stack_used(void)
{
    __idata uint8_t *at = (__idata uint8_t *)0xFF;
    while (*at == PAINT)
        at--;
    return (uint8_t)at - (uint8_t)_start__stack + 1;
}
#endif

void board_start(void)
{
#ifdef MEASURE_STACK
    paint_stack();
#endif
    P1_0 = 0;
    P1_1 = 0;
    TMOD = 0x20;
    TH1 = 0xFD;
    TR1 = 1;
    SCON = 0x50;
}

uint8_t board_read(void)
{
    while (!RI)
        ;
    RI = 0;
    return SBUF;
}

void board_write(uint8_t byte)
{
    TI = 0;
    SBUF = byte;
    while (!TI)
        ;
}

uint16_t board_sensor(void)
{
#ifdef MEASURE_STACK
    return stack_used();
#else
    return P2;
#endif
}

void board_set_led(uint8_t is_on)
{
    P1_0 = is_on;
}

uint8_t board_led(void)
{
    return P1_0;
}

void board_release(uint16_t amount)
{
    (void)amount;
    P1_1 = 1;
}

uint8_t board_is_hot(void)
{
    return !P1_2;
}
