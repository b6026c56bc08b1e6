#include "lamps.h"

#include <string.h>

const lamp_set no_lamps;

void lamps_add(lamp_set *set, uint8_t lamp)
{
    set->bank[lamp >> 3] |= (uint8_t)(1 << (lamp & 7));
}

bool lamps_equal(const lamp_set *one, const lamp_set *other)
{
    return memcmp(one, other, sizeof *one) == 0;
}

bool lamps_any(const lamp_set *set)
{
    return !lamps_equal(set, &no_lamps);
}
