/* ATmega328p at 16 MHz (an Arduino Uno's chip) on its UART: 38400 baud, 8N1. Sleeps until a byte arrives. */
#include "pins.h"

#include <avr/interrupt.h>
#include <avr/sleep.h>

/* Only wakes: the byte stays where it is until the main loop fetches it. */
ISR(USART_RX_vect)
{
    UCSR0B &= (uint8_t)~_BV(RXCIE0);
}

void board_start(void)
{
    start_pins();
    UBRR0 = 25;
    UCSR0B = _BV(RXEN0) | _BV(TXEN0);
}

uint8_t board_read(void)
{
    while (!(UCSR0A & _BV(RXC0))) {
        UCSR0B |= _BV(RXCIE0);
        sleep_enable();
        sei();
        sleep_cpu();
        cli();
    }
    return UDR0;
}

void board_write(uint8_t byte)
{
    while (!(UCSR0A & _BV(UDRE0)))
        ;
    UDR0 = byte;
}
