/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Later fragments that come before the first one of their datagram, in functions that decide by
 * what only the first one has (RFC 4787, REQ-14: fragments out of order). The function takes them
 * (WEIR_TAKE), they are held, and decided on once the first one was: behind it, in the order in
 * which they came.
 */
#ifndef WEIR_TOOLKIT_HELD_FRAGMENTS_H
#define WEIR_TOOLKIT_HELD_FRAGMENTS_H

#include "engine/nf.h"
#include "packet/fragments.h"

/* A state's field of this type, `fragment_options`, is filled by the options. */
struct weir_fragment_options {
	uint64_t datagrams, held_packets, wait_ms;
};

/* As the options say. NULL: no memory. */
static inline struct weir_fragments *
weir_fragments_of(const struct weir_fragment_options *options)
{
	return weir_fragments_create(options->datagrams, options->held_packets, options->wait_ms);
}

/* A later fragment is to be held: `full` is the reason if there is no room. */
static inline void
weir_fragment_hold(struct weir_action *action, uint8_t full)
{
	action->verdict = WEIR_TAKE;
	action->drop_reason = full;
	action->once = true;
}

/* For take() of the function: holds the packet, or drops it for the action's reason. */
void weir_held_fragments_take(struct weir_fragments *fragments, const struct weir_batch *batch,
			      uint16_t index, const struct weir_action *action,
			      struct weir_stage_ledger *ledger);
/* For release(): decides on those that wait no longer. `late`: the reason of those whose first one
 * has not come. */
void weir_held_fragments_release(const struct weir_nf *nf, void *state,
				 struct weir_fragments *fragments, struct weir_batch *batch,
				 uint8_t late, struct weir_stage_ledger *ledger);

/* Rows of option tables; `owner` has the options as `fragment_options`. */
#define WEIR_FRAGMENT_ROWS(owner)                                                                  \
	{                                                                                          \
		.name = "fragments",                                                               \
		.type = WEIR_OPTION_INT,                                                           \
		.default_text = "4096",                                                            \
		.min = 4,                                                                          \
		.max = 1048576,                                                                    \
		.help = "Fragmented packets that are known at a time.",                            \
		.offset = offsetof(owner, fragment_options.datagrams),                             \
	},                                                                                         \
		{                                                                                  \
			.name = "held_fragments",                                                  \
			.type = WEIR_OPTION_INT,                                                   \
			.unit = "packets",                                                         \
			.default_text = "256",                                                     \
			.max = 4096,                                                               \
			.help = "Fragments that are held at a time since they came before the "    \
				"first one of their packet, each in a packet buffer; more are "    \
				"dropped.",                                                        \
			.offset = offsetof(owner, fragment_options.held_packets),                  \
		},                                                                                 \
	{                                                                                          \
		.name = "fragment_wait_ms", .type = WEIR_OPTION_INT, .unit = "ms",                 \
		.default_text = "1000", .min = 1, .max = 60000,                                    \
		.help = "How long each of those waits for the first one; then it is dropped.",     \
		.offset = offsetof(owner, fragment_options.wait_ms),                               \
	}

/* Of weir_drop_reason. */
#define WEIR_FRAGMENT_TIMEOUT_REASON                                                               \
	{                                                                                          \
		"fragment_timeout", "A later fragment whose first one did not come in time."       \
	}
#define WEIR_FRAGMENTS_FULL_REASON                                                                 \
	{                                                                                          \
		"fragment_table_full",                                                             \
			"A later fragment before its first one, when as many are held as there "   \
			"may be."                                                                  \
	}

#endif
