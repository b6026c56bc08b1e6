/* The panel: legends of the phase, and where fitted 64 places of odds, four digits each.
 *
 * One chain of 74HC595: two for the legends, then four for each place of odds, the first place first.
 * Odds are read back from the chain and not from a copy. */
#ifndef PANEL_H
#define PANEL_H

#include <stdbool.h>
#include <stdint.h>

#define PLACES 64

/* Blank the panel. False: no odds are fitted; only legends are shown. */
bool panel_start(void);

/* Show phase (with its mark) and odds. False: the chain does not hold what was shifted into it; then
 * the panel is off. */
bool panel_show(uint16_t phase, const uint16_t odds[PLACES]);

/* Odds as the chain holds them; FFFF where the segments show no number. */
void panel_read(uint16_t odds[PLACES]);

#endif
