/* What the box retains without power: REGISTERS.md, section 6.
 *
 * An FRAM (it bears 10^13 stores and takes 0.3 ms for one; the processor's own EEPROM bears 10^5)
 * holds two slots. A store writes the older slot and reads it back; a slot counts only if its
 * checksum is right. So after a power cut the old or the new reads back, never a mixture. */
#ifndef MEMORY_H
#define MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "lamps.h"

#define ANCHOR_BYTES 48

typedef struct {
    uint32_t last_round;
    lamp_set first_lamps;
    lamp_set lamps;
    uint8_t corrections;
    uint8_t anchor[ANCHOR_BYTES];
    uint16_t restarts;
    uint16_t erasures;
} retained;

/* What the maker writes into the EEPROM when the box is flashed. */
typedef struct {
    uint32_t serial;
    uint8_t areas;
    uint8_t memory_is_new; /* 1 until the memory was stored for the first time */
} made;

extern retained kept;

void memory_start(bool is_erased_by_hand);
bool memory_is_bad(void);

/* Store `kept` whole. False: it does not read back; then the memory is bad. */
bool memory_store(void);

uint32_t made_serial(void);
uint8_t made_areas(void);

#endif
