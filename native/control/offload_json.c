/* SPDX-License-Identifier: Apache-2.0 */
#include "offload_json.h"

#include "fields.h"
#include "path_json.h"
#include "port/card_rules/offload.h"
#include "port/xdp/offload.h"

#define FLOWS_DEFAULT 4096
#define FLOWS_MAX (1 << 20)
#define PACKETS_DEFAULT 64

enum offload_kind { OFFLOAD_NONE, OFFLOAD_XDP, OFFLOAD_RTE_FLOW };
static const char *const kinds[] = {"none", "xdp", "rte_flow", NULL};

static const char *const refusals[WEIR_OFFLOAD_REFUSALS] = {
	[WEIR_OFFLOAD_EFFECT] = "effect", [WEIR_OFFLOAD_DROPS] = "drops",
	[WEIR_OFFLOAD_TAGGED] = "tagged", [WEIR_OFFLOAD_OUTPUT] = "output",
	[WEIR_OFFLOAD_FULL] = "full",	  [WEIR_OFFLOAD_FAILED] = "failed",
};

struct offload_fields {
	enum offload_kind kind;
	uint32_t flows, packets;
};

static const struct weir_field offload_fields[] = {
	{"kind", WEIR_FIELD_CHOICE, true, .choices = kinds, WEIR_INTO(struct offload_fields, kind)},
	{"flows", WEIR_FIELD_COUNT, .min = 1, .max = FLOWS_MAX, .default_value = FLOWS_DEFAULT,
	 WEIR_INTO(struct offload_fields, flows)},
	{"packets", WEIR_FIELD_COUNT, .min = 1, .max = UINT32_MAX, .default_value = PACKETS_DEFAULT,
	 WEIR_INTO(struct offload_fields, packets)},
	{0},
};

static struct weir_offload *
open_xdp(const struct weir_path *path, const struct offload_fields *fields, const char *where,
	 struct weir_error *error)
{
	const struct weir_port *out[WEIR_OUTPUTS_MAX];
	const struct weir_xdp_config config = {
		.in = weir_port_find(path->in.name),
		.out = out,
		.out_count = path->out.count,
		.flows = fields->flows,
		.packets_min = fields->packets,
		.where = where,
	};

	for (unsigned int i = 0; i < path->out.count; i++)
		out[i] = weir_port_find(path->out.queue[i].name);
	return weir_xdp_offload_open(&config, error);
}

static int
refuse_queue(const struct weir_queue *queue, const char *where, struct weir_error *error)
{
	if (queue->kind == WEIR_QUEUE_ETHDEV)
		return 0;
	return weir_fail(error, "bad_argument", where, "ports of network cards, in and out", NULL,
			 "%s is no port that DPDK drives, so that no card could have rules for it",
			 queue->name);
}

static struct weir_offload *
open_card(const struct weir_path *path, const struct offload_fields *fields, const char *where,
	  struct weir_error *error)
{
	uint16_t out[WEIR_OUTPUTS_MAX];
	const struct weir_card_config config = {
		.in = path->in.ethdev_id,
		.out = out,
		.out_count = path->out.count,
		.flows = fields->flows,
		.packets_min = fields->packets,
		.where = where,
	};

	if (refuse_queue(&path->in, where, error) < 0)
		return NULL;
	for (unsigned int i = 0; i < path->out.count; i++) {
		if (refuse_queue(&path->out.queue[i], where, error) < 0)
			return NULL;
		out[i] = path->out.queue[i].ethdev_id;
	}
	return weir_card_offload_open(&config, error);
}

static int
offload_path(struct weir_chain *chain, unsigned int index, const struct offload_fields *fields,
	     const char *where, struct weir_error *error)
{
	struct weir_path *path = &chain->paths[index];
	struct weir_offload *offload = fields->kind == OFFLOAD_XDP
					       ? open_xdp(path, fields, where, error)
					       : open_card(path, fields, where, error);

	if (offload == NULL)
		return -1;
	path->fastpath.offload = offload;
	weir_flow_cache_offload(chain->flows, index, offload);
	return 0;
}

int
weir_offload_from_json(const json_t *object, const char *where, struct weir_chain *chain,
		       struct weir_error *error)
{
	struct offload_fields fields;

	if (object == NULL)
		return 0;
	if (weir_read(object, where, offload_fields, &fields, error) < 0)
		return -1;
	if (fields.kind == OFFLOAD_NONE)
		return 0;
	if (chain->flows == NULL)
		return weir_fail(error, "bad_argument", where, "`fastpath_flows`", NULL,
				 "without a fast path there are no entries to be offloaded");
	if (chain->hands_over)
		return weir_fail(error, "bad_argument", where, "an area of kind chain", NULL,
				 "a state core leaves rewriting to other areas, and its entries "
				 "cannot be offloaded");
	for (unsigned int i = 0; i < chain->path_count; i++) {
		if (offload_path(chain, i, &fields, where, error) < 0)
			return -1;
	}
	chain->has_ticks = true; /* entries have their turn then */
	return 0;
}

static void
add(json_t *object, const char *key, uint64_t more)
{
	json_t *value = json_object_get(object, key);

	json_integer_set(value, json_integer_value(value) + (json_int_t)more);
}

void
weir_offload_into_json(const struct weir_path *path, json_t *path_json)
{
	const struct weir_offload *offload = path->fastpath.offload;
	uint64_t packets = 0, bytes = 0, failed = 0;
	json_t *refused;

	if (offload == NULL)
		return;
	for (unsigned int i = 0; i < path->out.count; i++) {
		uint64_t some_packets, some_bytes, some_failed;

		offload->kind->totals(offload, i, &some_packets, &some_bytes, &some_failed);
		packets += some_packets;
		bytes += some_bytes;
		failed += some_failed;
	}
	add(path_json, "rx_packets", packets);
	add(path_json, "tx_packets", packets - RTE_MIN(failed, packets));
	json_object_set_new(json_object_get(path_json, "drops"), "redirect_failed",
			    json_integer((json_int_t)failed));
	refused = json_object();
	for (unsigned int i = 0; i < WEIR_OFFLOAD_REFUSALS; i++)
		json_object_set_new(refused, refusals[i], weir_counter_json(&offload->refused[i]));
	json_object_set_new(path_json, "offload",
			    json_pack("{s:s, s:I, s:I, s:o, s:o, s:o, s:o}", "kind",
				      offload->kind->name, "packets", (json_int_t)packets, "bytes",
				      (json_int_t)bytes, "flows",
				      weir_counter_json(&offload->flows), "put",
				      weir_counter_json(&offload->put), "revoked",
				      weir_counter_json(&offload->revoked), "refused", refused));
}
