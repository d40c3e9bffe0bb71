/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Content charging: packets and bytes of each subscriber under each rule and application. One
 * thread writes; any may read them while it does.
 */
#ifndef WEIR_NF_DPI_CHARGES_H
#define WEIR_NF_DPI_CHARGES_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "packet/action.h"
#include "packet/flow_table.h"
#include "packet/sequence_lock.h"

#define DPI_CHARGE_NONE UINT32_MAX

struct dpi_charge_key {
	uint32_t subscriber;  /* its address, network byte order */
	uint32_t rule_id;     /* 0: no rule */
	uint16_t protocol;    /* as nDPI numbers them: such as TLS; 0: not known */
	uint16_t application; /* such as Signal; 0: none of its own */
	uint32_t zero;
};
static_assert(sizeof(struct dpi_charge_key) == WEIR_FLOW_KEY_BYTES, "a key without holes");

struct dpi_charge {
	uint64_t key_words[2]; /* a struct dpi_charge_key */
	struct weir_counter counter;
	uint64_t swept_packets; /* the counter at the last sweep */
	uint32_t flows;		/* that count in this place */
	uint32_t changes;	/* of the key: a sequence lock; odd while the place is free */
	uint32_t active_at;	/* when a sweep last saw a flow or a packet, as `now` */
	uint32_t next_free;
	uint64_t zero;
};
static_assert(sizeof(struct dpi_charge) == 64, "one cache line");

struct dpi_charges {
	struct dpi_charge *places;
	struct weir_flow_table *index;
	struct weir_counter forgotten; /* of subscribers that were idle too long */
	uint32_t capacity;
	uint64_t count; /* also read by the control thread */
	uint32_t first_free;
	uint32_t sweep_at;
};

/* False: no memory, nothing to free. */
bool dpi_charges_init(struct dpi_charges *charges, uint32_t capacity);
void dpi_charges_fini(struct dpi_charges *charges);

/* Times, `now` and `timeout`, are of weir_session_time(). */

/* A flow begins to count under `key`: its place, or DPI_CHARGE_NONE if all are taken. */
uint32_t dpi_charges_join(struct dpi_charges *charges, const struct dpi_charge_key *key,
			  uint32_t now);
/* A flow no longer counts in that place. */
void dpi_charges_leave(struct dpi_charges *charges, uint32_t place);

/* Adds packets counted elsewhere to a place; with DPI_CHARGE_NONE to `forgotten`. */
void dpi_charges_add(struct dpi_charges *charges, uint32_t place,
		     const struct weir_counter *counted);

/* Looks at `count` places: those without flows that were idle for longer than `timeout` are
 * forgotten. */
void dpi_charges_sweep(struct dpi_charges *charges, uint32_t count, uint32_t now, uint32_t timeout);

/* From any thread: copies the place's key and counter. False: the place is free. */
bool dpi_charges_read(const struct dpi_charges *charges, uint32_t place, struct dpi_charge_key *key,
		      struct weir_counter *counter);

#endif
