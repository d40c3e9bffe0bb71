/* SPDX-License-Identifier: Apache-2.0 */
/* The ledger as JSON. */
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "engine/hops.h"
#include "dataplane.h"
#include "port/port.h"
#include "timestamps.h"

static json_t *
count(const uint64_t *counter)
{
	return json_integer((json_int_t)weir_counted(counter));
}

static json_t *
stage_to_json(const struct weir_stage *stage)
{
	json_t *drops = json_object();

	for (unsigned int i = 0; i < stage->nf->drop_reason_count; i++)
		json_object_set_new(drops, stage->nf->drop_reasons[i].symbol,
				    count(&stage->ledger.drops[i]));
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "nf", stage->nf->name, "in",
			 count(&stage->ledger.packets_in), "out", count(&stage->ledger.packets_out),
			 "held", count(&stage->ledger.held), "cycles", count(&stage->ledger.cycles),
			 "long_cycles", count(&stage->ledger.long_cycles), "drops", drops);
}

static json_t *
queue_names(const struct weir_queue *queues, unsigned int queue_count)
{
	json_t *names = json_array();

	for (unsigned int i = 0; i < queue_count; i++)
		json_array_append_new(names, json_string(queues[i].name));
	return names;
}

static json_t *
path_to_json(const struct weir_path *path)
{
	json_t *stages = json_array();
	json_t *fastpath = NULL;

	for (unsigned int i = 0; i < path->stage_count; i++)
		json_array_append_new(stages, stage_to_json(&path->stages[i]));
	if (path->fastpath.cache != NULL)
		fastpath = json_pack("{s:o, s:o, s:o, s:I}", "hits",
				     count(&path->fastpath.ledger.hits), "walks",
				     count(&path->fastpath.ledger.walks), "cycles",
				     count(&path->fastpath.ledger.cycles), "flows",
				     (json_int_t)weir_flow_cache_count(path->fastpath.cache));
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:{s:o, s:o}, s:o, s:o?}", "name", path->name,
			 "inputs", queue_names(&path->in, 1), "outputs",
			 queue_names(path->out.queue, path->out.count), "rx_packets",
			 count(&path->rx_packets), "tx_packets", count(&path->out.tx_packets),
			 "drops", "tx_queue_full", count(&path->out.tx_queue_full), "no_output",
			 count(&path->out.no_output), "stages", stages, "fastpath", fastpath);
}

static json_t *
hop_to_json(const struct weir_hop *hop)
{
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:{s:o, s:o}, s:[]}", "name", hop->name,
			 "inputs", queue_names(hop->inputs, hop->input_count), "outputs",
			 queue_names(hop->out.queue, hop->out.count), "rx_packets",
			 count(&hop->rx_packets), "tx_packets", count(&hop->out.tx_packets),
			 "drops", "tx_queue_full", count(&hop->out.tx_queue_full), "no_output",
			 count(&hop->out.no_output), "stages");
}

static json_t *
area_to_json(const struct weir_placed_area *placed)
{
	const struct weir_area *area = placed->area;
	json_t *paths = json_array();

	if (weir_area_runs_functions(placed->kind)) {
		const struct weir_chain *chain = (const struct weir_chain *)area;

		for (unsigned int i = 0; i < chain->path_count; i++)
			json_array_append_new(paths, path_to_json(&chain->paths[i]));
	} else if (weir_area_has_hops(placed->kind)) {
		const struct weir_hops *hops = (const struct weir_hops *)area;

		for (unsigned int i = 0; i < hops->count; i++)
			json_array_append_new(paths, hop_to_json(&hops->hops[i]));
	}
	return json_pack(
		"{s:s, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", area->name, "core",
		area->core, "kind", weir_area_kind_name(placed->kind), "polls",
		count(&area->ledger.polls), "empty_polls", count(&area->ledger.empty_polls),
		"busy_cycles", count(&area->ledger.busy_cycles), "idle_cycles",
		count(&area->ledger.idle_cycles), "long_polls", count(&area->ledger.long_polls),
		"long_cycles", count(&area->ledger.long_cycles), "paths", paths);
}

/*
 * Packets that the port took and lost. Some drivers count in `oerrors` those that their transmit
 * function did not take; these stayed with the area that sent them, whose tx_refused or
 * tx_queue_full they are.
 */
static uint64_t
tx_errors(const struct weir_port *port, const struct rte_eth_stats *stats)
{
	static const char *const counting_refusals[] = {"net_af_xdp", "net_tap", "net_vhost"};

	for (unsigned int i = 0; i < RTE_DIM(counting_refusals); i++) {
		if (strcmp(port->driver, counting_refusals[i]) == 0)
			return 0;
	}
	return stats->oerrors;
}

static json_t *
port_to_json(const struct weir_port *port)
{
	struct rte_eth_stats stats;

	weir_port_stats(port, &stats);
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:o}", "name", port->name,
			 "rx_packets", (json_int_t)stats.ipackets, "rx_bytes",
			 (json_int_t)stats.ibytes, "tx_packets", (json_int_t)stats.opackets,
			 "tx_bytes", (json_int_t)stats.obytes, "rx_missed",
			 (json_int_t)stats.imissed, "rx_nombuf", (json_int_t)stats.rx_nombuf,
			 "tx_errors", (json_int_t)tx_errors(port, &stats), "gone",
			 weir_port_gone(port), "timestamps", weir_timestamps_json(port));
}

static json_t *
core_to_json(unsigned int index)
{
	struct weir_stalls stalls = weir_core_stalls(index);
	struct weir_pace pace = weir_core_pace(index);
	double us = 1e6 / rte_get_tsc_hz();

	return json_pack("{s:i, s:I, s:{s:I, s:I}, s:{s:I, s:f, s:f}}", "core",
			 weir_core_number(index), "loops", (json_int_t)weir_core_loops(index),
			 "pace", "pieces", (json_int_t)pace.pieces, "cycles",
			 (json_int_t)pace.cycles, "stalls", "count", (json_int_t)stalls.count,
			 "total_us", stalls.total_cycles * us, "longest_us",
			 stalls.longest_cycles * us);
}

static void
pool_to_json(struct rte_mempool *pool, void *list)
{
	json_array_append_new(list, json_pack("{s:s, s:i, s:i}", "name", pool->name, "size",
					      pool->size, "free", rte_mempool_avail_count(pool)));
}

json_t *
weir_ledger(void)
{
	json_t *pools = json_array();
	json_t *cores = json_array();
	json_t *areas = json_array();
	json_t *ports = json_array();
	json_t *rings = json_array();

	for (unsigned int i = 0; i < weir_core_count(); i++)
		json_array_append_new(cores, core_to_json(i));
	for (unsigned int i = 0; i < weir_dataplane.area_count; i++)
		json_array_append_new(areas, area_to_json(&weir_dataplane.areas[i]));
	for (unsigned int i = 0; i < weir_port_count(); i++)
		json_array_append_new(ports, port_to_json(weir_port_at(i)));
	for (unsigned int i = 0; i < weir_dataplane.ring_count; i++)
		json_array_append_new(
			rings, json_pack("{s:s, s:i, s:i}", "name", weir_dataplane.rings[i]->name,
					 "size", rte_ring_get_capacity(weir_dataplane.rings[i]),
					 "waiting", rte_ring_count(weir_dataplane.rings[i])));
	rte_mempool_walk(pool_to_json, pools);
	return json_pack("{s:I, s:I, s:o, s:o, s:o, s:o, s:o}", "tsc", (json_int_t)rte_rdtsc(),
			 "tsc_hz", (json_int_t)rte_get_tsc_hz(), "cores", cores, "areas", areas,
			 "ports", ports, "rings", rings, "pools", pools);
}
