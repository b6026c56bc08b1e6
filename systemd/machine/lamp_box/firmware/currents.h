/* The current of each lamp, the lamp supply and the temperature, measured all the time.
 *
 * A resistor of 10 ohm carries a lamp's current to ground; seven 74HC4051 lead the 52 voltages to
 * seven inputs of the converter, whose reference is 1.225 V. One round of all inputs takes 6.4 ms. */
#ifndef CURRENTS_H
#define CURRENTS_H

#include <stdint.h>

#include "lamps.h"

#define RATED_MA 40

void currents_start(void);

/* Percent of the rated current, 255 for more. */
uint8_t current_percent(uint8_t lamp);

/* Lamps with at least so much current. */
lamp_set currents_above(uint8_t percent);

uint16_t supply_10mv(void);
int16_t temperature_tenths(void);

#endif
