/* SPDX-License-Identifier: Apache-2.0 */
/* `configure`: builds ports, rings and areas, all or nothing; and what takes them down again. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_ether.h>

#include "arguments.h"
#include "dataplane.h"
#include "port/port.h"
#include "timestamps.h"
#include "traffic/traffic.h"
#include "verb.h"
#include "verbs.h"

struct weir_dataplane weir_dataplane;
bool weir_quit_asked;
bool weir_memory_is_huge;

#define QUEUE_SIZE_DEFAULT 1024
#define QUEUE_SIZE_MAX 32768

struct rte_ring *
weir_ring_find(const char *name)
{
	for (unsigned int i = 0; i < weir_dataplane.ring_count; i++) {
		if (strcmp(weir_dataplane.rings[i]->name, name) == 0)
			return weir_dataplane.rings[i];
	}
	return NULL;
}

/* What waits in it goes back to its pool, which outlives this configuration. */
static void
free_ring(struct rte_ring *ring)
{
	void *packet;

	while (rte_ring_dequeue(ring, &packet) == 0)
		rte_pktmbuf_free(packet);
	rte_ring_free(ring);
}

void
weir_dataplane_reset(void)
{
	struct weir_dataplane *plane = &weir_dataplane;

	weir_loops_stop();
	weir_traffic_forget();
	weir_areas_clear();
	while (plane->area_count > 0)
		weir_area_destroy(&plane->areas[--plane->area_count]);
	while (plane->ring_count > 0)
		free_ring(plane->rings[--plane->ring_count]);
	weir_ports_close();
	plane->configured = false;
}

static int
port_from_json(const json_t *object, const char *where, struct weir_error *error)
{
	static const char *const known[] = {"name",	     "kind", "devargs",	   "interface",
					    "netns",	     "mac",  "peer",	   "rx_queue_size",
					    "tx_queue_size", "wire", "timestamps", NULL};
	struct weir_port_config config = {0};
	const char *peer = NULL;
	const char *wire = "virtual";
	uint64_t rx = QUEUE_SIZE_DEFAULT, tx = QUEUE_SIZE_DEFAULT;

	if (weir_refuse_unknown(object, where, known, error) < 0 ||
	    weir_take_name(object, "name", true, WEIR_PORT_NAME_MAX - 1, where, &config.name,
			   error) < 0 ||
	    weir_take_string(object, "kind", false, where, &config.kind, error) < 0 ||
	    weir_take_string(object, "devargs", false, where, &config.devargs, error) < 0 ||
	    weir_take_string(object, "interface", false, where, &config.interface, error) < 0 ||
	    weir_take_string(object, "netns", false, where, &config.netns, error) < 0 ||
	    weir_take_string(object, "mac", false, where, &config.mac, error) < 0 ||
	    weir_take_name(object, "peer", false, WEIR_PORT_NAME_MAX - 1, where, &peer, error) <
		    0 ||
	    weir_take_string(object, "wire", false, where, &wire, error) < 0 ||
	    weir_take_count(object, "rx_queue_size", 32, QUEUE_SIZE_MAX, where, &rx, error) < 0 ||
	    weir_take_count(object, "tx_queue_size", 32, QUEUE_SIZE_MAX, where, &tx, error) < 0)
		return -1;
	if (config.devargs != NULL)
		config.kind = NULL;
	else if (config.kind == NULL)
		return weir_fail(error, "bad_argument", where, "`kind` or `devargs`", NULL,
				 "port '%s' says neither its kind nor devargs", config.name);
	if (strcmp(wire, "virtual") != 0 && strcmp(wire, "physical") != 0)
		return weir_fail(error, "bad_argument", weir_at(where, "wire").text,
				 "virtual or physical", NULL, "'wire' cannot be '%s'", wire);
	config.rx_queue_size = rx;
	config.tx_queue_size = tx;
	config.virtual_wire = strcmp(wire, "virtual") == 0;
	if (weir_timestamps_from_json(object, where, &config.timestamps, error) < 0)
		return -1;
	if (config.kind != NULL && strcmp(config.kind, "memory") == 0) {
		const struct weir_port *open = weir_port_find(config.name);

		if (peer == NULL)
			return weir_fail(error, "bad_argument", where, "`peer`", NULL,
					 "in-memory port '%s' has no peer", config.name);
		/* The pair opens with the first of the two that the request names. */
		if ((open == NULL || strcmp(open->peer, peer) != 0) &&
		    weir_port_open_memory(config.name, peer, error) < 0)
			return -1;
	} else if (weir_port_open(&config, error) < 0) {
		return -1;
	}
	return weir_timestamps_settle(weir_port_find(config.name), config.timestamps, error);
}

static int
ring_from_json(const json_t *object, const char *where, struct weir_error *error)
{
	static const char *const known[] = {"name", "size", NULL};
	const char *name = NULL;
	uint64_t size = 4096;
	struct rte_ring *ring;

	if (weir_refuse_unknown(object, where, known, error) < 0 ||
	    weir_take_name(object, "name", true, RTE_RING_NAMESIZE - 1, where, &name, error) < 0 ||
	    weir_take_count(object, "size", 2, 1 << 20, where, &size, error) < 0)
		return -1;
	if (weir_dataplane.ring_count == WEIR_RINGS_MAX)
		return weir_fail(error, "bad_argument", where, "at most 1024 rings", NULL,
				 "too many rings");
	if (weir_ring_find(name) != NULL || weir_port_find(name) != NULL)
		return weir_fail(error, "bad_argument", weir_at(where, "name").text,
				 "a name of its own", NULL, "there is a '%s' already", name);
	/* Exact: a ring holds as many packets as asked for. One area feeds it, one drains it. */
	ring = rte_ring_create(name, size, SOCKET_ID_ANY,
			       RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	if (ring == NULL && rte_errno == EEXIST)
		return weir_fail(error, "bad_argument", weir_at(where, "name").text, "another name",
				 NULL, "weir-dp has a ring '%s' of its own", name);
	if (ring == NULL)
		return weir_fail(error, "no_memory", where, NULL, NULL, "cannot make ring '%s': %s",
				 name, rte_strerror(rte_errno));
	weir_dataplane.rings[weir_dataplane.ring_count++] = ring;
	return 0;
}

static int
thresholds_from_json(const json_t *args, struct weir_error *error)
{
	char keys[WEIR_CORES_MAX][16];
	const char *known[WEIR_CORES_MAX + 1] = {NULL};
	const json_t *object = json_object_get(args, "stall_threshold_us");

	for (unsigned int i = 0; i < weir_core_count(); i++) {
		snprintf(keys[i], sizeof(keys[i]), "%u", weir_core_number(i));
		known[i] = keys[i];
	}
	if (object != NULL && weir_refuse_unknown(object, "stall_threshold_us", known, error) < 0)
		return -1;
	for (unsigned int i = 0; i < weir_core_count(); i++) {
		uint64_t threshold_us = 50;

		if (weir_take_count(object, keys[i], 1, 10000000, "stall_threshold_us",
				    &threshold_us, error) < 0)
			return -1;
		weir_dataplane.loop.stall_threshold_us[i] = threshold_us;
	}
	return 0;
}

static json_t *
opened_ports(void)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < weir_port_count(); i++) {
		const struct weir_port *port = weir_port_at(i);
		char mac[RTE_ETHER_ADDR_FMT_SIZE];

		rte_ether_format_addr(mac, sizeof(mac), &port->mac);
		json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:i}", "name", port->name,
						      "driver", port->driver, "mac", mac, "port_id",
						      port->id));
	}
	return list;
}

static int
build(const json_t *args, struct weir_error *error)
{
	const json_t *ports, *rings, *areas;
	uint64_t mbufs;
	char where[64];
	size_t index;
	json_t *object;

	weir_dataplane.loop.ledger = true;
	if (weir_take_array(args, "ports", "", &ports, error) < 0 ||
	    weir_take_array(args, "rings", "", &rings, error) < 0 ||
	    weir_take_array(args, "areas", "", &areas, error) < 0 ||
	    weir_take_bool(args, "ledger", "", &weir_dataplane.loop.ledger, error) < 0 ||
	    thresholds_from_json(args, error) < 0)
		return -1;
	mbufs = 16384 + 4096 * json_array_size(ports);
	if (weir_take_count(args, "mbufs", 1024, 1 << 24, "", &mbufs, error) < 0 ||
	    weir_ports_memory(mbufs, error) < 0)
		return -1;
	json_array_foreach((json_t *)ports, index, object)
	{
		snprintf(where, sizeof(where), "ports[%zu]", index);
		if (port_from_json(object, where, error) < 0)
			return -1;
	}
	json_array_foreach((json_t *)rings, index, object)
	{
		snprintf(where, sizeof(where), "rings[%zu]", index);
		if (ring_from_json(object, where, error) < 0)
			return -1;
	}
	json_array_foreach((json_t *)areas, index, object)
	{
		snprintf(where, sizeof(where), "areas[%zu]", index);
		if (weir_area_from_json(object, where, error) < 0)
			return -1;
	}
	json_array_foreach((json_t *)areas, index, object)
	{
		snprintf(where, sizeof(where), "areas[%zu]", index);
		if (weir_area_connect(object, where, error) < 0)
			return -1;
	}
	return 0;
}

int
weir_verb_configure(const json_t *args, json_t **result, struct weir_error *error)
{
	static const char *const known[] = {"ports",  "rings", "areas", "stall_threshold_us",
					    "ledger", "mbufs", NULL};

	if (weir_dataplane.configured)
		return weir_fail(error, "bad_state", NULL, NULL, "send `reset` first",
				 "this process is configured already");
	if (weir_refuse_unknown(args, "", known, error) < 0)
		return -1;
	if (build(args, error) < 0) {
		weir_dataplane_reset();
		return -1;
	}
	weir_dataplane.configured = true;
	*result = json_pack("{s:o}", "ports", opened_ports());
	return 0;
}
