/* The lamp drivers: one chain of seven 74HC595, a transistor behind each output. */
#ifndef DRIVERS_H
#define DRIVERS_H

#include "lamps.h"

/* All outputs off, at once and whatever the chain holds. */
void drivers_off(void);

/* Drive exactly these lamps, all in the same moment. False: the chain does not hold what was shifted
 * into it; then all outputs are off. */
bool drivers_set(const lamp_set *lamps);

/* True if the chain holds these lamps; a dark one is asked to hold none. */
bool drivers_hold(const lamp_set *lamps);

/* What the chain holds, read out of it; none while its outputs are off. */
lamp_set drivers_read(void);

#endif
