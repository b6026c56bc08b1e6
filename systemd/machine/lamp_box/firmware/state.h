/* What the box is doing: shared by the files that change it and the one that tells it. */
#ifndef STATE_H
#define STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "lamps.h"
#include "panel.h"

#define WARM_UP_MS 20
#define STAGE_LIFE_MS 1000
#define TEST_LIFE_MS 10000
#define STAGE_WRITTEN 12
#define COMMAND_WRITTEN 5

enum { DARK, RESULT, TEST, FAULT };

typedef struct {
    bool is_there;
    uint8_t words[2 * STAGE_WRITTEN];
    uint32_t round;
    lamp_set own;
    uint8_t verdict;
    uint32_t at_ms;
} stage;

typedef struct {
    uint8_t state;
    uint8_t refusal;
    uint16_t sequence;
    uint8_t command[2 * COMMAND_WRITTEN];
    uint16_t phase;
    uint32_t phase_round;
    stage staged;
    uint32_t result_round;
    lamp_set result;
    lamp_set wanted;
    lamp_set found_open;
    uint32_t switched_ms;
    uint32_t test_ms;
    uint32_t looked_ms;
    bool has_odds;
    bool panel_is_wrong;
    uint32_t odds_round;
    uint16_t odds[PLACES];
} box_state;

extern box_state box;

/* Lamps that draw current although they are not driven; notes those that do not glow. */
lamp_set judge_lamps(void);
bool is_measured(void);

#endif
