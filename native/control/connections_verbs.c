/* SPDX-License-Identifier: Apache-2.0 */
/* The connections verbs: who connects to whom, a run of it, its counts. */
#include <arpa/inet.h>
#include <string.h>

#include "nap.h"
#include "path_json.h"
#include "port/port.h"
#include "stream_json.h"
#include "traffic/connections/connections.h"
#include "traffic_counts.h"
#include "verbs.h"

#define DURATION_MAX_NS (24ull * 3600 * 1000000000)
#define THINK_MAX_NS (3600ull * 1000000000)
#define RETRANSMIT_MIN_NS 1000000
#define RETRANSMIT_MAX_NS 60000000000
#define ADDRESSES_MAX 65536

/* --- configure ---------------------------------------------------------------------------------
 */

struct configure_fields {
	struct weir_connections_config config;
	struct weir_port *client_port, *server_port;
	const char *source, *destination;
	const json_t *services;
	uint16_t vlan;
};

#define INTO(member) WEIR_INTO(struct configure_fields, member)

static const struct weir_field client_fields[] = {
	{"port", WEIR_FIELD_READ, true, .read = weir_read_port, INTO(client_port)},
	{"src_mac", WEIR_FIELD_READ, true, .read = weir_read_mac, INTO(config.clients.src_mac)},
	{"dst_mac", WEIR_FIELD_READ, true, .read = weir_read_mac, INTO(config.clients.dst_mac)},
	{"address", WEIR_FIELD_STRING, true, INTO(source)},
	{"addresses", WEIR_FIELD_COUNT, .min = 1, .max = ADDRESSES_MAX, .default_value = 1,
	 INTO(config.source_count)},
	{"first_port", WEIR_FIELD_COUNT, .min = 1, .max = UINT16_MAX, .default_value = 1024,
	 INTO(config.source_port_first)},
	{"last_port", WEIR_FIELD_COUNT, .min = 1, .max = UINT16_MAX, .default_value = UINT16_MAX,
	 INTO(config.source_port_last)},
	{0},
};

static const struct weir_field server_fields[] = {
	{"port", WEIR_FIELD_READ, true, .read = weir_read_port, INTO(server_port)},
	{"src_mac", WEIR_FIELD_READ, true, .read = weir_read_mac, INTO(config.servers.src_mac)},
	{"dst_mac", WEIR_FIELD_READ, true, .read = weir_read_mac, INTO(config.servers.dst_mac)},
	{"address", WEIR_FIELD_STRING, true, INTO(destination)},
	{"addresses", WEIR_FIELD_COUNT, .min = 1, .max = ADDRESSES_MAX, .default_value = 1,
	 INTO(config.destination_count)},
	{0},
};

static const struct weir_field configure_fields[] = {
	{"clients", WEIR_FIELD_OBJECT, true, .fields = client_fields},
	{"servers", WEIR_FIELD_OBJECT, true, .fields = server_fields},
	{"vlan", WEIR_FIELD_COUNT, .min = 1, .max = 4094, INTO(vlan)},
	{"mss", WEIR_FIELD_COUNT, .min = WEIR_CONNECTION_MSS_MIN, .max = WEIR_CONNECTION_MSS_MAX,
	 INTO(config.mss)},
	{"retries", WEIR_FIELD_COUNT, .max = WEIR_CONNECTION_RETRIES_MAX, .default_value = 3,
	 INTO(config.retries)},
	{"retransmit_ns", WEIR_FIELD_COUNT, .min = RETRANSMIT_MIN_NS, .max = RETRANSMIT_MAX_NS,
	 .default_value = 1000000000, INTO(config.retransmit_ns)},
	{"seed", WEIR_FIELD_COUNT, .max = INT64_MAX, .default_value = 1, INTO(config.seed)},
	{"services", WEIR_FIELD_LIST, true, 1, WEIR_SERVICES_MAX, INTO(services)},
	{0},
};

static const char *const transports[] = {"tcp", "udp", NULL}; /* as `udp` */
static const char *const closes[] = {"fin", "reset", NULL};   /* as `reset` */

#define SERVICE(member) WEIR_INTO(struct weir_service, member)

static const struct weir_field service_fields[] = {
	{"l4", WEIR_FIELD_CHOICE, .choices = transports, SERVICE(udp)},
	{"port", WEIR_FIELD_COUNT, true, 1, UINT16_MAX, SERVICE(port)},
	{"weight", WEIR_FIELD_COUNT, .min = 1, .max = 1000000, .default_value = 1, SERVICE(weight)},
	{"transactions", WEIR_FIELD_COUNT, .min = 1, .max = UINT16_MAX, .default_value = 1,
	 SERVICE(transactions)},
	{"request_bytes", WEIR_FIELD_COUNT, true, WEIR_REQUEST_BYTES_MIN, WEIR_MESSAGE_BYTES_MAX,
	 SERVICE(request_bytes)},
	{"answer_bytes", WEIR_FIELD_COUNT, true, 1, WEIR_MESSAGE_BYTES_MAX, SERVICE(answer_bytes)},
	{"think_ns", WEIR_FIELD_COUNT, .max = THINK_MAX_NS, SERVICE(think_ns)},
	{"close", WEIR_FIELD_CHOICE, .choices = closes, SERVICE(reset)},
	{0},
};

static int
next_service_from_json(const json_t *object, const char *where, void *target,
		       struct weir_error *error)
{
	struct weir_connections_config *config = target;

	return weir_read(object, where, service_fields, &config->services[config->service_count++],
			 error);
}

/* The first of `count` addresses, none of which is behind the last one that there is, with the same
 * first 96 bits of IPv6, which go into `prefix`. */
static int
first_address(const char *text, bool ipv6, uint32_t count, const char *where, uint32_t *first,
	      uint8_t prefix[WEIR_PREFIX_BYTES], struct weir_error *error)
{
	uint8_t bytes[sizeof(struct in6_addr)];
	uint32_t last_bits;

	if (inet_pton(ipv6 ? AF_INET6 : AF_INET, text, bytes) != 1)
		return weir_fail(error, "bad_argument", where,
				 ipv6 ? "an IPv6 address, as the clients'"
				      : "an IPv4 address; or IPv6 addresses of both",
				 NULL, "'%s' is none", text);
	memcpy(&last_bits, ipv6 ? bytes + WEIR_PREFIX_BYTES : bytes, sizeof(last_bits));
	memcpy(prefix, bytes, ipv6 ? WEIR_PREFIX_BYTES : 0);
	*first = ntohl(last_bits);
	if (*first + (count - 1) < *first)
		return weir_fail(error, "bad_argument", where, "room for all addresses", NULL,
				 "there are no %u addresses from %s on%s", count, text,
				 ipv6 ? " in its /96" : "");
	return 0;
}

static int
connections_configure(const void *arguments, json_t **result, struct weir_error *error)
{
	struct configure_fields fields = *(const struct configure_fields *)arguments;
	struct weir_connections_config *config = &fields.config;

	(void)result;
	config->ipv6 = strchr(fields.source, ':') != NULL;
	if (config->mss == 0)
		config->mss = config->ipv6 ? WEIR_CONNECTION_IPV6_MSS_MAX : WEIR_CONNECTION_MSS_MAX;
	if (first_address(fields.source, config->ipv6, config->source_count, "clients.address",
			  &config->source, config->prefixes.own, error) < 0 ||
	    first_address(fields.destination, config->ipv6, config->destination_count,
			  "servers.address", &config->destination, config->prefixes.peer,
			  error) < 0 ||
	    weir_read_each(fields.services, "services", next_service_from_json, config, error) < 0)
		return -1;
	config->clients.port_id = fields.client_port->id;
	config->servers.port_id = fields.server_port->id;
	config->clients.vlan = config->servers.vlan = fields.vlan;
	return weir_connections_configure(config, error);
}

const struct weir_verb weir_verb_connections_configure = {
	"connections.configure", "Sets who connects to whom, and what for.", connections_configure,
	configure_fields, sizeof(struct configure_fields)};

/* --- a run -------------------------------------------------------------------------------------
 */

static int
read_rate(const json_t *value, const char *where, void *target, struct weir_error *error)
{
	double *rate = target;

	*rate = json_number_value(value);
	if (json_is_number(value) && *rate >= 0 && *rate <= WEIR_CONNECTION_RATE_MAX)
		return 0;
	return weir_fail(error, "bad_argument", where,
			 "connections a second, 10^8 at most; 0: as fast as the core can", NULL,
			 "there is no such rate");
}

static const char *const arrivals[] = {"constant", "poisson", NULL}; /* as `poisson` */

#define RUN(member) WEIR_INTO(struct weir_connections_run, member)

static const struct weir_field start_fields[] = {
	{"rate", WEIR_FIELD_READ, true, .read = read_rate, RUN(rate)},
	{"arrivals", WEIR_FIELD_CHOICE, .choices = arrivals, RUN(poisson)},
	{"duration_ns", WEIR_FIELD_COUNT, true, 1000000, DURATION_MAX_NS, RUN(duration_ns)},
	{"connections", WEIR_FIELD_COUNT, .min = 1, .max = 1ull << 40, RUN(connections)},
	{"hold", WEIR_FIELD_BOOL, RUN(hold)},
	{"transaction_rate", WEIR_FIELD_READ, .read = read_rate, RUN(transaction_rate)},
	{"transactions_after_ns", WEIR_FIELD_COUNT, .max = DURATION_MAX_NS,
	 RUN(transactions_after_ns)},
	{"drain_ns", WEIR_FIELD_COUNT, .max = DURATION_MAX_NS, .default_value = 1000000000,
	 RUN(drain_ns)},
	{0},
};

static int
connections_start(const void *arguments, json_t **result, struct weir_error *error)
{
	(void)result;
	return weir_connections_start(arguments, error);
}

const struct weir_verb weir_verb_connections_start = {
	"connections.start", "Opens connections at a rate.", connections_start, start_fields,
	sizeof(struct weir_connections_run)};

/* --- counts ------------------------------------------------------------------------------------
 */

static json_t *
side_json(const struct weir_side_count *count)
{
	json_t *failed = json_object();

	for (unsigned int i = 0; i < WEIR_FAILURES; i++)
		json_object_set_new(failed, weir_failure_names[i],
				    json_integer((json_int_t)count->failed[i]));
	return json_pack(
		"{s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, "
		"s:I, s:I, s:I}",
		"opened", (json_int_t)count->opened, "established", (json_int_t)count->established,
		"completed", (json_int_t)count->completed, "failed", failed, "open",
		(json_int_t)count->open, "transactions", (json_int_t)count->transactions,
		"retransmissions", (json_int_t)count->retransmissions, "tx_packets",
		(json_int_t)count->tx_packets, "tx_bytes", (json_int_t)count->tx_bytes,
		"rx_packets", (json_int_t)count->rx_packets, "rx_bytes",
		(json_int_t)count->rx_bytes, "tx_refused", (json_int_t)count->tx_refused,
		"payload_bytes", (json_int_t)count->payload_bytes, "out_of_order",
		(json_int_t)count->out_of_order, "bad_checksum", (json_int_t)count->bad_checksum,
		"not_ours", (json_int_t)count->not_ours, "no_room", (json_int_t)count->no_room);
}

static json_t *
services_json(const struct weir_connections_count *count)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < count->service_count; i++) {
		const struct weir_service_count *service = &count->services[i];

		json_array_append_new(list, json_pack("{s:I, s:I, s:I, s:I}", "opened",
						      (json_int_t)service->opened, "completed",
						      (json_int_t)service->completed, "failed",
						      (json_int_t)service->failed, "transactions",
						      (json_int_t)service->transactions));
	}
	return list;
}

static json_t *
counts_json(const char *state)
{
	struct weir_connections_count count;

	weir_connections_counted(&count);
	return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
			 "state", state, "intended", (json_int_t)count.intended, "duration_ns",
			 (json_int_t)count.duration_ns, "open_most", (json_int_t)count.open_most,
			 "transactions_intended", (json_int_t)count.transactions_intended,
			 "transactions_begun", (json_int_t)count.transactions_begun,
			 "transactions_missed", (json_int_t)count.transactions_missed, "clients",
			 side_json(&count.clients), "servers", side_json(&count.servers),
			 "services", services_json(&count), "connect",
			 weir_latency_json(&count.connect), "first_byte",
			 weir_latency_json(&count.first_byte), "transaction",
			 weir_latency_json(&count.transaction), "gone_ports", weir_gone_ports());
}

struct result_fields {
	uint32_t wait_ms;
};

static const struct weir_field result_fields[] = {
	{"wait_ms", WEIR_FIELD_COUNT, .max = 60000, WEIR_INTO(struct result_fields, wait_ms)},
	{0},
};

static int
connections_result(const void *arguments, json_t **result, struct weir_error *error)
{
	static const char *const states[] = {[WEIR_RUN_RUNNING] = "running",
					     [WEIR_RUN_DONE] = "done",
					     [WEIR_RUN_STOPPED] = "stopped"};
	uint32_t wait_ms = ((const struct result_fields *)arguments)->wait_ms;
	enum weir_run_state state = weir_connections_poll();

	for (; state == WEIR_RUN_RUNNING && wait_ms > 0; state = weir_connections_poll())
		weir_nap(&wait_ms);
	if (state == WEIR_RUN_NONE)
		return weir_fail(error, "bad_state", NULL, NULL, "send connections.start first",
				 "no connections were made");
	*result = counts_json(states[state]);
	return 0;
}

const struct weir_verb weir_verb_connections_result = {
	"connections.result", "What clients and servers counted, up to now or to the end.",
	connections_result, result_fields, sizeof(struct result_fields)};
