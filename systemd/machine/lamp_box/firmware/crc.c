#include "crc.h"

#include <util/crc16.h>

uint16_t frame_crc(const uint8_t *bytes, uint16_t length)
{
    uint16_t crc = 0xFFFF;
    while (length--)
        crc = _crc16_update(crc, *bytes++);
    return crc;
}

uint32_t memory_crc(const uint8_t *bytes, uint16_t length)
{
    uint32_t crc = 0xFFFFFFFFUL;
    while (length--) {
        crc ^= *bytes++;
        for (uint8_t bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320UL : 0);
    }
    return ~crc;
}
