#include "box.h"

#include <string.h>

#include "clock.h"
#include "drivers.h"
#include "layout.h"
#include "memory.h"
#include "state.h"
#include "words.h"

enum { COMMIT = 1, CLEAR, GO_DARK, SHOW_PHASE, TEST_LAMP, CORRECT };

#define DEMONSTRATION 0x0100
#define LAST_PHASE 13
#define MOST_ODDS 9999
#define LOOK_MS 100

box_state box;

/* ── Lamps ── */

static void fail(void)
{
    drivers_off();
    box.wanted = no_lamps;
    box.result_round = 0;
    box.staged.is_there = false;
    box.state = FAULT;
}

/* False: the drivers failed; the box is then dark and in fault. */
static bool light(const lamp_set *lamps)
{
    if (!lamps_equal(lamps, &box.wanted))
        box.switched_ms = clock_ms();
    box.wanted = *lamps;
    if (drivers_set(lamps))
        return true;
    fail();
    return false;
}

static void show_panel(void)
{
    box.panel_is_wrong = !panel_show(box.phase, box.odds);
}

static void blank_odds(void)
{
    bool was_blank = box.odds_round == 0;
    box.odds_round = 0;
    memset(box.odds, 0, sizeof box.odds);
    if (!was_blank)
        show_panel();
}

static void go_dark(void)
{
    box.staged.is_there = false;
    box.result_round = 0;
    if (box.state != FAULT)
        box.state = DARK;
    light(&no_lamps);
    blank_odds();
}

/* ── Stage ── */

static bool is_range(const uint8_t *values)
{
    for (uint8_t die = 0; die < 3; die++)
        if (take16(values + 2 * die) < 1 || take16(values + 2 * die) > 6)
            return false;
    return true;
}

/* Why the lamps of `round` could not be lit now. */
static uint8_t judge(uint32_t round, const lamp_set *own)
{
    if (box.state == FAULT)
        return BOX_FAULT;
    if (box.state == TEST)
        return TEST_RUNNING;
    if (box.state == RESULT && (round != box.result_round || !lamps_equal(own, &box.result)))
        return RESULT_LIT;
    return ACCEPTED;
}

static uint8_t judge_stage(stage *one)
{
    const uint8_t *at = one->words + 6;
    uint16_t layout = take16(at + 6), options = take16(at + 8);
    uint8_t mask[MASK_BYTES];
    if (!is_range(at))
        return VALUE_RANGE;
    if ((layout != 50 && layout != LAMPS) || layout > made_areas() || options > 3)
        return LAYOUT_DIFFERS;
    uint8_t values[3] = {at[1], at[3], at[5]};
    one->own = winning_lamps(values, layout == LAMPS, (uint8_t)options);
    put_mask(mask, &one->own);
    if (memcmp(mask, at + 10, MASK_BYTES) != 0)
        return MASK_DIFFERS;
    return judge(one->round, &one->own);
}

uint8_t box_write_stage(const uint8_t *from)
{
    stage *one = &box.staged;
    memset(one, 0, sizeof *one);
    memcpy(one->words, from, sizeof one->words);
    one->round = take32(from + 2);
    one->at_ms = clock_ms();
    one->verdict = judge_stage(one);
    one->is_there = true;
    return ACCEPTED;
}

/* ── Commit and correct ── */

static uint8_t ready(uint32_t round)
{
    if (!box.staged.is_there)
        return NOTHING_STAGED;
    if (round != box.staged.round)
        return OTHER_ROUND;
    return box.staged.verdict ? box.staged.verdict : judge(round, &box.staged.own);
}

static bool retain(const stage *one)
{
    bool is_same = one->round == kept.last_round;
    if (is_same && lamps_equal(&one->own, &kept.lamps))
        return true;
    retained before = kept;
    if (is_same)
        kept.corrections = 1;
    else {
        kept.first_lamps = one->own;
        kept.corrections = 0;
    }
    kept.last_round = one->round;
    kept.lamps = one->own;
    if (memory_store())
        return true;
    kept = before;
    return false;
}

/* Retain the round, then light it: in this order, so that a lit round is a known one. */
static uint8_t show(void)
{
    stage one = box.staged;
    if (one.round && !memory_is_bad() && !retain(&one))
        return BOX_FAULT;
    if (box.odds_round != one.round)
        blank_odds();
    box.staged.is_there = false;
    if (box.state == RESULT)
        return ACCEPTED;
    box.state = RESULT;
    box.result_round = one.round;
    box.result = one.own;
    return light(&box.result) ? ACCEPTED : BOX_FAULT;
}

static uint8_t commit(uint32_t round)
{
    uint8_t refusal = ready(round);
    if (refusal)
        return refusal;
    bool is_last = round && round == kept.last_round && !memory_is_bad();
    if (is_last && !lamps_equal(&box.staged.own, &kept.lamps))
        return COMMITTED_OTHERWISE;
    return show();
}

static uint8_t correct(uint32_t round)
{
    uint8_t refusal = ready(round);
    if (refusal)
        return refusal;
    if (memory_is_bad())
        return BOX_FAULT;
    if (!round || round != kept.last_round)
        return OTHER_ROUND;
    if (kept.corrections && !lamps_equal(&box.staged.own, &kept.lamps))
        return COMMITTED_OTHERWISE;
    return show();
}

/* ── Other commands ── */

static uint8_t clear(uint32_t round)
{
    if (box.state == RESULT && round != box.result_round)
        return OTHER_ROUND;
    go_dark();
    return ACCEPTED;
}

static uint8_t show_phase(uint32_t round, uint16_t argument)
{
    if ((argument & (uint16_t)~DEMONSTRATION) > LAST_PHASE)
        return ARGUMENT;
    box.phase = argument;
    box.phase_round = round;
    show_panel();
    return ACCEPTED;
}

static uint8_t test_lamp(uint16_t argument)
{
    if (box.state == RESULT)
        return RESULT_LIT;
    if (box.state == FAULT)
        return BOX_FAULT;
    if (argument > LAMPS || (argument && !lamp_is_fitted((uint8_t)(argument - 1), made_areas())))
        return ARGUMENT;
    lamp_set one = no_lamps;
    if (argument)
        lamps_add(&one, (uint8_t)(argument - 1));
    box.staged.is_there = false;
    box.state = argument ? TEST : DARK;
    box.test_ms = clock_ms();
    return light(&one) ? ACCEPTED : BOX_FAULT;
}

static uint8_t obey(uint16_t command, uint32_t round, uint16_t argument)
{
    switch (command) {
    case COMMIT:
        return commit(round);
    case CORRECT:
        return correct(round);
    case CLEAR:
        return clear(round);
    case GO_DARK:
        go_dark();
        return ACCEPTED;
    case SHOW_PHASE:
        return show_phase(round, argument);
    case TEST_LAMP:
        return test_lamp(argument);
    }
    return UNKNOWN_COMMAND;
}

uint8_t box_write_command(const uint8_t *from)
{
    uint8_t refusal = obey(take16(from + 2), take32(from + 4), take16(from + 8));
    if (refusal)
        return refusal;
    box.sequence = take16(from);
    memcpy(box.command, from, sizeof box.command);
    return ACCEPTED;
}

uint8_t box_write_odds(const uint8_t *from)
{
    bool is_blank = true;
    if (box.state == RESULT)
        return RESULT_LIT;
    if (box.state == FAULT)
        return BOX_FAULT;
    for (uint8_t place = 0; place < PLACES; place++) {
        uint16_t odds = take16(from + 4 + 2 * place);
        if (odds > MOST_ODDS)
            return ARGUMENT;
        is_blank &= odds == 0;
    }
    for (uint8_t place = 0; place < PLACES; place++)
        box.odds[place] = take16(from + 4 + 2 * place);
    box.odds_round = is_blank ? 0 : take32(from);
    show_panel();
    return ACCEPTED;
}

/* ── Anchor ── */

enum { TABLE_BYTES = 8, ROUND_AT = 8, RECORD_AT = 12 };

uint8_t box_write_anchor(const uint8_t *from)
{
    uint32_t round = take32(from + ROUND_AT), record = take32(from + RECORD_AT);
    if (memory_is_bad())
        return BOX_FAULT;
    if (!round || !record)
        return ARGUMENT;
    if (memcmp(from, kept.anchor, ANCHOR_BYTES) == 0)
        return ACCEPTED;
    uint32_t kept_round = take32(kept.anchor + ROUND_AT);
    bool is_later = round > kept_round && record > take32(kept.anchor + RECORD_AT);
    bool is_ours = memcmp(from, kept.anchor, TABLE_BYTES) == 0;
    if (kept_round && !(is_later && is_ours))
        return ANCHORED;
    retained before = kept;
    memcpy(kept.anchor, from, ANCHOR_BYTES);
    if (memory_store())
        return ACCEPTED;
    kept = before;
    return BOX_FAULT;
}

/* ── Time ── */

void box_refused(uint8_t refusal)
{
    box.refusal = refusal;
}

void box_start(void)
{
    drivers_off();
    box.has_odds = panel_start();
    box.switched_ms = clock_ms();
    if (!drivers_set(&no_lamps))
        fail();
}

void box_settle(void)
{
    uint32_t now = clock_ms();
    if (box.staged.is_there && now - box.staged.at_ms > STAGE_LIFE_MS)
        box.staged.is_there = false;
    if (box.state == TEST && now - box.test_ms > TEST_LIFE_MS) {
        box.state = DARK;
        light(&no_lamps);
    }
    if (now - box.looked_ms < LOOK_MS)
        return;
    box.looked_ms = now;
    judge_lamps();
    bool is_sound = drivers_hold(&box.wanted);
    if (box.state != FAULT && !is_sound)
        fail();
    else if (box.state == FAULT && is_sound)
        box.state = DARK;
}
