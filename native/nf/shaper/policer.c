/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policer: each tenant's packets are metered, and those above its rate are dropped (RFC 2475,
 * section 2.3.3.4).
 *
 * Tenants are identified by the prefix of the inside address or by VLAN; each has a meter of its
 * own in each direction: srTCM (RFC 2697), trTCM (RFC 2698) or the trTCM of RFC 4115, all by DPDK's
 * rte_meter. Green is within the committed rate and burst, yellow within the excess or peak, red is
 * neither; `drop` says which are dropped, and each colour has a drop reason. Packets of no tenant
 * pass. With colour_aware a packet's DSCP is the colour that it comes with: AFx1 green, AFx2
 * yellow, AFx3 red (RFC 2597), all others green.
 *
 * Limits: colours are not written into packets. Tokens come in whole bytes and whole cycles: rates
 * are within 0.5 % of what was asked. All packets of a tenant must meet the same worker.
 * Example: {"nf": "policer", "options": {"tenants": "10.1.0.0/16 srtcm cir_bps=10000000
 *   cbs_bytes=15000 ebs_bytes=30000, default trtcm cir_bps=1000000 pir_bps=2000000
 *   cbs_bytes=3000 pbs_bytes=3000"}}
 */
#include <rte_malloc.h>

#include "engine/nf.h"
#include "meter.h"
#include "tenants.h"

enum policer_drops { DROPS_RED, DROPS_YELLOW_AND_RED, DROPS_NONE };
static const char *const drops_names[] = {"red", "yellow-and-red", "none", NULL};

struct policer {
	struct meter (*meters)[2];	/* by tenant and direction */
	struct meter_profile *profiles; /* by tenant */
	unsigned int layer;		/* enum layer */
	unsigned int drops;		/* enum policer_drops */
	bool colour_aware;
	char tenants_text[WEIR_OPTION_TEXT_BYTES];
	char tenants_file[WEIR_OPTION_TEXT_BYTES];
	struct tenants tenants;
};

static const struct weir_option options[] = {
	{
		.name = "tenants",
		.type = WEIR_OPTION_TEXT,
		.help = "Entries separated by commas: a prefix, vlan:N or default, then srtcm "
			"cir_bps= cbs_bytes= ebs_bytes=, or trtcm cir_bps= pir_bps= cbs_bytes= "
			"pbs_bytes=, or trtcm-4115 cir_bps= eir_bps= cbs_bytes= ebs_bytes=.",
		.offset = offsetof(struct policer, tenants_text),
	},
	{
		.name = "tenants_file",
		.type = WEIR_OPTION_FILE,
		.help = "A file of such entries, one a line, in place of tenants; # begins a "
			"remark.",
		.offset = offsetof(struct policer, tenants_file),
	},
	{
		.name = "layer",
		.type = WEIR_OPTION_ENUM,
		.default_text = "ip",
		.values = layer_names,
		.help = "Which bytes are metered: ip, of the IP packet, as the RFCs say; l2, of "
			"the frame with FCS; l1, with preamble and gap too.",
		.offset = offsetof(struct policer, layer),
	},
	{
		.name = "drop",
		.type = WEIR_OPTION_ENUM,
		.default_text = "red",
		.values = drops_names,
		.help = "Which colours are dropped; none: meters only.",
		.offset = offsetof(struct policer, drops),
	},
	{
		.name = "colour_aware",
		.type = WEIR_OPTION_BOOL,
		.default_text = "false",
		.help = "A packet is never better than its DSCP says: AFx2 is yellow, AFx3 red.",
		.offset = offsetof(struct policer, colour_aware),
	},
};

enum { DROP_YELLOW, DROP_RED };
static const struct weir_drop_reason drop_reasons[] = {
	[DROP_YELLOW] = {"yellow", "The packet is above its tenant's committed rate and burst."},
	[DROP_RED] = {"red", "The packet is above its tenant's excess or peak rate and burst."},
};

/* RFC 2597, section 6: the drop precedence of AF classes 1 to 4. */
static enum rte_color
colour_of_dscp(uint8_t dscp)
{
	uint8_t class = dscp >> 3;

	if (class < 1 || class > 4 || (dscp & 1) != 0)
		return RTE_COLOR_GREEN;
	if ((dscp & 6) == 4)
		return RTE_COLOR_YELLOW;
	return (dscp & 6) == 6 ? RTE_COLOR_RED : RTE_COLOR_GREEN;
}

static bool
run_meter(struct weir_effect *effect, const struct rte_mbuf *packet, uint64_t now_tsc)
{
	struct meter *meter = (struct meter *)effect;
	const struct policer *policer = meter->policer;
	enum rte_color before = RTE_COLOR_GREEN, colour;
	uint32_t bytes;

	if (policer->colour_aware)
		before = colour_of_dscp(ip_part_of(packet).dscp);
	bytes = layer_bytes(packet, policer->layer);
	colour = meter_check(meter, now_tsc, bytes, before);
	weir_count(&meter->colours[colour].packets, 1);
	weir_count(&meter->colours[colour].bytes, bytes);
	effect->drop_reason = colour == RTE_COLOR_RED ? DROP_RED : DROP_YELLOW;
	switch (policer->drops) {
	case DROPS_RED:
		return colour != RTE_COLOR_RED;
	case DROPS_YELLOW_AND_RED:
		return colour == RTE_COLOR_GREEN;
	default:
		return true;
	}
}

static int
take_tenant(void *argument, uint16_t number, const struct tenant_words *words, const char *where,
	    struct weir_error *error)
{
	struct policer *policer = argument;

	if (meter_profile_read(words, &policer->profiles[number], where, error) < 0)
		return -1;
	for (unsigned int i = 0; i < 2; i++) {
		struct meter *meter = &policer->meters[number][i];

		meter->effect.run = run_meter;
		meter->policer = policer;
		meter_start(meter, &policer->profiles[number]);
	}
	return 0;
}

static void
fini(void *state)
{
	struct policer *policer = state;

	rte_free(policer->meters);
	rte_free(policer->profiles);
}

static int
init(void *state, const char *where, struct weir_error *error)
{
	struct policer *policer = state;

	policer->meters =
		rte_zmalloc("meters", TENANTS_MAX * sizeof(*policer->meters), RTE_CACHE_LINE_SIZE);
	policer->profiles = rte_zmalloc("profiles", TENANTS_MAX * sizeof(*policer->profiles),
					RTE_CACHE_LINE_SIZE);
	if (policer->meters == NULL || policer->profiles == NULL)
		weir_fail(error, "no_memory", where, NULL, NULL, "no memory for meters");
	else if (tenants_read(&policer->tenants, "policer", policer->tenants_text,
			      policer->tenants_file, take_tenant, policer, where, error) == 0)
		return 0;
	fini(policer);
	return -1;
}

static void
decide(void *state, const struct weir_batch *batch, struct weir_action *actions)
{
	struct policer *policer = state;

	for (uint16_t i = 0; i < batch->count; i++) {
		uint16_t tenant =
			tenants_find(&policer->tenants, &batch->headers[i], batch->direction);

		if (tenant != TENANT_NONE)
			actions[i].effect = &policer->meters[tenant][batch->direction].effect;
	}
}

static void
report(const void *state, struct weir_report *report)
{
	static const char *const colours[] = {"green", "yellow", "red"};
	const struct policer *policer = state;
	struct weir_report_label labels[3];

	for (uint16_t i = 0; i < policer->tenants.count; i++) {
		for (unsigned int way = WEIR_OUTBOUND; way <= WEIR_INBOUND; way++) {
			for (unsigned int colour = 0; colour < RTE_COLORS; colour++) {
				tenant_labels(&policer->tenants, i, way, "colour", colours[colour],
					      labels);
				report->counter(report, labels, RTE_DIM(labels),
						&policer->meters[i][way].colours[colour]);
			}
		}
	}
}

static uint32_t
steer(const void *state, const struct weir_headers *headers, const struct rte_mbuf *packet,
      enum weir_direction direction)
{
	const struct policer *policer = state;

	(void)packet;
	return tenants_steer(&policer->tenants, headers, direction);
}

extern const struct weir_nf weir_nf_policer;
const struct weir_nf weir_nf_policer = {
	.name = "policer",
	.summary = "Drops what is above a tenant's rate: srTCM and trTCM by prefix or VLAN.",
	.options = options,
	.option_count = RTE_DIM(options),
	.drop_reasons = drop_reasons,
	.drop_reason_count = RTE_DIM(drop_reasons),
	.returns = true,
	.state_size = sizeof(struct policer),
	.init = init,
	.fini = fini,
	.decide = decide,
	.steer = steer,
	.steers_all = true,
	.report = report,
};
