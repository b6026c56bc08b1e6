/* What can be read of the box: one function for each block. */
#include <string.h>

#include "box.h"
#include "clock.h"
#include "currents.h"
#include "drivers.h"
#include "memory.h"
#include "state.h"
#include "words.h"

enum { MAGIC = 0x51B0, MAP_VERSION = 0x0101, FIRMWARE = 0x0100, REPLY_DELAY_MS = 8 };
enum { MEASURES_BULBS = 1, RETAINS_ROUND = 2, SHOWS_PHASE = 4, SHOWS_MULTIPLIERS = 8 };
enum { HEALTHY = 1, MEASURED = 2, STAGED = 4, MULTIPLIERS = 8, SUPPLY = 16, OVERHEATED = 32,
       MEMORY = 64 };

#define GLOWING_PERCENT 50
#define STUCK_PERCENT 10
#define LEAST_SUPPLY_10MV 1000
#define MOST_SUPPLY_10MV 1400
#define MOST_TENTHS 700

bool is_measured(void)
{
    return clock_ms() - box.switched_ms > WARM_UP_MS;
}

lamp_set judge_lamps(void)
{
    lamp_set stuck = no_lamps;
    if (!is_measured())
        return stuck;
    lamp_set driven = drivers_read();
    lamp_set glowing = currents_above(GLOWING_PERCENT);
    lamp_set warm = currents_above(STUCK_PERCENT);
    for (uint8_t bank = 0; bank < BANKS; bank++) {
        box.found_open.bank[bank] |= driven.bank[bank];
        box.found_open.bank[bank] &= (uint8_t)~glowing.bank[bank];
        stuck.bank[bank] = warm.bank[bank] & (uint8_t)~driven.bank[bank];
    }
    return stuck;
}

static uint16_t flags(const lamp_set *stuck)
{
    uint16_t supply = supply_10mv();
    uint16_t wrong = 0, told = 0;
    if (supply < LEAST_SUPPLY_10MV || supply > MOST_SUPPLY_10MV)
        wrong |= SUPPLY;
    if (temperature_tenths() > MOST_TENTHS)
        wrong |= OVERHEATED;
    if (memory_is_bad())
        wrong |= MEMORY;
    if (is_measured())
        told |= MEASURED;
    if (box.staged.is_there)
        told |= STAGED;
    if (box.odds_round)
        told |= MULTIPLIERS;
    bool lamps_fail = lamps_any(&box.found_open) || lamps_any(stuck);
    if (!wrong && !lamps_fail && !box.panel_is_wrong && box.state != FAULT)
        told |= HEALTHY;
    return wrong | told;
}

uint8_t *box_identity(uint8_t *at)
{
    at = put16(at, MAGIC);
    at = put16(at, MAP_VERSION);
    at = put16(at, FIRMWARE);
    at = put32(at, made_serial());
    at = put16(at, made_areas());
    at = put16(at, MEASURES_BULBS | RETAINS_ROUND | SHOWS_PHASE |
                       (box.has_odds ? SHOWS_MULTIPLIERS : 0));
    at = put16(at, WARM_UP_MS);
    at = put16(at, STAGE_LIFE_MS);
    at = put16(at, TEST_LIFE_MS);
    at = put16(at, RATED_MA);
    at = put16(at, REPLY_DELAY_MS);
    return put32(put32(at, 0), 0);
}

uint8_t *box_status(uint8_t *at)
{
    lamp_set stuck = judge_lamps();
    lamp_set driven = drivers_read();
    lamp_set glowing = currents_above(GLOWING_PERCENT);
    at = put16(at, box.state);
    at = put16(at, flags(&stuck));
    at = put16(at, box.refusal);
    at = put16(at, kept.restarts);
    at = put32(at, clock_ms());
    at = put16(at, box.sequence);
    at = put16(at, box.phase);
    at = put32(at, box.phase_round);
    at = put32(at, box.result_round);
    at = put32(at, memory_is_bad() ? 0 : kept.last_round);
    at = put_mask(at, &driven);
    at = put_mask(at, &glowing);
    at = put_mask(at, &box.found_open);
    at = put_mask(at, &stuck);
    at = put16(at, supply_10mv());
    return put16(at, (uint16_t)temperature_tenths());
}

uint8_t *box_stage(uint8_t *at)
{
    if (box.staged.is_there)
        memcpy(at, box.staged.words, sizeof box.staged.words);
    else
        memset(at, 0, sizeof box.staged.words);
    at += sizeof box.staged.words;
    at = put16(at, box.staged.is_there ? box.staged.verdict : NOTHING_STAGED);
    return put_mask(at, box.staged.is_there ? &box.staged.own : &no_lamps);
}

uint8_t *box_command(uint8_t *at)
{
    memcpy(at, box.command, sizeof box.command);
    return at + sizeof box.command;
}

static uint8_t *put_odds(uint8_t *at, uint32_t round, const uint16_t odds[PLACES])
{
    at = put32(at, round);
    for (uint8_t place = 0; place < PLACES; place++)
        at = put16(at, odds[place]);
    return at;
}

uint8_t *box_odds(uint8_t *at)
{
    return put_odds(at, box.odds_round, box.odds);
}

uint8_t *box_odds_shown(uint8_t *at)
{
    uint16_t odds[PLACES];
    panel_read(odds);
    return put_odds(at, box.odds_round, odds);
}

uint8_t *box_currents(uint8_t *at)
{
    for (uint8_t lamp = 0; lamp < LAMPS; lamp++)
        *at++ = current_percent(lamp);
    return at;
}

uint8_t *box_committed(uint8_t *at)
{
    if (memory_is_bad()) {
        memset(at, 0, 22);
        return at + 22;
    }
    at = put32(at, kept.last_round);
    at = put_mask(at, &kept.first_lamps);
    at = put_mask(at, &kept.lamps);
    return put16(at, kept.corrections);
}

uint8_t *box_anchor(uint8_t *at)
{
    if (memory_is_bad())
        memset(at, 0, ANCHOR_BYTES);
    else
        memcpy(at, kept.anchor, ANCHOR_BYTES);
    return put16(at + ANCHOR_BYTES, kept.erasures);
}
