/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shaper: each tenant's packets leave at its rate; what comes faster waits in its queue (RFC 2475,
 * section 2.3.3.3).
 *
 * Tenants are identified by the prefix of the inside address or by VLAN; each has a token bucket
 * and a queue of its own in each direction, so that none delays another. The bucket lets
 * burst_bytes pass at once (default: what comes in 1 ms, two large frames at least); a full queue
 * drops what comes next. Packets of no tenant pass. A packet is paid for as of when it was due, so
 * polls that come late cost no rate unless the queue runs full.
 *
 * Limits: each packet that waits keeps its buffer (give `mbufs` as many as queues can hold). One
 * path a direction. It keeps packets, so it does not run in a fast path. All packets of a tenant
 * must meet the same worker.
 * Example: {"nf": "shaper", "options": {"tenants": "10.1.0.0/16 rate_bps=10000000, vlan:7
 *   rate_bps=2000000 burst_bytes=3036"}}
 */
#include "engine/stage.h"
#include "meter.h"
#include "schedule.h"
#include "tenants.h"

#define RATE_BPS_MIN 1000
#define RATE_BPS_MAX 400000000000
#define BURST_BYTES_DEFAULT_MIN (2 * 1518)
#define BURSTS_PER_S 1000
#define BITS_PER_BYTE 8

struct rate {
	uint64_t bps;
	uint32_t burst_bytes;
};

/* Of one tenant in one direction. */
struct shaped {
	struct weir_counter taken; /* went on or waited */
	struct weir_counter dropped;
};

struct shaper {
	struct schedule schedules[2]; /* by direction; a queue for each tenant */
	unsigned int layer;	      /* enum layer */
	uint64_t queue_packets;
	char tenants_text[WEIR_OPTION_TEXT_BYTES];
	char tenants_file[WEIR_OPTION_TEXT_BYTES];
	struct rate rates[TENANTS_MAX];
	struct shaped shaped[TENANTS_MAX][2];
	struct tenants tenants;
};

static const struct weir_option options[] = {
	{
		.name = "tenants",
		.type = WEIR_OPTION_TEXT,
		.help = "Entries separated by commas: a prefix, vlan:N or default, then rate_bps= "
			"and, if not what comes in 1 ms, burst_bytes=.",
		.offset = offsetof(struct shaper, tenants_text),
	},
	{
		.name = "tenants_file",
		.type = WEIR_OPTION_FILE,
		.help = "A file of such entries, one a line, in place of tenants; # begins a "
			"remark.",
		.offset = offsetof(struct shaper, tenants_file),
	},
	{
		.name = "layer",
		.type = WEIR_OPTION_ENUM,
		.default_text = "ip",
		.values = layer_names,
		.help = "Which bytes the rates are of: ip, of the IP packet; l2, of the frame with "
			"FCS; l1, with preamble and gap too.",
		.offset = offsetof(struct shaper, layer),
	},
	{
		.name = "queue_packets",
		.type = WEIR_OPTION_INT,
		.unit = "packets",
		.default_text = "256",
		.min = 1,
		.max = 65536,
		.help = "Room of each tenant's queue in each direction.",
		.offset = offsetof(struct shaper, queue_packets),
	},
};

enum { DROP_QUEUE_FULL };
static const struct weir_drop_reason drop_reasons[] = {
	[DROP_QUEUE_FULL] = {"queue_full", "The tenant's queue is full: more came, for longer, "
					   "than its rate carries."},
};

static int
take_tenant(void *argument, uint16_t number, const struct tenant_words *words, const char *where,
	    struct weir_error *error)
{
	static const char *const known[] = {"rate_bps", "burst_bytes", NULL};
	struct shaper *shaper = argument;
	struct rate *rate = &shaper->rates[number];
	uint64_t burst_bytes;

	if (tenant_refuse_unknown(words, known, where, error) < 0 ||
	    tenant_number(words, "rate_bps", RATE_BPS_MIN, RATE_BPS_MAX, 0, &rate->bps, where,
			  error) < 0 ||
	    tenant_number(words, "burst_bytes", 1, UINT32_MAX,
			  RTE_MAX(rate->bps / BITS_PER_BYTE / BURSTS_PER_S,
				  (uint64_t)BURST_BYTES_DEFAULT_MIN),
			  &burst_bytes, where, error) < 0)
		return -1;
	if (words->word[0] != '\0')
		return weir_fail(error, "bad_argument", where, "rate_bps= and burst_bytes=", NULL,
				 "'%s' of tenant %s cannot be read", words->word, words->name);
	rate->burst_bytes = burst_bytes;
	return 0;
}

static void
fini(void *state)
{
	struct shaper *shaper = state;

	for (unsigned int i = 0; i < 2; i++)
		schedule_fini(&shaper->schedules[i]);
}

static int
init(void *state, const char *where, struct weir_error *error)
{
	struct shaper *shaper = state;

	if (tenants_read(&shaper->tenants, "shaper", shaper->tenants_text, shaper->tenants_file,
			 take_tenant, shaper, where, error) < 0)
		return -1;
	for (unsigned int i = 0; i < 2; i++) {
		struct schedule *schedule = &shaper->schedules[i];

		if (schedule_init(schedule, shaper->tenants.count, shaper->queue_packets) < 0) {
			fini(shaper);
			return weir_fail(error, "no_memory", where, NULL,
					 "give weir-dp more --memory-mb, or lower queue_packets",
					 "no memory for the queues of %u tenants",
					 shaper->tenants.count);
		}
		for (uint16_t j = 0; j < shaper->tenants.count; j++)
			schedule_set(schedule, j, shaper->rates[j].bps,
				     shaper->rates[j].burst_bytes);
	}
	return 0;
}

static void
count(struct weir_counter *counter, uint32_t bytes)
{
	weir_count(&counter->packets, 1);
	weir_count(&counter->bytes, bytes);
}

static enum scheduled
shape(struct shaper *shaper, const struct weir_batch *batch, uint16_t index)
{
	struct rte_mbuf *packet = batch->packet[index];
	uint16_t tenant = tenants_find(&shaper->tenants, &batch->headers[index], batch->direction);
	enum scheduled scheduled;
	struct shaped *shaped;
	uint32_t bytes;

	if (tenant == TENANT_NONE)
		return SCHEDULED_NOW;
	bytes = layer_bytes(packet, shaper->layer);
	scheduled =
		schedule_put(&shaper->schedules[batch->direction], tenant,
			     (struct queued){packet, bytes, batch->egress[index]}, batch->now_tsc);
	shaped = &shaper->shaped[tenant][batch->direction];
	count(scheduled == SCHEDULED_FULL ? &shaped->dropped : &shaped->taken, bytes);
	return scheduled;
}

static void
process(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	struct shaper *shaper = state;
	uint16_t kept = 0, held = 0, dropped = 0;

	weir_batch_parse(batch);
	for (uint16_t i = 0; i < batch->count; i++) {
		switch (shape(shaper, batch, i)) {
		case SCHEDULED_NOW:
			batch->egress[kept] = batch->egress[i];
			batch->packet[kept++] = batch->packet[i];
			break;
		case SCHEDULED_LATER:
			held++;
			break;
		case SCHEDULED_FULL:
			rte_pktmbuf_free(batch->packet[i]);
			dropped++;
			break;
		}
	}
	batch->count = kept;
	weir_count(&ledger->held, held);
	weir_count(&ledger->drops[DROP_QUEUE_FULL], dropped);
}

static void
release(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	struct shaper *shaper = state;
	struct queued due[WEIR_BURST];

	batch->count = schedule_take(&shaper->schedules[batch->direction], batch->now_tsc, due,
				     WEIR_BURST);
	for (uint16_t i = 0; i < batch->count; i++) {
		batch->packet[i] = due[i].packet;
		batch->egress[i] = due[i].mark;
	}
	if (batch->count > 0)
		weir_count(&ledger->held, -(uint64_t)batch->count);
}

static void
report(const void *state, struct weir_report *report)
{
	const struct shaper *shaper = state;
	struct weir_report_label labels[3];

	for (uint16_t i = 0; i < shaper->tenants.count; i++) {
		for (unsigned int way = WEIR_OUTBOUND; way <= WEIR_INBOUND; way++) {
			tenant_labels(&shaper->tenants, i, way, "what", "taken", labels);
			report->counter(report, labels, RTE_DIM(labels),
					&shaper->shaped[i][way].taken);
			tenant_labels(&shaper->tenants, i, way, "what", "dropped", labels);
			report->counter(report, labels, RTE_DIM(labels),
					&shaper->shaped[i][way].dropped);
		}
	}
}

static uint32_t
steer(const void *state, const struct weir_headers *headers, const struct rte_mbuf *packet,
      enum weir_direction direction)
{
	const struct shaper *shaper = state;

	(void)packet;
	return tenants_steer(&shaper->tenants, headers, direction);
}

extern const struct weir_nf weir_nf_shaper;
const struct weir_nf weir_nf_shaper = {
	.name = "shaper",
	.summary =
		"Delays what is above a tenant's rate, by prefix or VLAN, in a queue of its own.",
	.options = options,
	.option_count = RTE_DIM(options),
	.drop_reasons = drop_reasons,
	.drop_reason_count = RTE_DIM(drop_reasons),
	.returns = true,
	.state_size = sizeof(struct shaper),
	.init = init,
	.fini = fini,
	.process = process,
	.release = release,
	.steer = steer,
	.steers_all = true,
	.report = report,
};
