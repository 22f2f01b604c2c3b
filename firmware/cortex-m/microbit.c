/* BBC micro:bit (nRF51822, Cortex-M0): UART on the USB chip's pins, one LED of the matrix, the noise source as sensor
 * (the one that both the chip and its emulator have), pin 0 of the edge as actuator, the thermal switch from
 * pin 1 of the edge to the supply. */
#include "../demo/board.h"
#include "sleep.h"

#define UART(offset) REGISTER(0x40002000 + (offset))
#define START_RX UART(0x000)
#define START_TX UART(0x008)
#define RX_READY UART(0x108)
#define TX_READY UART(0x11C)
#define INTERRUPTS UART(0x304)
#define ENABLE UART(0x500)
#define PIN_TX UART(0x50C)
#define PIN_RX UART(0x514)
#define RXD UART(0x518)
#define TXD UART(0x51C)
#define BAUD_RATE UART(0x524)
#define UART_INTERRUPT 2

#define GPIO(offset) REGISTER(0x50000000 + (offset))
#define OUT GPIO(0x504)
#define OUT_SET GPIO(0x508)
#define OUT_CLEAR GPIO(0x50C)
#define IN GPIO(0x510)
#define DIRECTION_SET GPIO(0x518)
#define SETTINGS_OF(pin) GPIO(0x700 + 4 * (pin))
#define PULLED_DOWN 4 /* an input */
#define ROW_1 (1u << 13)
#define COLUMN_1 (1u << 4)
#define EDGE_0 (1u << 3)
#define EDGE_1_PIN 2

#define RNG(offset) REGISTER(0x4000D000 + (offset))

void board_start(void)
{
    DIRECTION_SET = ROW_1 | COLUMN_1 | EDGE_0 | 1u << 24;
    OUT_CLEAR = ROW_1 | EDGE_0;
    SETTINGS_OF(EDGE_1_PIN) = PULLED_DOWN;
    PIN_TX = 24;
    PIN_RX = 25;
    BAUD_RATE = 0x01D7E000; /* 115200 */
    ENABLE = 4;
    INTERRUPTS = 1u << 2;
    START_RX = 1;
    START_TX = 1;
    prepare_sleep(UART_INTERRUPT);
}

uint8_t board_read(void)
{
    while (!RX_READY)
        sleep_until(UART_INTERRUPT);
    RX_READY = 0;
    return (uint8_t)RXD;
}

void board_write(uint8_t byte)
{
    TX_READY = 0;
    TXD = byte;
    while (!TX_READY)
        ;
}

uint16_t board_sensor(void)
{
    RNG(0x100) = 0;
    RNG(0x000) = 1;
    while (!RNG(0x100))
        ;
    RNG(0x004) = 1; /* it takes current, and its emulator a processor's time */
    return (uint16_t)RNG(0x508);
}

void board_set_led(uint8_t is_on)
{
    if (is_on)
        OUT_SET = ROW_1;
    else
        OUT_CLEAR = ROW_1;
}

uint8_t board_led(void)
{
    return (OUT & ROW_1) != 0;
}

void board_release(uint16_t amount)
{
    (void)amount;
    OUT_SET = EDGE_0;
}

uint8_t board_is_hot(void)
{
    return (IN >> EDGE_1_PIN) & 1;
}
