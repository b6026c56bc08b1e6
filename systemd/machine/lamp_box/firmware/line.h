/* The RS-485 line: bytes to frames by silence, and replies onto the line. */
#ifndef LINE_H
#define LINE_H

#include <stdbool.h>
#include <stdint.h>

#define FRAME_BYTES 272 /* a byte count may say 255, and is then refused */

void line_start(void);

/* Return the length of a frame with a right checksum after which the line was silent for 3.5
 * characters, else 0. A frame that is not whole is forgotten after BROKEN_OFF_MS of silence. */
uint16_t line_frame(const uint8_t **frame);

/* Forget the frame and listen. */
void line_listen(void);

/* Send `length` bytes of `reply` with their checksum, then listen. */
void line_reply(uint16_t length);

extern uint8_t reply[FRAME_BYTES];

#endif
