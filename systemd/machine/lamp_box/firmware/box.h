/* The box: stage, commit, hold, refusals and what can be read of them. REGISTERS.md is the text. */
#ifndef BOX_H
#define BOX_H

#include <stdint.h>

enum {
    ACCEPTED,
    UNKNOWN_COMMAND,
    NOTHING_STAGED,
    OTHER_ROUND,
    VALUE_RANGE,
    LAYOUT_DIFFERS,
    MASK_DIFFERS,
    RESULT_LIT,
    TEST_RUNNING,
    ARGUMENT,
    INCOMPLETE_WRITE,
    BOX_FAULT,
    COMMITTED_OTHERWISE,
    ANCHORED
};

void box_start(void);

/* Let time pass: stages and tests end, faults come and go. */
void box_settle(void);

/* Note why the last write was refused; ACCEPTED: it was not. */
void box_refused(uint8_t refusal);

/* Each writes its whole block at `at`, two bytes a register, and returns where it ends. */
uint8_t *box_identity(uint8_t *at);
uint8_t *box_status(uint8_t *at);
uint8_t *box_stage(uint8_t *at);
uint8_t *box_command(uint8_t *at);
uint8_t *box_odds(uint8_t *at);
uint8_t *box_odds_shown(uint8_t *at);
uint8_t *box_currents(uint8_t *at);
uint8_t *box_committed(uint8_t *at);
uint8_t *box_anchor(uint8_t *at);

/* Each takes the written registers of its block and returns a refusal. A refused write changes
 * nothing. */
uint8_t box_write_stage(const uint8_t *from);
uint8_t box_write_command(const uint8_t *from);
uint8_t box_write_odds(const uint8_t *from);
uint8_t box_write_anchor(const uint8_t *from);

#endif
