/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function that others control by a protocol of its own over UDP, as a upf by N4. Its descriptor
 * says where it listens and what it does with a datagram; who has the socket, and how what is to
 * change comes between two batches of all its workers, is not its business. Control thread only,
 * while packets flow.
 */
#ifndef WEIR_ENGINE_CONTROLLER_H
#define WEIR_ENGINE_CONTROLLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

#define WEIR_CONTROLLER_MS 10

struct weir_command;

/* Of all states of the function, one a worker. */
struct weir_controller_way {
	/* Changes them as a command does, or none: -1 with `error`. `arguments` are those of the
	 * command's prepare(). */
	int (*change)(void *of, const struct weir_command *command, const void *arguments,
		      struct weir_error *error);
	/* Shows each of them, which its worker may be writing. */
	void (*visit)(void *of, void (*with)(const void *state, void *argument), void *argument);
	void *of;
};

/* Network byte order. */
struct weir_controller_address {
	uint32_t ip;
	uint16_t port;
};

struct weir_controller {
	/* Where it listens; false: its options say that it does not. */
	bool (*address)(const void *state, struct weir_controller_address *address);
	/* What the calls below get. `state`: of its first worker. NULL with `error`. */
	void *(*begin)(void *state, struct weir_controller_way way, const char *where,
		       struct weir_error *error);
	/* One datagram. How many bytes answer it, at `*answer` until the next call; 0: none. */
	size_t (*take)(void *begun, struct weir_controller_address from, const uint8_t *datagram,
		       size_t bytes, const uint8_t **answer);
	/* Whether it may have a datagram that nobody asks for. NULL: it never has. */
	bool (*waits)(const void *begun);
	/* Then it is asked every WEIR_CONTROLLER_MS, and more often, for one whose time has come:
	 * its bytes, `to` whom, at `*datagram` until the next call; 0: there is none. */
	size_t (*due)(void *begun, struct weir_controller_address *to, const uint8_t **datagram);
	void (*end)(void *begun);
};

#endif
