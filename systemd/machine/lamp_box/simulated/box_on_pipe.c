/* The shipped program of the lamp box, asked through a pipe: its time passes only when told.
 *
 *   box_on_pipe PROGRAM.elf
 *
 * One line of standard input is one order; each is answered with one line.
 *
 *   new                 a box as it is flashed, with power          -> done
 *   ask PIECE ...       bytes in hexadecimal, `-` for a silence      -> the replies
 *   wait SECONDS                                                     -> done
 *   burnt LAMP | stuck LAMP | latched | shifted | dead | supply VOLTS | spoil | heal
 *   restart | erase     the power goes and comes; with the button held              -> done */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "board.h"

#define MS (HZ / 1000)
#define BROKEN_OFF_MS 20 /* what the map permits */
#define REPLY_MS 15 /* longer than the map permits, and than an unfinished request is waited for */
#define START_MS 30
#define HELD_MS 1200
#define LONGEST 8192

static uint8_t memory[MEMORY_BYTES], flashed[MADE_BYTES];
static uint8_t answer[512];
static int answered;
static uint64_t answered_at;

static void get_byte(uint8_t byte)
{
    if (answered < (int)sizeof answer)
        answer[answered++] = byte;
    answered_at = board_cycles();
}

static void run(uint64_t cycles)
{
    uint64_t until = board_cycles() + cycles;
    while (board_cycles() < until)
        board_step();
}

static void power_up(int ms)
{
    board_power_up(true);
    run(ms * MS);
}

/* ── Asking ── */

static void send_piece(const char *hex)
{
    unsigned byte;
    for (; sscanf(hex, "%2x", &byte) == 1; hex += 2) {
        run(BYTE_CYCLES);
        board_receive(byte);
        if (!hex[1])
            return;
    }
}

/* Print what was answered, if anything, once the line is silent for `ms`. */
static void print_reply(int ms)
{
    uint64_t from = board_cycles();
    while (board_cycles() < (answered ? answered_at + 2 * MS : from + ms * MS))
        board_step();
    for (int at = 0; at < answered; at++)
        printf("%02x", answer[at]);
    if (answered)
        printf(" ");
    answered = 0;
}

static void ask(char *pieces)
{
    answered = 0;
    for (char *piece = strtok(pieces, " \n"); piece; piece = strtok(0, " \n")) {
        if (strcmp(piece, "-") == 0)
            print_reply(BROKEN_OFF_MS);
        else
            send_piece(piece);
    }
    print_reply(REPLY_MS);
    puts("");
}

/* ── Hands ── */

static int lamp_named(const char *name)
{
    for (int lamp = 0; lamp < LAMPS; lamp++)
        if (strcmp(lamp_names[lamp], name) == 0)
            return lamp;
    return -1;
}

static void heal(void)
{
    box.now = (conditions){.supply_mv = 12000, .temperature_mv = 312};
}

static bool change(const char *what, const char *which)
{
    int lamp = lamp_named(which);
    if (strcmp(what, "burnt") == 0 && lamp >= 0)
        box.now.burnt[lamp] = true;
    else if (strcmp(what, "stuck") == 0 && lamp >= 0)
        box.now.stuck[lamp] = true;
    else if (strcmp(what, "latched") == 0)
        box.now.is_latched = true;
    else if (strcmp(what, "shifted") == 0)
        box.now.is_shifted = true;
    else if (strcmp(what, "dead") == 0)
        box.now.is_dead = true;
    else if (strcmp(what, "supply") == 0)
        box.now.supply_mv = (int)(atof(which) * 1000);
    else if (strcmp(what, "heal") == 0)
        heal();
    else
        return false;
    return true;
}

static bool restart(const char *what)
{
    if (strcmp(what, "new") == 0) {
        memset(memory, 0, sizeof memory);
        board_set_made(flashed);
        heal();
        power_up(START_MS);
    } else if (strcmp(what, "restart") == 0)
        power_up(START_MS);
    else if (strcmp(what, "spoil") == 0) {
        memory[20] ^= 1;
        memory[0x100 + 20] ^= 1;
        power_up(START_MS);
    } else if (strcmp(what, "erase") == 0) {
        box.now.is_button_held = true;
        power_up(HELD_MS);
        box.now.is_button_held = false;
    } else
        return false;
    return true;
}

static bool obey(const char *line)
{
    char what[32] = "", which[32] = "";
    sscanf(line, "%31s %31s", what, which);
    if (strcmp(what, "wait") == 0) {
        run((uint64_t)(atof(which) * HZ));
        return true;
    }
    return restart(what) || change(what, which);
}

int main(int count, char **words)
{
    static char line[LONGEST];
    if (count != 2 || !board_make(words[1], memory)) {
        fprintf(stderr, "box_on_pipe PROGRAM.elf\n");
        return 2;
    }
    board_made(flashed);
    box.sends = get_byte;
    restart("new");
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "ask ", 4) == 0)
            ask(line + 4);
        else
            puts(obey(line) ? "done" : "not understood");
        fflush(stdout);
    }
    return 0;
}
