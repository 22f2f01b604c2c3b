/* What both ATmega328p boards share: the LED on D7, the actuator on D6, the sensor on ADC0, the thermal switch
 * from D5 to the supply, with a resistor to ground. */
#ifndef PINS_H
#define PINS_H

#include "../demo/board.h"

#include <avr/io.h>

static void start_pins(void)
{
    DDRD |= _BV(PD7) | _BV(PD6);
    ADMUX = _BV(REFS0);
    ADCSRA = _BV(ADEN) | _BV(ADPS2) | _BV(ADPS1) | _BV(ADPS0);
}

uint16_t board_sensor(void)
{
    ADCSRA |= _BV(ADSC);
    while (ADCSRA & _BV(ADSC))
        ;
    return ADC;
}

void board_set_led(uint8_t is_on)
{
    if (is_on)
        PORTD |= _BV(PD7);
    else
        PORTD &= (uint8_t)~_BV(PD7);
}

uint8_t board_led(void)
{
    return (PORTD & _BV(PD7)) != 0;
}

void board_release(uint16_t amount)
{
    (void)amount;
    PORTD |= _BV(PD6);
}

uint8_t board_is_hot(void)
{
    return (PIND & _BV(PD5)) != 0;
}

#endif
