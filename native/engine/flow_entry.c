/* SPDX-License-Identifier: Apache-2.0 */
#include "flow_entry.h"

#include "packet/ledger.h"

void
weir_flow_entry_flush(struct weir_flow_entry *entry, struct weir_offload *offload)
{
	uint64_t packets = 0, bytes = 0;

	if (entry->offload_place != WEIR_OFFLOAD_NONE) {
		offload->kind->take_counts(offload, entry->offload_place, &packets, &bytes);
		entry->used |= packets > 0;
		if (packets > 0)
			entry->offload_idle = 0;
	}
	packets += entry->packets;
	bytes += entry->bytes;
	if (packets == 0)
		return;
	for (unsigned int i = 0; i < entry->operation_count; i++) {
		struct weir_counter *counter = entry->operations[i].counter;

		weir_count(&counter->packets, packets);
		weir_count(&counter->bytes, bytes);
	}
	entry->packets = 0;
	entry->bytes = 0;
}

void
weir_flow_entry_revoke(struct weir_flow_entry *entry, struct weir_offload *offload)
{
	if (entry->offload_place == WEIR_OFFLOAD_NONE)
		return;
	offload->kind->revoke(offload, entry->offload_place);
	weir_flow_entry_flush(entry, offload);
	offload->kind->free_place(offload, entry->offload_place);
	entry->offload_place = WEIR_OFFLOAD_NONE;
	weir_count(&offload->flows, -(uint64_t)1);
	weir_count(&offload->revoked, 1);
}

static void
put_below(struct weir_offload *offload, struct weir_flow_entry *entry)
{
	enum weir_offload_refusal refusal = WEIR_OFFLOAD_FAILED;

	if (entry->has_effects)
		refusal = WEIR_OFFLOAD_EFFECT;
	else if (entry->verdict != WEIR_FORWARD)
		refusal = WEIR_OFFLOAD_DROPS;
	else
		entry->offload_place = offload->kind->put(offload, entry, &refusal);
	if (entry->offload_place != WEIR_OFFLOAD_NONE) {
		entry->offload_idle = 0;
		weir_count(&offload->flows, 1);
		weir_count(&offload->put, 1);
	} else if ((entry->offload_refused & 1 << refusal) == 0) {
		entry->offload_refused |= 1 << refusal;
		weir_count(&offload->refused[refusal], 1);
	}
}

void
weir_flow_entry_turn(struct weir_flow_entry *entry, struct weir_offload *offload)
{
	const uint32_t packets = entry->packets;

	weir_flow_entry_flush(entry, offload);
	if (likely(offload == NULL))
		return;
	if (entry->offload_place == WEIR_OFFLOAD_NONE) {
		/* Those with effects count their packets elsewhere. */
		if (packets >= offload->packets_min || (entry->has_effects && entry->used))
			put_below(offload, entry);
	} else if (entry->offload_idle++ >= WEIR_OFFLOAD_IDLE_FLUSHES) {
		weir_flow_entry_revoke(entry, offload);
	}
}
