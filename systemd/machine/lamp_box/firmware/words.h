/* Registers as bytes: most significant word first, each word most significant byte first. */
#ifndef WORDS_H
#define WORDS_H

#include <stdint.h>

#include "lamps.h"

#define MASK_BYTES 8

uint8_t *put16(uint8_t *at, uint16_t value);
uint8_t *put32(uint8_t *at, uint32_t value);
uint8_t *put_mask(uint8_t *at, const lamp_set *lamps);
uint16_t take16(const uint8_t *at);
uint32_t take32(const uint8_t *at);

#endif
