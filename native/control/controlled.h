/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that others control by a protocol of their own (engine/controller.h): their sockets.
 * Control thread only. */
#ifndef WEIR_CONTROL_CONTROLLED_H
#define WEIR_CONTROL_CONTROLLED_H

#include "stages.h"

#define WEIR_CONTROLLED_MAX 8

/* Opens the socket of the function that these stages are the states of, in the network namespace of
 * that path (NULL: this one), until the data plane is reset. -1 with `error`. */
int weir_controlled_open(const struct weir_named_stage *stages, unsigned int count,
			 const char *netns, struct weir_error *error);

unsigned int weir_controlled_count(void);
/* Of one below the count: its socket, and what to do when it can be read. */
int weir_controlled_fd(unsigned int index);
void weir_controlled_serve(unsigned int index);
/* How long to wait for what comes before weir_controlled_speak() is called, at the most; -1: for
 * ever. */
int weir_controlled_wait_ms(void);
/* Sends what functions have to say without being asked. */
void weir_controlled_speak(void);

#endif
