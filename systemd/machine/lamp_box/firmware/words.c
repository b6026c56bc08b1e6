#include "words.h"

uint8_t *put16(uint8_t *at, uint16_t value)
{
    *at++ = (uint8_t)(value >> 8);
    *at++ = (uint8_t)value;
    return at;
}

uint8_t *put32(uint8_t *at, uint32_t value)
{
    return put16(put16(at, (uint16_t)(value >> 16)), (uint16_t)value);
}

uint8_t *put_mask(uint8_t *at, const lamp_set *lamps)
{
    *at++ = 0;
    for (uint8_t bank = BANKS; bank-- > 0;)
        *at++ = lamps->bank[bank];
    return at;
}

uint16_t take16(const uint8_t *at)
{
    return (uint16_t)at[0] << 8 | at[1];
}

uint32_t take32(const uint8_t *at)
{
    return (uint32_t)take16(at) << 16 | take16(at + 2);
}
