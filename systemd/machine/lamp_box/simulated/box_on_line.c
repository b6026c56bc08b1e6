/* The shipped program of the lamp box on a serial device, in real time, until SIGTERM.
 *
 *   box_on_line PROGRAM.elf DEVICE [--memory FILE] [--log FILE]
 *
 * DEVICE is made as a symbolic link to a pseudo-terminal. --memory keeps what the box retains. --log
 * notes which lamps burn, in the form of the rig's lamps.jsonl. */
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "board.h"

#define QUEUE 4096
#define SILENCE_CYCLES (HZ * 175 / 100000)

static volatile sig_atomic_t is_ended;
static uint8_t *retained;
static uint8_t arriving[QUEUE];
static int arrived, taken;
static uint8_t leaving[QUEUE];
static int left;
static uint8_t request[256];
static int request_length;
static uint64_t byte_at;
static double began_s; /* when the board's time was 0 */
static FILE *log_file;
static double staged_s;
static unsigned long round_number;
static uint64_t burning;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec + now.tv_nsec / 1e9;
}

static void end(int signal)
{
    (void)signal;
    is_ended = 1;
}

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* ── What burns, for the log ── */

/* The command block of the request that the box obeys: its round if it lights a result. */
static void hear(uint8_t byte)
{
    if (board_cycles() - byte_at > SILENCE_CYCLES)
        request_length = 0;
    byte_at = board_cycles();
    if (request_length < (int)sizeof request)
        request[request_length++] = byte;
    int at = request[1] == 23 ? 6 : 2;
    if (request_length == at + 5 && request[1] >= 16 && request[at + 1] == 0x40)
        staged_s = now_s();
}

static unsigned long round_of_request(void)
{
    const uint8_t *words = request + (request[1] == 23 ? 11 : 7);
    bool is_lit = words[3] == 1 || words[3] == 6;
    return is_lit ? (unsigned long)words[4] << 24 | words[5] << 16 | words[6] << 8 | words[7] : 0;
}

static void note(uint64_t driven)
{
    if (!driven || !burning)
        round_number = driven ? round_of_request() : 0;
    burning = board_burning();
    if (!log_file)
        return;
    fprintf(log_file, "{\"t\": %.6f, \"t_staged\": %.6f, \"round\": %lu, \"areas\": [", now_s(),
            staged_s, round_number);
    const char *comma = "";
    for (int lamp = 0; lamp < LAMPS; lamp++)
        if (burning >> lamp & 1) {
            fprintf(log_file, "%s\"%s\"", comma, lamp_names[lamp]);
            comma = ", ";
        }
    fprintf(log_file, "]}\n");
    fflush(log_file);
}

/* ── Line ── */

static void send_byte(uint8_t byte)
{
    if (left < QUEUE)
        leaving[left++] = byte;
}

static int open_line(const char *device)
{
    int here, there;
    struct termios raw;
    char name[128];
    if (openpty(&here, &there, name, 0, 0) != 0)
        fail("openpty");
    tcgetattr(there, &raw);
    cfmakeraw(&raw);
    tcsetattr(there, TCSANOW, &raw);
    fcntl(here, F_SETFL, O_NONBLOCK);
    unlink(device);
    if (symlink(name, device) != 0)
        fail(device);
    return here; /* `there` stays open, so that the device bears being closed */
}

static void run_until(double when_s)
{
    while (began_s + board_seconds() < when_s) {
        if (taken < arrived && board_cycles() - byte_at >= BYTE_CYCLES) {
            uint8_t byte = arriving[taken++];
            hear(byte);
            board_receive(byte);
        }
        board_step();
    }
}

static void carry(int line)
{
    if (taken == arrived)
        taken = arrived = 0;
    int got = read(line, arriving + arrived, QUEUE - arrived);
    if (got > 0)
        arrived += got;
    run_until(now_s());
    if (left > 0 && write(line, leaving, left) < 0)
        perror("line");
    left = 0;
}

static uint8_t *mapped(const char *file)
{
    int bytes = MEMORY_BYTES + MADE_BYTES;
    if (!file)
        return calloc(1, bytes);
    int fd = open(file, O_RDWR | O_CREAT, 0644);
    if (fd < 0 || ftruncate(fd, bytes) != 0)
        fail(file);
    uint8_t *found = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (found == MAP_FAILED)
        fail(file);
    return found;
}

int main(int count, char **words)
{
    const char *memory = 0, *log = 0;
    if (count < 3) {
        fprintf(stderr, "box_on_line PROGRAM.elf DEVICE [--memory FILE] [--log FILE]\n");
        return 2;
    }
    for (int at = 3; at < count; at++) {
        if (strcmp(words[at], "--memory") == 0 && at + 1 < count)
            memory = words[++at];
        else if (strcmp(words[at], "--log") == 0 && at + 1 < count)
            log = words[++at];
    }
    signal(SIGTERM, end);
    signal(SIGINT, end);
    if (log && !(log_file = fopen(log, "w")))
        fail(log);
    retained = mapped(memory);
    if (!board_make(words[1], retained)) {
        fprintf(stderr, "%s: no program; build it with make -C systemd/machine/lamp_box\n", words[1]);
        return 1;
    }
    uint8_t *made = retained + MEMORY_BYTES;
    uint8_t blank[MADE_BYTES] = {0};
    if (memcmp(made, blank, MADE_BYTES) != 0)
        board_set_made(made);
    box.sends = send_byte;
    box.lamps_change = note;
    board_power_up(true);
    began_s = now_s() - board_seconds();
    int line = open_line(words[2]);
    struct pollfd looked = {.fd = line, .events = POLLIN};
    while (!is_ended) {
        poll(&looked, 1, arrived > taken ? 0 : 1);
        carry(line);
        board_made(made);
    }
    unlink(words[2]);
    return 0;
}
