/* Cut the power, or reset the processor, at every moment of an act, and hold the lamps beside it.
 *
 *   trial_of_cuts PROGRAM.elf [EVERY]
 *
 * An act is cut at every EVERY-th instruction (1: at each), by a reset and by a brown-out, from the end of its request to the end of
 * its reply, and its request at every byte and in every bit. At no moment may other lamps be driven
 * than those of the act, all of them or none. After each cut the box must be dark, its memory sound
 * and whole: as before the act or as after it. Then the act is done again and must be obeyed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"

#define MS (HZ / 1000)
#define FIRST 7
#define ROUND 8

static uint8_t memory[MEMORY_BYTES], answer[300];
static int answered;
static uint64_t answered_at, allowed;
static long changes, wrong_lamps, wrong_ends, slowest_cycles;

static void get_byte(uint8_t byte)
{
    if (answered < (int)sizeof answer)
        answer[answered++] = byte;
    answered_at = board_cycles();
}

static void see_lamps(uint64_t driven)
{
    changes++;
    if (driven && driven != allowed)
        wrong_lamps++;
}

static void wait_ms(int ms)
{
    uint64_t until = board_cycles() + ms * MS;
    while (board_cycles() < until)
        board_step();
}

static void send_bytes(const uint8_t *bytes, int length)
{
    for (int at = 0; at < length; at++) {
        uint64_t until = board_cycles() + BYTE_CYCLES;
        while (board_cycles() < until)
            board_step();
        board_receive(bytes[at]);
    }
}

typedef struct {
    uint8_t bytes[256];
    int length;
} request;

static request finished(request one)
{
    uint16_t crc = board_crc(one.bytes, one.length);
    one.bytes[one.length++] = crc & 0xFF;
    one.bytes[one.length++] = crc >> 8;
    return one;
}

static request writing(uint8_t first, const uint16_t *words, int count)
{
    request one = {{1, 16, 0, first, 0, count, 2 * count}, 7};
    for (int at = 0; at < count; at++) {
        one.bytes[one.length++] = words[at] >> 8;
        one.bytes[one.length++] = words[at] & 0xFF;
    }
    return finished(one);
}

static request reading(uint16_t first, int count)
{
    return finished((request){{1, 3, first >> 8, first & 0xFF, 0, count}, 6});
}

/* Send a request and wait for its reply. True unless there is none, or an exception. */
static bool ask(request one)
{
    answered = 0;
    send_bytes(one.bytes, one.length);
    uint64_t sent_at = board_cycles();
    while (!answered && board_cycles() < sent_at + 12 * MS)
        board_step();
    if (answered && (long)(answered_at - sent_at) > slowest_cycles)
        slowest_cycles = answered_at - sent_at;
    while (answered && board_cycles() < answered_at + 2 * MS)
        board_step();
    return answered > 3 && !(answer[1] & 0x80);
}

/* ── What is asked ── */

static const uint16_t values[2][3] = {{2, 2, 5}, {2, 2, 6}};
static const uint64_t masks[2] = {0x0004802001001009, 0x0008804002001005};

static request stage(uint16_t round, int which)
{
    const uint64_t mask = masks[which];
    const uint16_t *v = values[which];
    uint16_t words[12] = {1,         0,         round,     v[0],      v[1], v[2], 52, 0,
                          mask >> 48, mask >> 32, mask >> 16, mask};
    return writing(0x40, words, 12);
}

static request command(uint16_t code, uint16_t round, uint16_t argument)
{
    uint16_t words[5] = {2, code, 0, round, argument};
    return writing(0x60, words, 5);
}

static request anchor(uint16_t round)
{
    uint16_t words[24] = {1, 2, 3, 4, 0, round, 0, 20 * round};
    for (int at = 8; at < 24; at++)
        words[at] = round * 257 + at;
    return writing(0x50, words, 24);
}

enum { COMMIT = 1, CLEAR, DARK, CORRECT = 6 };

/* ── Acts ── */

typedef struct {
    const char *name;
    int before;     /* how far the story has gone: 0 round 7 cleared, 1 round 8 lit, 2 it is cleared */
    int staged;     /* -1, or which values */
    uint64_t lights; /* what may burn meanwhile, besides nothing */
    request (*ask)(void);
} act;

static request do_commit(void) { return command(COMMIT, ROUND, 0); }
static request do_correct(void) { return command(CORRECT, ROUND, 0); }
static request do_clear(void) { return command(CLEAR, ROUND, 0); }
static request do_anchor(void)
{
    request one = anchor(ROUND);
    one.bytes[2] = 1; /* block 0150 */
    one.length -= 2;
    return finished(one);
}

static const act acts[] = {
    {"commit", 0, 0, 0x0004802001001009, do_commit},
    {"correct", 2, 1, 0x0008804002001005, do_correct},
    {"clear", 1, -1, 0x0004802001001009, do_clear},
    {"anchor", 1, -1, 0x0004802001001009, do_anchor},
};

static uint8_t retained_before[3][MEMORY_BYTES], made_before[MADE_BYTES];

static void require(bool holds, const char *what)
{
    if (!holds) {
        printf("%s\n", what);
        exit(1);
    }
}

static void show(uint16_t round, int which)
{
    allowed = masks[which];
    require(ask(stage(round, which)) && ask(command(COMMIT, round, 0)), "a result is not lit");
}

static request odds(void)
{
    uint16_t words[66] = {0, FIRST};
    for (int at = 2; at < 66; at++)
        words[at] = 9999;
    return writing(0x80, words, 66);
}

/* Play the story once, and keep what the memory held at each of its points. */
static void play(void)
{
    board_power_up(true);
    wait_ms(25);
    require(ask(odds()), "no odds");
    show(FIRST, 1);
    require(ask(command(CLEAR, FIRST, 0)), "round 7 is not cleared");
    memcpy(retained_before[0], memory, sizeof memory);
    show(ROUND, 0);
    memcpy(retained_before[1], memory, sizeof memory);
    memcpy(retained_before[2], memory, sizeof memory);
    board_made(made_before);
}

static void come_to(const act *one)
{
    allowed = 0;
    memcpy(memory, retained_before[one->before], sizeof memory);
    board_set_made(made_before);
    board_power_up(true);
    wait_ms(25);
    if (one->before == 1)
        show(ROUND, 0);
    if (one->staged >= 0)
        require(ask(stage(ROUND, one->staged)), "no stage");
    allowed = one->lights;
}

/* The retained blocks, without the counts that change with every start. */
static void read_retained(uint8_t into[70])
{
    require(ask(reading(0x0140, 11)), "no block committed");
    memcpy(into, answer + 3, 22);
    require(ask(reading(0x0150, 24)), "no block anchor");
    memcpy(into + 22, answer + 3, 48);
}

static void require_dark(const act *one, long moment)
{
    if (box.driven || !ask(reading(0x0010, 32)) || answer[4] != 0 || answer[6] & 0x40) {
        wrong_ends++;
        printf("%s, cut at %ld: not dark, or its memory is bad\n", one->name, moment);
    }
}

static uint8_t before[70], after[70];

static void learn(const act *one)
{
    come_to(one);
    read_retained(before);
    require(ask(one->ask()), "the act is not obeyed");
    require(box.driven == 0 || box.driven == one->lights, "other lamps");
    read_retained(after);
}

static void judge(const act *one, long moment)
{
    uint8_t now[70];
    require_dark(one, moment);
    read_retained(now);
    if (memcmp(now, before, 70) != 0 && memcmp(now, after, 70) != 0) {
        wrong_ends++;
        printf("%s, cut at %ld: a mixture is retained\n", one->name, moment);
    }
    if (one->staged < 0)
        return;
    bool is_done = ask(stage(ROUND, one->staged)) && ask(one->ask());
    if (!is_done || box.driven != one->lights) {
        wrong_ends++;
        printf("%s, cut at %ld: not obeyed afterwards\n", one->name, moment);
    }
}

/* Cut after so many instructions. False: the act was over before. */
static bool cut_at(const act *one, long moment, bool is_brown_out)
{
    come_to(one);
    request asked = one->ask();
    answered = 0;
    send_bytes(asked.bytes, asked.length);
    uint64_t sent_at = board_cycles();
    box.is_stepped = true;
    for (long at = 0; at < moment; at++)
        board_step();
    box.is_stepped = false;
    bool is_over = board_cycles() > sent_at + 20 * MS || (answered && board_cycles() > answered_at + 2 * MS);
    board_power_up(is_brown_out);
    wait_ms(25);
    judge(one, moment);
    return !is_over;
}

static long cut_everywhere(const act *one, long every)
{
    long trials = 0;
    learn(one);
    for (long moment = 0; cut_at(one, moment, false); moment += every, trials += 2)
        cut_at(one, moment, true);
    return trials;
}

static long cut_bytes_and_bits(const act *one)
{
    long trials = 0;
    request whole = one->ask();
    for (int length = 0; length < whole.length; length++, trials++) {
        come_to(one);
        uint64_t lit = box.driven;
        answered = 0;
        send_bytes(whole.bytes, length);
        wait_ms(25);
        if (answered || box.driven != lit)
            wrong_ends++;
        if (!ask(one->ask()))
            wrong_ends++;
    }
    for (int bit = 0; bit < 8 * whole.length; bit++, trials++) {
        come_to(one);
        uint64_t lit = box.driven;
        request spoilt = whole;
        spoilt.bytes[bit / 8] ^= 1 << bit % 8;
        if (ask(spoilt) || box.driven != lit)
            wrong_ends++;
    }
    return trials;
}

/* A program that hangs with a result lit is started anew by its watchdog, and is then dark. */
static void hang(void)
{
    enum { JUMP_TO_ITSELF = 0xCFFF, WATCHDOG_MS = 250 };
    const uint8_t *flash = box.avr->flash;
    int at = 0;
    while ((flash[at] | flash[at + 1] << 8) != JUMP_TO_ITSELF)
        at += 2;
    come_to(&acts[2]);
    require(ask(reading(0x0013, 1)), "no count of restarts");
    int restarts = answer[3] << 8 | answer[4];
    box.avr->pc = at;
    wait_ms(WATCHDOG_MS * 6 / 5 + 25);
    require_dark(&acts[2], -1);
    require(ask(reading(0x0013, 1)), "no count of restarts after the watchdog");
    require((answer[3] << 8 | answer[4]) == restarts + 1, "no restart by the watchdog");
    printf("hung     dark again by the watchdog\n");
}

int main(int count, char **words)
{
    long every = count > 2 ? atol(words[2]) : 1;
    if (count < 2 || every < 1 || !board_make(words[1], memory)) {
        fprintf(stderr, "trial_of_cuts PROGRAM.elf [EVERY]\n");
        return 2;
    }
    box.sends = get_byte;
    box.lamps_change = see_lamps;
    play();
    hang();
    for (size_t at = 0; at < sizeof acts / sizeof *acts; at++) {
        long cuts = cut_everywhere(&acts[at], every);
        long spoilt = cut_bytes_and_bits(&acts[at]);
        printf("%-8s %6ld cuts of power or resets, %4ld spoilt requests\n", acts[at].name, cuts, spoilt);
        fflush(stdout);
    }
    printf("%ld changes of lamps seen, %ld wrong; %ld wrong ends; the slowest reply took %.1f ms\n",
           changes, wrong_lamps, wrong_ends, slowest_cycles / (double)MS);
    return wrong_lamps || wrong_ends;
}
