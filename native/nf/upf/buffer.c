/* SPDX-License-Identifier: Apache-2.0 */
#include "one_packet.h"

#include <rte_cycles.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#define NOTES 1024
#define STEPS_A_POLL 64 /* so that what ends keeps no others waiting */
/* What a note has below the place of its session: whether it is of a rule, and the number of that;
 * and above it how many changes were made, but for the high bits. */
#define NOTE_RULE_BITS 17
#define NOTE_OF_RULE (1 << 16)
#define NOTE_PLACE_BITS 24
#define NOTE_CHANGES_SHIFT (NOTE_RULE_BITS + NOTE_PLACE_BITS)
static_assert(UPF_SESSIONS_MAX <= 1 << NOTE_PLACE_BITS, "a place fits");

int
upf_buffer_init(struct upf *upf)
{
	struct upf_buffer *buffer = &upf->buffer;
	const size_t count = upf->buffer_packets_max + 1;

	buffer->longest_tsc = upf->buffer_time_s * rte_get_tsc_hz();
	if (upf->buffer_packets_max == 0)
		return 0;
	buffer->kept = rte_zmalloc("upf kept", count * sizeof(*buffer->kept), RTE_CACHE_LINE_SIZE);
	buffer->queues =
		rte_zmalloc("upf queues", count * sizeof(*buffer->queues), RTE_CACHE_LINE_SIZE);
	buffer->notes =
		rte_zmalloc("upf notes", (size_t)rte_ring_get_memsize(NOTES), RTE_CACHE_LINE_SIZE);
	if (buffer->kept == NULL || buffer->queues == NULL || buffer->notes == NULL ||
	    rte_ring_init(buffer->notes, "upf notes", NOTES, RING_F_SP_ENQ | RING_F_SC_DEQ) < 0)
		return -1;
	buffer->max = (uint32_t)upf->buffer_packets_max;
	for (uint32_t i = 1; i < buffer->max; i++)
		buffer->kept[i].next = buffer->queues[i].next = i + 1;
	buffer->kept_free = buffer->queue_free = 1;
	return 0;
}

void
upf_buffer_fini(struct upf_buffer *buffer)
{
	for (uint32_t i = 1; buffer->kept != NULL && i <= buffer->max; i++)
		rte_pktmbuf_free(buffer->kept[i].packet);
	rte_free(buffer->kept);
	rte_free(buffer->queues);
	rte_free(buffer->notes);
}

static uint32_t
take_queue(struct upf_buffer *buffer, struct upf_owner owner)
{
	const uint32_t number = buffer->queue_free;

	buffer->queue_free = buffer->queues[number].next;
	buffer->queues[number] = (struct upf_queue){.owner = owner, .state = UPF_QUEUE_KEEPS};
	return number;
}

static void
give_queue_back(struct upf_buffer *buffer, uint32_t number)
{
	buffer->queues[number] = (struct upf_queue){.next = buffer->queue_free};
	buffer->queue_free = number;
}

/* As many queues as packets, so there is one where there is room for a packet. */
bool
upf_buffer_keep(struct upf_buffer *buffer, uint32_t *queue, uint32_t most,
		const struct upf_kept *kept, struct upf_owner owner)
{
	const uint32_t number = buffer->kept_free;
	struct upf_queue *of;

	if (number == 0 || buffer->max == 0 ||
	    (*queue != 0 ? buffer->queues[*queue].count >= most : most == 0))
		return false;
	if (*queue == 0 && buffer->queue_free == 0) /* those that end have no packets to give */
		return false;
	if (*queue == 0)
		*queue = take_queue(buffer, owner);
	of = &buffer->queues[*queue];
	buffer->kept_free = buffer->kept[number].next;
	buffer->kept[number] = *kept;
	buffer->kept[number].next = 0;
	if (of->last != 0)
		buffer->kept[of->last].next = number;
	else
		of->first = number;
	of->last = number;
	of->count++;
	weir_count(&buffer->packets, 1);
	return true;
}

static struct upf_kept
take_first(struct upf_buffer *buffer, struct upf_queue *queue)
{
	const uint32_t number = queue->first;
	const struct upf_kept first = buffer->kept[number];

	queue->first = first.next;
	if (queue->first == 0)
		queue->last = 0;
	queue->count--;
	buffer->kept[number] = (struct upf_kept){.next = buffer->kept_free};
	buffer->kept_free = number;
	weir_count(&buffer->packets, -1ull);
	return first;
}

static void
list(struct upf_buffer *buffer, uint32_t number)
{
	struct upf_queue *queue = &buffer->queues[number];

	if (queue->is_listed)
		return;
	queue->is_listed = true;
	queue->next = 0;
	if (buffer->leaving_last != 0)
		buffer->queues[buffer->leaving_last].next = number;
	else
		buffer->leaving_first = number;
	buffer->leaving_last = number;
}

bool
upf_buffer_leave(struct upf_buffer *buffer, uint32_t queue)
{
	if (queue == 0)
		return false;
	buffer->queues[queue].state = UPF_QUEUE_LEAVES;
	list(buffer, queue);
	return true;
}

/* Where it is listed, it is taken off there. */
void
upf_buffer_stay(struct upf_buffer *buffer, uint32_t queue)
{
	if (queue != 0)
		buffer->queues[queue].state = UPF_QUEUE_KEEPS;
}

bool
upf_buffer_end(struct upf_buffer *buffer, uint32_t *queue)
{
	bool left;

	if (*queue == 0)
		return false;
	left = buffer->queues[*queue].state == UPF_QUEUE_LEAVES;
	buffer->queues[*queue].state = UPF_QUEUE_ENDS;
	list(buffer, *queue);
	*queue = 0;
	return left;
}

/* Where the owner has the number of its queue, and what holds its packets. */
static uint32_t *
number_of_owner(struct upf *upf, struct upf_owner owner, struct upf_flow **flow)
{
	struct upf_session *session = &upf->sessions[owner.place];

	if (owner.rule != 0) {
		*flow = &upf->rules[owner.rule].flow;
		return &upf->rules[owner.rule].queue;
	}
	*flow = &session->into;
	return &session->queue;
}

/* The first queue of those that leave is empty, or stays. */
static void
take_off(struct upf *upf)
{
	struct upf_buffer *buffer = &upf->buffer;
	const uint32_t number = buffer->leaving_first;
	struct upf_queue *queue = &buffer->queues[number];
	struct upf_flow *flow;

	buffer->leaving_first = queue->next;
	if (buffer->leaving_first == 0)
		buffer->leaving_last = 0;
	queue->is_listed = false;
	queue->next = 0;
	if (queue->count > 0)
		return;
	if (queue->state != UPF_QUEUE_ENDS) {
		*number_of_owner(upf, queue->owner, &flow) = 0;
		if (queue->state == UPF_QUEUE_LEAVES) /* its packets need not wait any more */
			flow->held_by &= (uint8_t)~UPF_HELD_BY_BUFFER;
	}
	give_queue_back(buffer, number);
}

static void
drop(const struct upf_kept *kept, enum upf_drop reason, struct weir_stage_ledger *ledger)
{
	weir_count(&ledger->held, -1ull);
	upf_drop(kept->packet, reason, ledger);
}

/* What has waited for too long, of one queue a poll; those that leave are on their way. */
static void
end_of_time(struct upf *upf, uint64_t now_tsc, struct weir_stage_ledger *ledger)
{
	struct upf_buffer *buffer = &upf->buffer;
	struct upf_queue *queue;
	struct upf_flow *flow;

	buffer->looked_at = buffer->looked_at % buffer->max + 1;
	queue = &buffer->queues[buffer->looked_at];
	if (queue->state != UPF_QUEUE_KEEPS || queue->is_listed)
		return;
	while (queue->count > 0 &&
	       now_tsc - buffer->kept[queue->first].since_tsc >= buffer->longest_tsc) {
		const struct upf_kept kept = take_first(buffer, queue);

		drop(&kept, UPF_DROP_KEPT_TOO_LONG, ledger);
	}
	if (queue->count > 0)
		return;
	*number_of_owner(upf, queue->owner, &flow) = 0;
	give_queue_back(buffer, buffer->looked_at);
}

void
upf_buffer_release(struct upf *upf, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	struct upf_buffer *buffer = &upf->buffer;

	if (buffer->packets > 0)
		end_of_time(upf, batch->now_tsc, ledger);
	for (unsigned int steps = 0; steps < STEPS_A_POLL && batch->count < WEIR_BURST; steps++) {
		enum upf_drop reason = UPF_DROP_KEPT_IN_VAIN;
		struct upf_queue *queue;
		struct upf_kept kept;

		if (buffer->leaving_first == 0)
			return;
		queue = &buffer->queues[buffer->leaving_first];
		if (queue->count == 0 || queue->state == UPF_QUEUE_KEEPS) {
			take_off(upf);
			continue;
		}
		kept = take_first(buffer, queue);
		if (queue->state == UPF_QUEUE_LEAVES)
			reason = upf_into_tunnel_kept(upf, &kept, queue->owner);
		if (reason != UPF_PASSES) {
			drop(&kept, reason, ledger);
			continue;
		}
		weir_count(&ledger->held, -1ull);
		batch->egress[batch->count] = 0;
		batch->packet[batch->count++] = kept.packet;
	}
}

bool
upf_buffer_note(struct upf *upf, struct upf_owner owner, uint16_t rule_id)
{
	const uintptr_t of = owner.rule != 0 ? (uintptr_t)NOTE_OF_RULE | rule_id : 0;
	const uintptr_t note = upf_changes_made(upf) << NOTE_CHANGES_SHIFT |
			       (uintptr_t)owner.place << NOTE_RULE_BITS | of;
	struct rte_ring *notes = upf->buffer.notes;

	return notes != NULL && rte_ring_enqueue(notes, (void *)note) == 0;
}

bool
upf_buffer_next_note(const struct upf *upf, struct upf_note *note)
{
	const uint64_t changes = upf_changes_made(upf);
	uintptr_t bits, since;
	void *read;

	if (upf->buffer.notes == NULL || rte_ring_dequeue(upf->buffer.notes, &read) != 0)
		return false;
	bits = (uintptr_t)read;
	since = (changes - (bits >> NOTE_CHANGES_SHIFT)) & UINTPTR_MAX >> NOTE_CHANGES_SHIFT;
	*note = (struct upf_note){.place = (uint32_t)(bits >> NOTE_RULE_BITS) &
					   ((1u << NOTE_PLACE_BITS) - 1),
				  .is_of_rule = (bits & NOTE_OF_RULE) != 0,
				  .rule_id = (uint16_t)bits,
				  .changes = changes - since};
	return true;
}
