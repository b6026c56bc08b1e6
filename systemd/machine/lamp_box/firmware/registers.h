/* The register map: blocks, what each reads as, and who takes what is written. */
#ifndef REGISTERS_H
#define REGISTERS_H

#include <stdint.h>

/* Modbus exceptions; 0 is none. */
enum { OBEYED = 0, ILLEGAL_FUNCTION = 1, ILLEGAL_ADDRESS = 2, ILLEGAL_VALUE = 3 };

/* Write `count` registers from `address` on, two bytes each, into `into`. */
uint8_t registers_read(uint16_t address, uint16_t count, uint8_t *into);

/* The exception that a read would be answered with, without reading. */
uint8_t registers_readable(uint16_t address, uint16_t count);

uint8_t registers_write(uint16_t address, uint16_t count, const uint8_t *from);

#endif
