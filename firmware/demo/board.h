/* What a board gives to the demonstration: one line, one sensor, one LED, one actuator, one thermal switch. */
#ifndef BOARD_H
#define BOARD_H

#include <stdint.h>

#ifdef __SDCC
#define BOARD_REENTRANT __reentrant
#else
#define BOARD_REENTRANT
#endif

void board_start(void);
/* Waits for a byte from the line. */
uint8_t board_read(void);
void board_write(uint8_t byte);

uint16_t board_sensor(void);
void board_set_led(uint8_t is_on);
/* Read back from the pin, not remembered. */
uint8_t board_led(void);
/* Lets `amount` go. It does not come back. */
void board_release(uint16_t amount);
/* Whether the thermal switch is closed. */
uint8_t board_is_hot(void);

#endif
