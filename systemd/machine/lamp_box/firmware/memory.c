#include "memory.h"

#include <avr/eeprom.h>
#include <string.h>

#include "crc.h"
#include "spi.h"

enum { WRITE = 2, READ = 3, WRITE_ENABLE = 6 };

#define SLOT_SPACE 0x0100

typedef struct {
    uint32_t store; /* counts stores: the slot with the later number is the newer one */
    retained kept;
    uint32_t crc;
} slot;

#ifndef SERIAL
#define SERIAL 20260002UL
#endif

static const made EEMEM made_as = {SERIAL, LAMPS, 1};

retained kept;
static uint32_t stores;
static uint8_t newer;
static bool is_bad;

static void select_memory(void)
{
    PORTB &= (uint8_t)~(1 << MEMORY_SELECT);
}

static void release_memory(void)
{
    PORTB |= 1 << MEMORY_SELECT;
}

static void begin(uint8_t operation, uint8_t which)
{
    select_memory();
    spi_byte(operation);
    spi_byte((uint8_t)(which * (SLOT_SPACE >> 8)));
    spi_byte(0);
}

static void read_slot(uint8_t which, slot *into)
{
    uint8_t *bytes = (uint8_t *)into;
    begin(READ, which);
    for (uint8_t at = 0; at < sizeof *into; at++)
        bytes[at] = spi_byte(0);
    release_memory();
}

static void write_slot(uint8_t which, const slot *from)
{
    const uint8_t *bytes = (const uint8_t *)from;
    select_memory();
    spi_byte(WRITE_ENABLE);
    release_memory();
    begin(WRITE, which);
    for (uint8_t at = 0; at < sizeof *from; at++)
        spi_byte(bytes[at]);
    release_memory();
}

static uint32_t crc_of(const slot *one)
{
    return memory_crc((const uint8_t *)one, sizeof *one - sizeof one->crc);
}

static bool load(void)
{
    bool is_found = false;
    for (uint8_t which = 0; which < 2; which++) {
        slot one;
        read_slot(which, &one);
        if (one.crc != crc_of(&one) || (is_found && one.store < stores))
            continue;
        stores = one.store;
        kept = one.kept;
        newer = which;
        is_found = true;
    }
    return is_found;
}

static bool is_new(void)
{
    return eeprom_read_byte(&made_as.memory_is_new) == 1;
}

static void forget(void)
{
    uint16_t restarts = kept.restarts, erasures = kept.erasures;
    memset(&kept, 0, sizeof kept);
    kept.restarts = restarts;
    kept.erasures = erasures;
}

void memory_start(bool is_erased_by_hand)
{
    is_bad = !load();
    if (is_bad)
        memset(&kept, 0, sizeof kept);
    if (is_erased_by_hand) {
        forget();
        kept.erasures++;
    }
    if (is_erased_by_hand || is_new())
        is_bad = false;
    kept.restarts++;
    if (!is_bad && memory_store() && is_new())
        eeprom_update_byte((uint8_t *)&made_as.memory_is_new, 0);
}

bool memory_is_bad(void)
{
    return is_bad;
}

bool memory_store(void)
{
    slot fresh, back;
    memset(&fresh, 0, sizeof fresh);
    fresh.store = stores + 1;
    fresh.kept = kept;
    fresh.crc = crc_of(&fresh);
    write_slot(newer ^ 1, &fresh);
    read_slot(newer ^ 1, &back);
    if (memcmp(&fresh, &back, sizeof fresh) != 0) {
        is_bad = true;
        return false;
    }
    stores = fresh.store;
    newer ^= 1;
    return true;
}

uint32_t made_serial(void)
{
    return eeprom_read_dword(&made_as.serial);
}

uint8_t made_areas(void)
{
    return eeprom_read_byte(&made_as.areas) == 50 ? 50 : LAMPS;
}
