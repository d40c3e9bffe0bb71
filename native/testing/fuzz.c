/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <sanitizer/asan_interface.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "engine/handover.h"

#include "eal.h"
#include "packet.h"

#define RECORD_KINDS 8
#define START_S 1000

int LLVMFuzzerInitialize(int *argc, char ***argv);

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	if (weir_test_eal(NULL) < 0)
		abort();
	return 0;
}

static bool
checksums_right(const struct rte_mbuf *packet)
{
	struct weir_headers headers;

	weir_headers_parse(packet, &headers);
	return headers.network == WEIR_NETWORK_IPV4 &&
	       weir_test_checksums_right(rte_pktmbuf_mtod(packet, const uint8_t *),
					 packet->pkt_len);
}

struct rte_mbuf *
weir_fuzz_packet(const uint8_t *bytes, size_t size)
{
	static struct rte_mempool *pool;
	struct rte_mbuf *packet;
	uint8_t *end;

	if (pool == NULL)
		pool = rte_pktmbuf_pool_create("fuzz", 1023, 0, WEIR_PRIVATE_BYTES,
					       RTE_PKTMBUF_HEADROOM + WEIR_FUZZ_FRAME_BYTES,
					       SOCKET_ID_ANY);
	packet = pool != NULL ? rte_pktmbuf_alloc(pool) : NULL;
	if (packet == NULL)
		abort();
	end = rte_pktmbuf_mtod_offset(packet, uint8_t *, size);
	ASAN_UNPOISON_MEMORY_REGION(end - size, WEIR_FUZZ_FRAME_BYTES);
	memcpy(rte_pktmbuf_append(packet, size), bytes, size);
	/* Whoever reads or writes behind the frame is seen. */
	ASAN_POISON_MEMORY_REGION(end, WEIR_FUZZ_FRAME_BYTES - size);
	return packet;
}

/* Whoever answers packets writes answers that are longer, and tunnels have headers in front:
 * buffers are all theirs. */
static void
open_buffer(struct rte_mempool *pool, void *argument, void *object, unsigned int index)
{
	struct rte_mbuf *packet = object;

	(void)pool;
	(void)argument;
	(void)index;
	ASAN_UNPOISON_MEMORY_REGION(packet->buf_addr, packet->buf_len);
}

static bool
answers(const struct weir_stage *stage)
{
	return stage->nf->tunnels ||
	       (stage->nf->listen != NULL && !weir_nf_is_idle(stage->nf, stage->state));
}

/* What became of the same frame by forward(), where decide() and apply are the other way. */
static void
compare_with_decision(struct weir_stage *stage, const struct weir_batch *forwarded,
		      const uint8_t *bytes, size_t size)
{
	struct weir_batch batch = {
		.count = 1,
		.direction = forwarded->direction,
		.now_tsc = forwarded->now_tsc,
		.packet = {weir_fuzz_packet(bytes, size)},
	};
	struct weir_action action;
	uint8_t reason;

	weir_stage_decide(stage, &batch, &action);
	if (weir_stage_apply(&batch, 0, &action, &reason) != (forwarded->count == 1))
		abort();
	if (forwarded->count == 1 &&
	    (batch.egress[0] != forwarded->egress[0] ||
	     memcmp(rte_pktmbuf_mtod(batch.packet[0], const uint8_t *),
		    rte_pktmbuf_mtod(forwarded->packet[0], const uint8_t *), size) != 0))
		abort();
	rte_pktmbuf_free(batch.packet[0]);
}

static void
run_frame(struct weir_stage *stage, enum weir_direction direction, const uint8_t *bytes,
	  size_t size, uint64_t now_tsc)
{
	struct rte_mbuf *packet = weir_fuzz_packet(bytes, size);
	struct weir_batch batch = {.count = 1, .direction = direction, .now_tsc = now_tsc};
	uint64_t dropped = 0, held = stage->ledger.held;
	const bool right = checksums_right(packet);

	batch.packet[0] = packet;
	memset(stage->ledger.drops, 0, sizeof(stage->ledger.drops));
	if (answers(stage))
		open_buffer(NULL, NULL, packet, 0);
	if (answers(stage) && stage->nf->listen != NULL) {
		weir_batch_parse(&batch);
		stage->nf->listen(stage->state, &batch, &stage->ledger);
	}
	if (batch.count > 0)
		weir_stage_run(stage, &batch);
	for (unsigned int i = 0; i < stage->nf->drop_reason_count; i++)
		dropped += stage->ledger.drops[i];
	if (batch.count + dropped + stage->ledger.held - held != 1)
		abort();
	if (stage->nf->forward != NULL && !answers(stage))
		compare_with_decision(stage, &batch, bytes, size);
	if (batch.count == 0)
		return;
	if (right && !stage->nf->tunnels && !checksums_right(batch.packet[0]))
		abort();
	rte_pktmbuf_free(batch.packet[0]);
}

/* What the function kept and is due. */
static uint64_t
dropped_by(const struct weir_stage *stage)
{
	uint64_t dropped = 0;

	for (unsigned int i = 0; i < stage->nf->drop_reason_count; i++)
		dropped += stage->ledger.drops[i];
	return dropped;
}

static void
release(struct weir_stage *stage, enum weir_direction direction, uint64_t now_tsc)
{
	struct weir_batch batch;

	do {
		uint64_t before = stage->ledger.held - stage->ledger.originated;
		uint64_t dropped = dropped_by(stage);

		batch = (struct weir_batch){.direction = direction, .now_tsc = now_tsc};
		stage->nf->release(stage->state, &batch, &stage->ledger);
		if (batch.count + dropped_by(stage) - dropped + stage->ledger.held -
			    stage->ledger.originated !=
		    before)
			abort();
		rte_pktmbuf_free_bulk(batch.packet, batch.count);
	} while (batch.count > 0);
}

static void
pass_time(struct weir_stage *stage, uint64_t now_tsc)
{
	if (weir_nf_is_idle(stage->nf, stage->state))
		return;
	if (stage->nf->tick != NULL)
		stage->nf->tick(stage->state, now_tsc, NULL);
	if (stage->nf->release != NULL) {
		release(stage, WEIR_OUTBOUND, now_tsc);
		release(stage, WEIR_INBOUND, now_tsc);
	}
}

bool
weir_fuzz_record(const uint8_t **bytes, size_t *size, struct weir_fuzz_record *record)
{
	const unsigned int kind = *size > 0 ? (*bytes)[0] % RECORD_KINDS : 0;
	const bool is_long = kind == WEIR_FUZZ_LONG_OUTBOUND || kind == WEIR_FUZZ_LONG_INBOUND;
	const size_t head = is_long ? 3 : 2;
	size_t length;

	if (*size < head)
		return false;
	length = (*bytes)[1];
	if (is_long)
		length = (length | (size_t)(*bytes)[2] << 8) % (WEIR_FUZZ_FRAME_BYTES + 1);
	record->kind = kind;
	record->bytes = *bytes + head;
	record->size = RTE_MIN(length, *size - head);
	*bytes += head + record->size;
	*size -= head + record->size;
	return true;
}

void
weir_fuzz_run(const struct weir_nf *nf, void *state, const uint8_t *bytes, size_t size,
	      void (*command)(void *state, const uint8_t *bytes, size_t size))
{
	struct weir_stage stage = {.nf = nf, .state = state};
	struct weir_fuzz_record record;
	uint64_t now_s = START_S;

	if (answers(&stage)) {
		rte_pktmbuf_free(weir_fuzz_packet((const uint8_t *)"", 0)); /* the pool is there */
		rte_mempool_obj_iter(rte_mempool_lookup("fuzz"), open_buffer, NULL);
	}
	while (weir_fuzz_record(&bytes, &size, &record)) {
		const enum weir_fuzz_kind kind = record.kind;
		const uint8_t *content = record.bytes;
		const size_t length = record.size;

		if (kind == WEIR_FUZZ_COMMAND && command != NULL) {
			command(state, content, length);
		} else if (kind == WEIR_FUZZ_TIME) {
			now_s += length > 0 ? content[0] : 1;
			pass_time(&stage, now_s * rte_get_tsc_hz());
		} else {
			run_frame(&stage, weir_fuzz_outbound(kind) ? WEIR_OUTBOUND : WEIR_INBOUND,
				  content, length, now_s * rte_get_tsc_hz());
		}
	}
}

void
weir_fuzz_command(const struct weir_nf *nf, void *state, const char *name,
		  const struct weir_option_value *arguments, unsigned int count)
{
	const struct weir_command *command = nf->commands;
	struct weir_error error;
	void *parsed, *prepared = NULL;

	while (strcmp(command->name, name) != 0)
		command++;
	parsed = calloc(1, command->arguments_size + 1);
	if (parsed == NULL)
		abort();
	if (weir_options_parse(name, command->options, command->option_count, arguments, count,
			       parsed, "args", &error) == 0 &&
	    command->prepare(state, parsed, "args", &prepared, &error) == 0) {
		command->commit(state, prepared, NULL);
		if (command->release != NULL)
			command->release(prepared);
	}
	free(parsed);
}

size_t
weir_fuzz_text(const uint8_t *bytes, size_t size, char text[WEIR_FUZZ_TEXT_BYTES])
{
	size_t length = size > 0 ? RTE_MIN((size_t)bytes[0], size - 1) : 0;

	if (length > 0)
		memcpy(text, bytes + 1, length);
	text[length] = '\0';
	return size > 0 ? 1 + length : 0;
}

const char *
weir_fuzz_file(const void *content, size_t size)
{
	static FILE *file;
	static char name[32];

	if (file == NULL) {
		file = tmpfile();
		if (file == NULL)
			abort();
		snprintf(name, sizeof(name), "/dev/fd/%d", fileno(file));
	}
	if (ftruncate(fileno(file), 0) < 0 || pwrite(fileno(file), content, size, 0) < 0)
		abort();
	return name;
}
