/* SPDX-License-Identifier: Apache-2.0 */
/* `configure`: builds ports, rings and areas, all or nothing. */
#include <errno.h>
#include <stdio.h>

#include <rte_errno.h>
#include <rte_ether.h>

#include "areas.h"
#include "dataplane.h"
#include "fields.h"
#include "port/open.h"
#include "ring_check.h"
#include "timestamps.h"
#include "traffic/traffic.h"
#include "verbs.h"

#define QUEUE_SIZE_DEFAULT 1024
#define QUEUE_SIZE_MAX 32768
#define STALL_THRESHOLD_US_DEFAULT 50

static const char *const wires[] = {"physical", "virtual", NULL}; /* as `virtual_wire` */
static const char *const timestamps[] = {
	[WEIR_TIMESTAMPS_COUNTER] = "counter",
	[WEIR_TIMESTAMPS_AUTO] = "auto",
	[WEIR_TIMESTAMPS_HARDWARE] = "hardware",
	NULL,
};

#define INTO(member) WEIR_INTO(struct weir_port_config, member)

static const struct weir_field port_fields[] = {
	{"name", WEIR_FIELD_NAME, true, .max = WEIR_PORT_NAME_MAX - 1, INTO(name)},
	{"kind", WEIR_FIELD_STRING, INTO(kind)},
	{"devargs", WEIR_FIELD_STRING, INTO(devargs)},
	{"interface", WEIR_FIELD_STRING, INTO(interface)},
	{"netns", WEIR_FIELD_STRING, INTO(netns)},
	{"mac", WEIR_FIELD_STRING, INTO(mac)},
	{"peer", WEIR_FIELD_NAME, .max = WEIR_PORT_NAME_MAX - 1, INTO(peer)},
	{"rx_queue_size", WEIR_FIELD_COUNT, .min = 32, .max = QUEUE_SIZE_MAX,
	 .default_value = QUEUE_SIZE_DEFAULT, INTO(rx_queue_size)},
	{"tx_queue_size", WEIR_FIELD_COUNT, .min = 32, .max = QUEUE_SIZE_MAX,
	 .default_value = QUEUE_SIZE_DEFAULT, INTO(tx_queue_size)},
	{"wire", WEIR_FIELD_CHOICE, .choices = wires, .default_value = true, INTO(virtual_wire)},
	{"timestamps", WEIR_FIELD_CHOICE, .choices = timestamps,
	 .default_value = WEIR_TIMESTAMPS_COUNTER, INTO(timestamps)},
	{0},
};

static int
port_from_json(const json_t *object, const char *where, void *unused, struct weir_error *error)
{
	struct weir_port_config config;

	(void)unused;
	if (weir_read(object, where, port_fields, &config, error) < 0 ||
	    weir_port_open(&config, where, error) < 0)
		return -1;
	return weir_timestamps_check(weir_port_find(config.name), config.timestamps, error);
}

struct ring_fields {
	const char *name;
	uint32_t size;
};

static const struct weir_field ring_fields[] = {
	{"name", WEIR_FIELD_NAME, true, .max = RTE_RING_NAMESIZE - 1,
	 WEIR_INTO(struct ring_fields, name)},
	{"size", WEIR_FIELD_COUNT, .min = 2, .max = 1 << 20, .default_value = 4096,
	 WEIR_INTO(struct ring_fields, size)},
	{0},
};

static int
ring_from_json(const json_t *object, const char *where, void *unused, struct weir_error *error)
{
	struct ring_fields fields;
	struct rte_ring *ring;

	(void)unused;
	if (weir_read(object, where, ring_fields, &fields, error) < 0)
		return -1;
	if (weir_dataplane.ring_count == WEIR_RINGS_MAX)
		return weir_fail(error, "bad_argument", where, "at most 1024 rings", NULL,
				 "too many rings");
	if (weir_ring_find(fields.name) != NULL || weir_port_find(fields.name) != NULL)
		return weir_fail(error, "bad_argument", weir_at(where, "name").text,
				 "a name of its own", NULL, "there is a '%s' already", fields.name);
	/* Exact: a ring holds as many packets as asked for. One area feeds it, one drains it. */
	ring = rte_ring_create(fields.name, fields.size, SOCKET_ID_ANY,
			       RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
	if (ring == NULL && rte_errno == EEXIST)
		return weir_fail(error, "bad_argument", weir_at(where, "name").text, "another name",
				 NULL, "weir-dp has a ring '%s' of its own", fields.name);
	if (ring == NULL)
		return weir_fail(error, "no_memory", where, NULL, NULL, "cannot make ring '%s': %s",
				 fields.name, rte_strerror(rte_errno));
	weir_dataplane.rings[weir_dataplane.ring_count++] = ring;
	return 0;
}

/* Microseconds by CPU, of those given with --cores. */
static int
thresholds_from_json(const json_t *object, struct weir_error *error)
{
	struct weir_field fields[WEIR_CORES_MAX + 1] = {0};
	char keys[WEIR_CORES_MAX][16];
	json_t *empty = json_object();
	int status;

	for (unsigned int i = 0; i < weir_core_count(); i++) {
		snprintf(keys[i], sizeof(keys[i]), "%u", weir_core_number(i));
		fields[i] = (struct weir_field){
			.key = keys[i],
			.type = WEIR_FIELD_COUNT,
			.min = 1,
			.max = 10000000,
			.default_value = STALL_THRESHOLD_US_DEFAULT,
			.offset = i * sizeof(uint32_t),
			.bytes = sizeof(uint32_t),
		};
	}
	status = weir_read(object != NULL ? object : empty, "stall_threshold_us", fields,
			   weir_dataplane.loop.stall_threshold_us, error);
	json_decref(empty);
	return status;
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

struct configure_fields {
	const json_t *ports, *rings, *areas, *stall_threshold_us;
	uint32_t mbufs; /* 0: by the number of ports */
	uint16_t frame_bytes_max;
	bool ledger;
};

static const struct weir_field configure_fields[] = {
	{"ports", WEIR_FIELD_LIST, WEIR_INTO(struct configure_fields, ports)},
	{"rings", WEIR_FIELD_LIST, WEIR_INTO(struct configure_fields, rings)},
	{"areas", WEIR_FIELD_LIST, WEIR_INTO(struct configure_fields, areas)},
	{"stall_threshold_us", WEIR_FIELD_JSON,
	 WEIR_INTO(struct configure_fields, stall_threshold_us)},
	{"ledger", WEIR_FIELD_BOOL, .default_value = true,
	 WEIR_INTO(struct configure_fields, ledger)},
	{"mbufs", WEIR_FIELD_COUNT, .min = 1024, .max = 1 << 24,
	 WEIR_INTO(struct configure_fields, mbufs)},
	{"frame_bytes_max", WEIR_FIELD_COUNT, .min = WEIR_STANDARD_FRAME_BYTES,
	 .max = WEIR_FRAME_BYTES_MAX, .default_value = WEIR_STANDARD_FRAME_BYTES,
	 WEIR_INTO(struct configure_fields, frame_bytes_max)},
	{0},
};

static int
build(const struct configure_fields *fields, struct weir_error *error)
{
	unsigned int mbufs = 16384 + 4096 * json_array_size(fields->ports);

	weir_dataplane.loop.ledger = fields->ledger;
	if (thresholds_from_json(fields->stall_threshold_us, error) < 0 ||
	    weir_ports_memory(fields->mbufs != 0 ? fields->mbufs : mbufs, fields->frame_bytes_max,
			      error) < 0 ||
	    weir_read_each(fields->ports, "ports", port_from_json, NULL, error) < 0 ||
	    weir_read_each(fields->rings, "rings", ring_from_json, NULL, error) < 0 ||
	    weir_read_each(fields->areas, "areas", weir_area_from_json, NULL, error) < 0)
		return -1;
	if (weir_read_each(fields->areas, "areas", weir_area_connect, NULL, error) < 0)
		return -1;
	return weir_rings_check(error);
}

static int
configure(const void *arguments, json_t **result, struct weir_error *error)
{
	if (weir_dataplane.configured)
		return weir_fail(error, "bad_state", NULL, NULL, "send `reset` first",
				 "this process is configured already");
	if (build(arguments, error) < 0) {
		weir_dataplane_reset();
		return -1;
	}
	weir_dataplane.configured = true;
	*result = json_pack("{s:o}", "ports", opened_ports());
	return 0;
}

const struct weir_verb weir_verb_configure = {
	"configure", "Builds ports, rings and areas, all or nothing.", configure, configure_fields,
	sizeof(struct configure_fields)};
