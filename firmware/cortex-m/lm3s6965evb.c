/* Stellaris LM3S6965 board (Cortex-M3): UART0, the LED on port F, ADC channel 0, pin F1 as actuator, the thermal
 * switch from F2 to the supply. */
#include "../demo/board.h"
#include "sleep.h"

#define CLOCKS(number) REGISTER(0x400FE100 + 4 * (number))

#define UART(offset) REGISTER(0x4000C000 + (offset))
#define DATA UART(0x000)
#define FLAGS UART(0x018)
#define RX_EMPTY 0x10
#define TX_FULL 0x20
#define UART_INTERRUPT 5

#define PORT_F(offset) REGISTER(0x40025000 + (offset))
/* Reads and writes only the pins of the mask. */
#define PINS_F(mask) PORT_F((mask) << 2)
#define LED 1u
#define ACTUATOR 2u
#define SWITCH 4u

#define ADC(offset) REGISTER(0x40038000 + (offset))

void board_start(void)
{
    CLOCKS(0) = 1u << 16;           /* ADC */
    CLOCKS(1) = 1u;                 /* UART0 */
    CLOCKS(2) = 1u | 1u << 5;       /* ports A and F */
    REGISTER(0x40004420) = 3;       /* A0 and A1 are the UART's */
    REGISTER(0x4000451C) = 3;
    PORT_F(0x400) = LED | ACTUATOR; /* outputs, digital */
    PORT_F(0x51C) = LED | ACTUATOR | SWITCH;
    PORT_F(0x514) = SWITCH;         /* pulled down */
    UART(0x024) = 6;                /* 115200 baud out of 12 MHz */
    UART(0x028) = 33;
    UART(0x02C) = 0x60;             /* 8N1, a byte at a time */
    UART(0x030) = 0x301;
    UART(0x038) = 0x10;             /* interrupt on receiving */
    ADC(0x014) = 0;
    ADC(0x0A0) = 0;
    ADC(0x0A4) = 6;
    ADC(0x000) = 8;                 /* sequencer 3: one sample when asked */
    prepare_sleep(UART_INTERRUPT);
}

uint8_t board_read(void)
{
    while (FLAGS & RX_EMPTY)
        sleep_until(UART_INTERRUPT);
    return (uint8_t)DATA;
}

void board_write(uint8_t byte)
{
    while (FLAGS & TX_FULL)
        ;
    DATA = byte;
}

uint16_t board_sensor(void)
{
    uint16_t patience = 10000; /* QEMU's converter never says that it is done */
    ADC(0x028) = 8;
    while (!(ADC(0x004) & 8) && --patience)
        ;
    ADC(0x00C) = 8;
    return ADC(0x0A8) & 0x3FF;
}

void board_set_led(uint8_t is_on)
{
    PINS_F(LED) = is_on ? LED : 0;
}

uint8_t board_led(void)
{
    return PINS_F(LED) != 0;
}

void board_release(uint16_t amount)
{
    (void)amount;
    PINS_F(ACTUATOR) = ACTUATOR;
}

uint8_t board_is_hot(void)
{
    return PINS_F(SWITCH) != 0;
}
