/* A set of lamps: bit b of byte n is lamp 8 n + b, numbered as REGISTERS.md numbers them. */
#ifndef LAMPS_H
#define LAMPS_H

#include <stdbool.h>
#include <stdint.h>

#include "board.h"

#define LAMPS 52

typedef struct {
    uint8_t bank[BANKS];
} lamp_set;

extern const lamp_set no_lamps;

void lamps_add(lamp_set *set, uint8_t lamp);
bool lamps_equal(const lamp_set *one, const lamp_set *other);
bool lamps_any(const lamp_set *set);

#endif
