/* What left the board, in order. */
#ifndef PINS_H
#define PINS_H

#include <stdint.h>

#define sent_max 4096
extern uint8_t sent[sent_max];
extern unsigned sent_length;

#endif
