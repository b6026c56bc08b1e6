#include "registers.h"

#include <avr/pgmspace.h>
#include <string.h>

#include "box.h"

typedef struct {
    uint16_t first;
    uint8_t count;
    uint8_t written; /* registers that one write must cover; 0: read only */
    uint8_t *(*read)(uint8_t *at);
    uint8_t (*write)(const uint8_t *from);
} block;

static const block blocks[] PROGMEM = {
    {0x0000, 16, 0, box_identity, 0},
    {0x0010, 32, 0, box_status, 0},
    {0x0040, 17, 12, box_stage, box_write_stage},
    {0x0060, 5, 5, box_command, box_write_command},
    {0x0080, 66, 66, box_odds, box_write_odds},
    {0x00D0, 66, 0, box_odds_shown, 0},
    {0x0120, 26, 0, box_currents, 0},
    {0x0140, 11, 0, box_committed, 0},
    {0x0150, 25, 24, box_anchor, box_write_anchor},
};

#define MOST 66

/* True, and the block, where `count` registers from `address` on lie inside one. */
static int find(uint16_t address, uint16_t count, block *found)
{
    for (uint8_t at = 0; at < sizeof blocks / sizeof *blocks; at++) {
        memcpy_P(found, &blocks[at], sizeof *found);
        if (address >= found->first && (uint32_t)address + count <= found->first + found->count)
            return 1;
    }
    return 0;
}

uint8_t registers_readable(uint16_t address, uint16_t count)
{
    block one;
    return find(address, count, &one) ? OBEYED : ILLEGAL_ADDRESS;
}

uint8_t registers_read(uint16_t address, uint16_t count, uint8_t *into)
{
    static uint8_t words[2 * MOST];
    block one;
    if (!find(address, count, &one))
        return ILLEGAL_ADDRESS;
    one.read(words);
    memcpy(into, words + 2 * (address - one.first), 2 * count);
    return OBEYED;
}

uint8_t registers_write(uint16_t address, uint16_t count, const uint8_t *from)
{
    block one;
    if (!find(address, 1, &one) || !one.write)
        return ILLEGAL_ADDRESS;
    uint8_t refusal = INCOMPLETE_WRITE;
    if (address == one.first && count == one.written)
        refusal = one.write(from);
    box_refused(refusal);
    return refusal ? ILLEGAL_VALUE : OBEYED;
}
