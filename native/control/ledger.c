/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger.h"

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "dataplane.h"
#include "path_json.h"
#include "port/open.h"
#include "timestamps.h"
#include "traffic/traffic.h"

static json_t *
area_to_json(const struct weir_placed_area *placed)
{
	const struct weir_area *area = placed->area;
	json_t *paths = json_array();

	if (placed->kind->add_paths != NULL)
		placed->kind->add_paths(area, paths);
	return json_pack("{s:s, s:i, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", area->name,
			 "core", area->core, "kind", placed->kind->name, "polls",
			 weir_counter_json(&area->ledger.polls), "empty_polls",
			 weir_counter_json(&area->ledger.empty_polls), "busy_cycles",
			 weir_counter_json(&area->ledger.busy_cycles), "idle_cycles",
			 weir_counter_json(&area->ledger.idle_cycles), "long_polls",
			 weir_counter_json(&area->ledger.long_polls), "long_cycles",
			 weir_counter_json(&area->ledger.long_cycles), "paths", paths);
}

static json_t *
port_to_json(const struct weir_port *port)
{
	struct weir_port_stats stats;

	weir_port_stats(port, &stats);
	return json_pack(
		"{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:I, "
		"s:o}",
		"name", port->name, "rx_packets", (json_int_t)stats.device.ipackets, "rx_bytes",
		(json_int_t)stats.device.ibytes, "tx_packets", (json_int_t)stats.device.opackets,
		"tx_bytes", (json_int_t)stats.device.obytes, "rx_missed",
		(json_int_t)stats.device.imissed, "rx_nombuf", (json_int_t)stats.device.rx_nombuf,
		"tx_errors", (json_int_t)stats.device.oerrors, "rx_too_long",
		(json_int_t)stats.rx_too_long, "rx_unread", (json_int_t)stats.rx_unread,
		"rx_unfinished", (json_int_t)stats.rx_unfinished, "tx_too_long",
		(json_int_t)stats.tx_too_long, "tx_down", (json_int_t)stats.tx_down, "gone",
		weir_port_gone(port), "foreign", (json_int_t)weir_port_foreign(port->id), "signals",
		(json_int_t)weir_port_signals(port->id), "timestamps", weir_timestamps_json(port));
}

static json_t *
core_to_json(unsigned int index)
{
	struct weir_stalls stalls = weir_core_stalls(index);
	struct weir_core_speed speed = weir_core_speed_of(index);
	double us = 1e6 / rte_get_tsc_hz();

	return json_pack("{s:i, s:I, s:{s:I, s:I}, s:{s:I, s:f, s:f}}", "core",
			 weir_core_number(index), "loops", (json_int_t)weir_core_loops(index),
			 "speed", "pieces", (json_int_t)speed.pieces, "cycles",
			 (json_int_t)speed.cycles, "stalls", "count", (json_int_t)stalls.count,
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
