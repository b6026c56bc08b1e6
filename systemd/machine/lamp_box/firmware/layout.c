#include "layout.h"

#include <avr/pgmspace.h>

enum {
    SMALL,
    BIG,
    EVEN,
    ODD,
    ANY_TRIPLE,
    TRIPLE_1,
    DOUBLE_1 = 11,
    PAIR_1_2 = 17,
    TOTAL_4 = 32,
    ONE_1 = 46
};

/* Names the lamps that this program knows; the build writes the digest of the document's table. */
const char layout_digest[] PROGMEM = "layout sha256 " LAYOUT_DIGEST;

static void add_pairs(lamp_set *set, const uint8_t count[7])
{
    uint8_t lamp = PAIR_1_2;
    for (uint8_t low = 1; low < 6; low++)
        for (uint8_t high = low + 1; high <= 6; high++, lamp++)
            if (count[low] && count[high])
                lamps_add(set, lamp);
}

static void add_faces(lamp_set *set, const uint8_t count[7], uint8_t options)
{
    for (uint8_t face = 1; face <= 6; face++) {
        if (count[face])
            lamps_add(set, ONE_1 + face - 1);
        if (count[face] == 2 || (count[face] == 3 && (options & DOUBLE_ON_TRIPLE)))
            lamps_add(set, DOUBLE_1 + face - 1);
        if (count[face] == 3) {
            lamps_add(set, ANY_TRIPLE);
            lamps_add(set, TRIPLE_1 + face - 1);
        }
    }
}

lamp_set winning_lamps(const uint8_t values[3], bool has_even_odd, uint8_t options)
{
    lamp_set set = no_lamps;
    uint8_t count[7] = {0};
    for (uint8_t die = 0; die < 3; die++)
        count[values[die]]++;
    uint8_t sum = values[0] + values[1] + values[2];
    bool is_triple = count[values[0]] == 3;

    add_faces(&set, count, options);
    add_pairs(&set, count);
    if (sum > 3 && sum < 18)
        lamps_add(&set, TOTAL_4 + sum - 4);
    if (!is_triple)
        lamps_add(&set, sum < 11 ? SMALL : BIG);
    if (has_even_odd && (!is_triple || (options & EVEN_ODD_ON_TRIPLE)))
        lamps_add(&set, sum & 1 ? ODD : EVEN);
    return set;
}

bool lamp_is_fitted(uint8_t lamp, uint8_t areas)
{
    return lamp < LAMPS && (areas == LAMPS || (lamp != EVEN && lamp != ODD));
}
