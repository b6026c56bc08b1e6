/* Checksums: Modbus CRC-16 of a frame, CRC-32 of what is retained. */
#ifndef CRC_H
#define CRC_H

#include <stdint.h>

uint16_t frame_crc(const uint8_t *bytes, uint16_t length);
uint32_t memory_crc(const uint8_t *bytes, uint16_t length);

#endif
