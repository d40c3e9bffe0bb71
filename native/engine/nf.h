/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network function: a descriptor with one option table (feeds parsing, --describe, schema and
 * docs), drop reasons, and a batch loop. An NF never names its execution mode: areas run its
 * stages.
 *
 * Most functions *decide*: from headers (and payload) to one action a packet, which the core
 * applies. A function that decides can run in every execution architecture and in the fast path. A
 * function that must move packets itself has *process* instead.
 *
 * One state is used by one thread. Commands change it in two steps: prepare() builds what is new
 * while packets flow, commit() puts it in place between two batches, on the thread of the state.
 */
#ifndef WEIR_ENGINE_NF_H
#define WEIR_ENGINE_NF_H

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "packet/action.h"
#include "error.h"
#include "packet/headers.h"
#include "packet/ledger.h"
#include "option.h"

#define WEIR_BURST 32

struct weir_controller;
struct weir_flow_cache;
struct weir_report;

/* Which way a path runs through a function: from its inside to its outside, or back. In a lab: from
 * left to right, or back. */
enum weir_direction { WEIR_OUTBOUND, WEIR_INBOUND };

/* Where what release() gives goes on: behind its stage; at the beginning of the path, as though it
 * had just come; or out, past all stages, as what stations of one link say to each other. */
enum weir_released { WEIR_RELEASED_BEHIND, WEIR_RELEASED_TO_BEGINNING, WEIR_RELEASED_OUT };

#define WEIR_STEER_ANY UINT32_MAX

/* The packets that pass one stage together. process() may drop: it compacts `packet` and `egress`
 * and lowers `count`; headers are then read again. */
struct weir_batch {
	uint16_t count;
	uint8_t direction; /* enum weir_direction */
	bool parsed;	   /* `headers` are of the packets as they are now */
	bool hands_over;   /* rewrites wait with each packet (handover.h), for another area */
	uint8_t released;  /* enum weir_released, of what release() gives */
	uint64_t now_tsc;  /* one reading a batch */
	/* Where what was decided is remembered: to forget what no longer holds. NULL: nowhere. */
	struct weir_flow_cache *cache;
	struct rte_mbuf *packet[WEIR_BURST];
	uint8_t egress[WEIR_BURST]; /* output of the path, where it has more than one */
	struct weir_headers headers[WEIR_BURST] __rte_cache_aligned;
};

/* A change while packets flow: "route-add", "reload", "backend-drain". */
struct weir_command {
	const char *name;
	const char *help;
	const struct weir_option *options; /* its arguments */
	unsigned int option_count;
	size_t arguments_size;
	/*
	 * Control thread, while packets flow: reads the state's configuration, not its tables of
	 * sessions. Gives `*prepared`, or -1 with `error` and nothing changed.
	 */
	int (*prepare)(const void *state, const void *arguments, const char *where, void **prepared,
		       struct weir_error *error);
	/* The state's thread, between two batches: quick. What it takes out it leaves in
	 * `prepared`. `cache`: where decisions that this changes must be forgotten; NULL: there is
	 * none. */
	void (*commit)(void *state, void *prepared, struct weir_flow_cache *cache);
	/* Control thread, after commit(), or instead of it where another state refused the command:
	 * frees `prepared`. */
	void (*release)(void *prepared);
};

/* A prepare() for commands without arguments whose commit() is all they do. */
int weir_command_prepares_nothing(const void *state, const void *arguments, const char *where,
				  void **prepared, struct weir_error *error);

struct weir_nf {
	const char *name;
	const char *summary;
	const struct weir_option *options;
	unsigned int option_count;
	const struct weir_drop_reason *drop_reasons;
	unsigned int drop_reason_count;
	bool returns;  /* false: no packet leaves it, so it can only end a chain */
	bool rewrites; /* changes packets; others let them pass, or not */
	bool tunnels;  /* puts packets into others, or takes them out: other headers leave */
	/* Of its state for a flow, what the flow's packets read and write; 0: it keeps nothing. */
	uint16_t flow_bytes;
	bool outbound_flows_only; /* it keeps nothing of flows from the outside */
	/* An option as "name=value", for commands that name the function alone; NULL: it needs
	 * none.
	 */
	const char *stand_in;
	size_t state_size;
	/* Checks the options and completes the state; may be NULL. */
	int (*init)(void *state, const char *where, struct weir_error *error);
	void (*fini)(void *state); /* may be NULL */
	const struct weir_command *commands;
	unsigned int command_count;
	/* May be NULL: nobody controls it but by commands. */
	const struct weir_controller *controller;
	/* One of these two. Handles one batch in place; what it drops it frees and counts in
	 * ledger->drops, what it keeps for later it counts in ledger->held. */
	void (*process)(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger);
	/*
	 * For a function that keeps packets, else NULL: puts those that go on now into an empty
	 * batch, which says direction and time, and takes them out of ledger->held. Called at each
	 * poll of a path of that direction; what it gives runs through the stages behind it, or
	 * goes where it says in batch->released. What the function made itself it counts in
	 * ledger->originated.
	 */
	void (*release)(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger);
	/* release() gives only what was counted in ledger->held: not called while that is 0. */
	bool releases_held_only;
	/*
	 * Decides on each packet of a parsed batch: actions[i] for packet[i], given cleared. What
	 * actions rewrite it reads from `headers`: in the frame it may not be written yet. The
	 * packet's own bytes it leaves alone, but for what no action can say (the packet inside an
	 * ICMP error), and then with `once`. Frees nothing. Counters are behind by what the fast
	 * path has not flushed: weir_flow_cache_flush_for() before one of them decides something.
	 */
	void (*decide)(void *state, const struct weir_batch *batch, struct weir_action *actions);
	/*
	 * For a function that gives the verdict WEIR_TAKE: the packet is its own from now on,
	 * rewritten by all functions before it, `batch->headers[index]` with it. It counts it in
	 * ledger->held, or in ledger->drops; what it answers goes out by release().
	 */
	void (*take)(void *state, const struct weir_batch *batch, uint16_t index,
		     const struct weir_action *action, struct weir_stage_ledger *ledger);
	/*
	 * Optional: for a function with addresses of its own. Takes out of a parsed batch that came
	 * to the path, before all stages, what is for it alone (ARP, neighbour discovery, echo
	 * requests), counts it in ledger->packets_in and as take() does, and closes the gaps. One
	 * function of a path is asked: the first that is not idle.
	 */
	void (*listen)(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger);
	/* May be NULL: never. True: as it is configured it keeps nothing and answers nobody, and
	 * listen(), release() and tick() are not called. Constant from init() on. */
	bool (*idle)(const void *state);
	/*
	 * Optional. decide() and applying its actions in one step, for a batch in which every
	 * packet is forwarded and is rewritten here. False: not such a batch; nothing was done.
	 */
	bool (*forward)(void *state, struct weir_batch *batch);
	/* May be NULL. About every millisecond: ends what timed out, a bounded amount of work. What
	 * went through the fast path is in its counters within a quarter of a second. */
	void (*tick)(void *state, uint64_t now_tsc, struct weir_flow_cache *cache);
	/*
	 * May be NULL: any worker will do, and the dispatcher takes a hash that is the same for
	 * both directions. Else a number that is the same for all packets that must meet the same
	 * state; workers take it modulo their count. Reads configuration alone: called by the
	 * dispatcher's thread, of IPv4 packets. A first fragment is shown as the whole packet that
	 * its later ones follow; an ICMP error as the packet that it is about, on its way back.
	 * `packet`: whose headers they are; NULL where that is none, but one inside an error.
	 * With `steers_ipv6` IPv6 packets are shown too, with `steers_all` whatever comes, each as
	 * it is, and WEIR_STEER_ANY says then that it meets no state: its hash will do.
	 */
	uint32_t (*steer)(const void *state, const struct weir_headers *headers,
			  const struct rte_mbuf *packet, enum weir_direction direction);
	bool steers_ipv6, steers_all;
	/* May be NULL: called after init() with which of how many workers has this state, so that
	 * it takes its share of what cannot be shared (external ports). */
	int (*share)(void *state, unsigned int worker, unsigned int workers, const char *where,
		     struct weir_error *error);
	/* May be NULL. Control thread, while packets flow: reports its counters (report.h);
	 * reads only what another thread may read while the state's thread writes. */
	void (*report)(const void *state, struct weir_report *report);
};

static inline bool
weir_nf_is_idle(const struct weir_nf *nf, const void *state)
{
	return nf->idle != NULL && nf->idle(state);
}

/*
 * A new, cache-aligned state with defaults and `values` parsed into it, and init() run. NULL with
 * `error` filled for an unknown option or a bad value. Freed by weir_nf_destroy().
 */
void *weir_nf_create(const struct weir_nf *nf, const struct weir_option_value *values,
		     unsigned int count, const char *where, struct weir_error *error);
void weir_nf_destroy(const struct weir_nf *nf, void *state);

/* The network functions that this program has; nf/table.c.in. */
extern const struct weir_nf *const weir_nf_table[];
extern const unsigned int weir_nf_count;
const struct weir_nf *weir_nf_find(const char *name);
/* What a function of that name needs that was not there when this program was built, or NULL. */
const char *weir_nf_lacks(const char *name);

#endif
