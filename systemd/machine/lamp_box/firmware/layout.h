/* Which lamps three dice light: REGISTERS.md, "Which lamps win". */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <stdbool.h>

#include "lamps.h"

#define DOUBLE_ON_TRIPLE 1
#define EVEN_ODD_ON_TRIPLE 2

lamp_set winning_lamps(const uint8_t values[3], bool has_even_odd, uint8_t options);

/* True for a lamp that a box with so many areas has. */
bool lamp_is_fitted(uint8_t lamp, uint8_t areas);

#endif
