/* Counts what an arm64 program executes under qemu-user: instructions, and dot products of bytes.
 *
 * The system call getpriority(0x5157, N), which nothing else makes, writes a line "N instructions
 * dots" to the file that the argument out=FILE names: what was executed since the line before, over
 * all threads. The end of the program writes a line of its own, N = -1. The declarations are those
 * of QEMU's plugin interface, version 1 (qemu-plugin.h), of which Debian has no package.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define GETPRIORITY 141 /* of arm64 Linux */
#define MARK 0x5157

typedef uint64_t qemu_plugin_id_t;
typedef struct qemu_info qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
typedef void translated(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void called(qemu_plugin_id_t, unsigned, int64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                    uint64_t, uint64_t, uint64_t, uint64_t);
typedef void executed(unsigned, void *);
typedef void ended(qemu_plugin_id_t, void *);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, translated *);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *, enum qemu_plugin_op, void *,
                                              uint64_t);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, executed *,
                                          enum qemu_plugin_cb_flags, void *);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t, called *);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, ended *, void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);

EXPORT int qemu_plugin_version = 1;

static uint64_t instructions, dots, instructions_before, dots_before;
static FILE *out;
static bool first_only;

/* SDOT and UDOT, of vectors and by element (Arm Architecture Reference Manual, C4.1). */
static bool is_dot(uint32_t word) {
  uint32_t family = word & 0x9f000000u;
  if (family == 0x0e000000u)
    return !(word & (1u << 21)) && ((word >> 10) & 0x3f) == 0x25;
  return family == 0x0f000000u && !(word & (1u << 10)) && ((word >> 12) & 15) == 14;
}

static void execute(unsigned cpu, void *count) {
  if (cpu == 0)
    instructions += (uintptr_t)count;
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  (void)id;
  size_t count = qemu_plugin_tb_n_insns(block);
  if (first_only) {
    qemu_plugin_register_vcpu_tb_exec_cb(block, execute, QEMU_PLUGIN_CB_NO_REGS,
                                         (void *)(uintptr_t)count);
    return;
  }
  uint64_t found = 0;
  for (size_t i = 0; i < count; i++) {
    uint32_t word;
    memcpy(&word, qemu_plugin_insn_data(qemu_plugin_tb_get_insn(block, i)), sizeof word);
    found += is_dot(word);
  }
  qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &instructions, count);
  if (found)
    qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64, &dots, found);
}

static void write_mark(long number) {
  fprintf(out, "%ld %lu %lu\n", number, (unsigned long)(instructions - instructions_before),
          (unsigned long)(dots - dots_before));
  fflush(out);
  instructions_before = instructions;
  dots_before = dots;
}

static void call(qemu_plugin_id_t id, unsigned cpu, int64_t number, uint64_t a1, uint64_t a2,
                 uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8) {
  (void)id, (void)cpu, (void)a3, (void)a4, (void)a5, (void)a6, (void)a7, (void)a8;
  if (number == GETPRIORITY && a1 == MARK)
    write_mark((long)a2);
}

static void end(qemu_plugin_id_t id, void *nothing) {
  (void)id, (void)nothing;
  write_mark(-1);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int count,
                               char **arguments) {
  (void)info;
  if (count < 1 || strncmp(arguments[0], "out=", 4) != 0)
    return 1;
  first_only = count == 2 && strcmp(arguments[1], "threads=first") == 0;
  if (count > 2 || (count == 2 && !first_only))
    return 1;
  out = fopen(arguments[0] + 4, "w");
  if (out == NULL)
    return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_vcpu_syscall_cb(id, call);
  qemu_plugin_register_atexit_cb(id, end, NULL);
  return 0;
}
