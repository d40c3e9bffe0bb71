/* SPDX-License-Identifier: Apache-2.0 */
/* The traffic verbs: streams from JSON, runs, and their counts. */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "arguments.h"
#include "core/loop.h"
#include "port/port.h"
#include "traffic/frame.h"
#include "traffic/imix.h"
#include "traffic/traffic.h"
#include "verb.h"

#define DURATION_MAX_NS (7ull * 24 * 3600 * 1000000000)

static struct weir_stalls stalls_before[WEIR_CORES_MAX];

void
weir_traffic_forget(void)
{
	weir_streams_clear();
}

static int
port_id_of(const json_t *object, const char *key, const char *where, uint16_t *id,
	   struct weir_error *error)
{
	const char *name = NULL;
	struct weir_port *port;

	if (weir_take_string(object, key, true, where, &name, error) < 0)
		return -1;
	port = weir_port_find(name);
	if (port == NULL)
		return weir_fail(error, "bad_argument", where, "the name of a configured port",
				 NULL, "there is no port '%s'", name);
	*id = port->id;
	return 0;
}

static int
mac_of(const json_t *object, const char *key, const char *where, struct rte_ether_addr *mac,
       struct weir_error *error)
{
	const char *text = NULL;

	if (weir_take_string(object, key, true, where, &text, error) < 0)
		return -1;
	if (rte_ether_unformat_addr(text, mac) != 0)
		return weir_fail(error, "bad_argument", where,
				 "an address such as 02:00:00:00:00:01", NULL,
				 "'%s' is not a MAC address", text);
	return 0;
}

static int
address_of(const json_t *object, const char *key, int version, const char *where, uint8_t *address,
	   struct weir_error *error)
{
	const char *text = NULL;

	if (weir_take_string(object, key, true, where, &text, error) < 0)
		return -1;
	if (inet_pton(version == 4 ? AF_INET : AF_INET6, text, address) != 1)
		return weir_fail(error, "bad_argument", where,
				 version == 4 ? "an IPv4 address" : "an IPv6 address", NULL,
				 "'%s' cannot be %s", key, text);
	return 0;
}

static int
template_from_json(const json_t *object, const char *where, struct weir_template *template,
		   struct weir_error *error)
{
	static const char *const known[] = {"ip",     "l4",	"src_mac",  "dst_mac",	"vlan",
					    "src_ip", "dst_ip", "src_port", "dst_port", NULL};
	const char *l4 = "udp";
	uint64_t version = 4, vlan = 0, src_port = 1024, dst_port = 1024;

	if (weir_refuse_unknown(object, where, known, error) < 0 ||
	    weir_take_count(object, "ip", 4, 6, where, &version, error) < 0 ||
	    weir_take_string(object, "l4", false, where, &l4, error) < 0 ||
	    mac_of(object, "src_mac", where, &template->src_mac, error) < 0 ||
	    mac_of(object, "dst_mac", where, &template->dst_mac, error) < 0 ||
	    weir_take_count(object, "vlan", 1, 4094, where, &vlan, error) < 0 ||
	    weir_take_count(object, "src_port", 1, 32767, where, &src_port, error) < 0 ||
	    weir_take_count(object, "dst_port", 1, 32767, where, &dst_port, error) < 0)
		return -1;
	if (version == 5 || (strcmp(l4, "udp") != 0 && strcmp(l4, "tcp") != 0))
		return weir_fail(error, "bad_argument", where, "ip 4 or 6, l4 udp or tcp", NULL,
				 "there is no template for ip %lu and l4 '%s'", version, l4);
	template->ip_version = version;
	template->tcp = strcmp(l4, "tcp") == 0;
	template->tagged = vlan != 0;
	template->vlan = vlan;
	template->src_port = src_port;
	template->dst_port = dst_port;
	if (address_of(object, "src_ip", version, where, template->src_ip, error) < 0)
		return -1;
	return address_of(object, "dst_ip", version, where, template->dst_ip, error);
}

static int
frames_from_json(const json_t *object, const char *where, struct weir_stream_config *config,
		 struct weir_error *error)
{
	static const char *const known[] = {"bytes", "imix", NULL};
	uint16_t least = weir_frame_minimum(&config->template);
	uint16_t most = WEIR_FRAME_BYTES_MAX + (config->template.tagged ? 4 : 0);
	const char *genome = NULL;
	uint64_t bytes = 0;
	char expected[64];
	int count = 1;

	if (weir_refuse_unknown(object, where, known, error) < 0 ||
	    weir_take_count(object, "bytes", 1, 65535, where, &bytes, error) < 0 ||
	    weir_take_string(object, "imix", false, where, &genome, error) < 0)
		return -1;
	if ((bytes == 0) == (genome == NULL))
		return weir_fail(error, "bad_argument", where, "`bytes` or `imix`", NULL,
				 "a frame has either a size or an IMIX genome");
	config->frame_bytes[0] = bytes;
	if (genome != NULL)
		count = weir_imix_sizes(genome, config->frame_bytes, WEIR_FRAME_SEQUENCE_MAX, where,
					error);
	if (count < 0)
		return -1;
	config->frame_count = count;
	snprintf(expected, sizeof(expected), "%u to %u bytes with FCS for these headers", least,
		 most);
	for (int i = 0; i < count; i++) {
		if (config->frame_bytes[i] < least || config->frame_bytes[i] > most)
			return weir_fail(error, "bad_argument", where, expected, NULL,
					 "a frame of %u bytes cannot be sent",
					 config->frame_bytes[i]);
	}
	return 0;
}

static int
flows_from_json(const json_t *object, const char *where, struct weir_stream_config *config,
		struct weir_error *error)
{
	static const char *const known[] = {"count", "distribution", "zipf_s",
					    "seed",  "vary",	     NULL};
	static const char *const fields[] = {"src_ip", "dst_ip", "src_port", "dst_port"};
	uint64_t count = 1, seed = 1;
	const char *distribution = "uniform";
	const json_t *exponent = json_object_get(object, "zipf_s");
	const json_t *vary;
	size_t index;
	json_t *field;

	if (weir_refuse_unknown(object, where, known, error) < 0 ||
	    weir_take_count(object, "count", 1, WEIR_FLOWS_MAX, where, &count, error) < 0 ||
	    weir_take_count(object, "seed", 0, INT64_MAX, where, &seed, error) < 0 ||
	    weir_take_string(object, "distribution", false, where, &distribution, error) < 0 ||
	    weir_take_array(object, "vary", where, &vary, error) < 0)
		return -1;
	config->zipf = strcmp(distribution, "zipf") == 0;
	if (!config->zipf && strcmp(distribution, "uniform") != 0)
		return weir_fail(error, "bad_argument", where, "uniform or zipf", NULL,
				 "there is no distribution '%s'", distribution);
	config->zipf_s = json_is_number(exponent) ? json_number_value(exponent) : 1.0;
	if (config->zipf_s <= 0 || config->zipf_s > 10)
		return weir_fail(error, "bad_argument", where, "above 0, up to 10", NULL,
				 "'zipf_s' cannot be %g", config->zipf_s);
	config->flow_count = count;
	config->seed = seed;
	json_array_foreach((json_t *)vary, index, field)
	{
		unsigned int i = 0;

		while (i < 4 &&
		       (!json_is_string(field) || strcmp(json_string_value(field), fields[i]) != 0))
			i++;
		if (i == 4)
			return weir_fail(error, "bad_argument", where,
					 "src_ip, dst_ip, src_port, dst_port", NULL,
					 "'vary' has an unknown field");
		config->vary |= 1u << i;
	}
	return 0;
}

static int
stream_from_json(const json_t *object, const char *where, struct weir_stream_config *config,
		 struct weir_error *error)
{
	static const char *const known[] = {"id",	"port",	 "to",	   "frame",
					    "template", "flows", "pacing", NULL};
	const char *pacing = "constant";
	uint64_t id = UINT64_MAX;
	json_t *flows = json_object_get(object, "flows");

	memset(config, 0, sizeof(*config));
	config->flow_count = 1;
	config->zipf_s = 1;
	if (weir_refuse_unknown(object, where, known, error) < 0 ||
	    weir_take_count(object, "id", 0, WEIR_STREAMS_MAX - 1, where, &id, error) < 0 ||
	    port_id_of(object, "port", where, &config->port_id, error) < 0 ||
	    port_id_of(object, "to", where, &config->to_port_id, error) < 0 ||
	    template_from_json(json_object_get(object, "template"), where, &config->template,
			       error) < 0 ||
	    frames_from_json(json_object_get(object, "frame"), where, config, error) < 0 ||
	    (flows != NULL && flows_from_json(flows, where, config, error) < 0) ||
	    weir_take_string(object, "pacing", false, where, &pacing, error) < 0)
		return -1;
	if (id == UINT64_MAX)
		return weir_fail(error, "bad_argument", where, NULL, NULL, "'id' is missing");
	config->id = id;
	config->poisson = strcmp(pacing, "poisson") == 0;
	if (!config->poisson && strcmp(pacing, "constant") != 0)
		return weir_fail(error, "bad_argument", where, "constant or poisson", NULL,
				 "'pacing' cannot be '%s'", pacing);
	return 0;
}

int
weir_verb_traffic_configure(const json_t *args, json_t **result, struct weir_error *error)
{
	static const char *const known[] = {"streams", NULL};
	static struct weir_stream_config configs[WEIR_STREAMS_MAX];
	const json_t *list;
	char where[32];
	size_t index;
	json_t *object;

	(void)result;
	if (weir_refuse_unknown(args, "traffic.configure", known, error) < 0 ||
	    weir_take_array(args, "streams", "streams", &list, error) < 0)
		return -1;
	if (json_array_size(list) == 0 || json_array_size(list) > WEIR_STREAMS_MAX)
		return weir_fail(error, "bad_argument", "streams", "1 to 64 streams", NULL,
				 "%zu streams", json_array_size(list));
	json_array_foreach((json_t *)list, index, object)
	{
		snprintf(where, sizeof(where), "streams[%zu]", index);
		if (stream_from_json(object, where, &configs[index], error) < 0)
			return -1;
		for (size_t i = 0; i < index; i++) {
			if (configs[i].id == configs[index].id)
				return weir_fail(error, "bad_argument", where, "an id of its own",
						 NULL, "two streams have the id %u", configs[i].id);
		}
	}
	return weir_streams_configure(configs, json_array_size(list), error);
}

int
weir_verb_traffic_start(const json_t *args, json_t **result, struct weir_error *error)
{
	static const char *const known[] = {"duration_ns", "rates_pps", "drain_ns", NULL};
	double rates[WEIR_STREAMS_MAX];
	uint64_t duration_ns = 0, drain_ns = 100000000;
	json_t *by_id = json_object_get(args, "rates_pps");
	char key[16];
	int number;

	if (weir_refuse_unknown(args, "traffic.start", known, error) < 0 ||
	    weir_take_count(args, "duration_ns", 1000000, DURATION_MAX_NS, "duration_ns",
			    &duration_ns, error) < 0 ||
	    weir_take_count(args, "drain_ns", 0, DURATION_MAX_NS, "drain_ns", &drain_ns, error) < 0)
		return -1;
	if (duration_ns == 0)
		return weir_fail(error, "bad_argument", "duration_ns", NULL, NULL,
				 "'duration_ns' is missing");
	for (unsigned int i = 0; i < weir_stream_count(); i++) {
		const json_t *rate;

		snprintf(key, sizeof(key), "%u", weir_stream_id(i));
		rate = json_object_get(by_id, key);
		if (json_is_string(rate) && strcmp(json_string_value(rate), "max") == 0)
			rates[i] = 0;
		else if (json_is_number(rate) && json_number_value(rate) >= 0)
			rates[i] = json_number_value(rate);
		else
			return weir_fail(error, "bad_argument", "rates_pps",
					 "packets a second, or \"max\"", NULL,
					 "no rate for stream %s", key);
	}
	for (unsigned int i = 0; i < weir_core_count(); i++)
		stalls_before[i] = weir_core_stalls(i);
	number = weir_run_start(rates, duration_ns, drain_ns, error);
	if (number < 0)
		return -1;
	*result = json_pack("{s:i}", "run", number);
	return 0;
}

static json_t *
streams_counted(void)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < weir_stream_count(); i++) {
		struct weir_stream_count c;

		weir_stream_counted(i, &c);
		json_array_append_new(
			list,
			json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:{s:I, s:f, s:f, s:f, "
				  "s:f, s:f, s:f, s:f}}",
				  "id", weir_stream_id(i), "intended", (json_int_t)c.intended,
				  "offered", (json_int_t)c.offered, "tx_refused",
				  (json_int_t)c.tx_refused, "delivered", (json_int_t)c.delivered,
				  "duplicates", (json_int_t)c.duplicates, "reordered",
				  (json_int_t)c.reordered, "late_from_earlier_run",
				  (json_int_t)c.stale, "latency", "count",
				  (json_int_t)c.latency.count, "min_ns", c.latency.min, "mean_ns",
				  c.latency.mean, "p50_ns", c.latency.p50, "p90_ns", c.latency.p90,
				  "p99_ns", c.latency.p99, "p999_ns", c.latency.p999, "max_ns",
				  c.latency.max));
	}
	return list;
}

static json_t *
receivers_counted(void)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < weir_receiver_count(); i++) {
		struct weir_receiver_count c;

		weir_receiver_counted(i, &c);
		json_array_append_new(
			list, json_pack("{s:s, s:I, s:I, s:I}", "port", weir_receiver_port(i),
					"foreign", (json_int_t)c.foreign, "malformed",
					(json_int_t)c.malformed, "stale", (json_int_t)c.stale));
	}
	return list;
}

static json_t *
stalls_since_start(void)
{
	double us = 1e6 / (double)rte_get_tsc_hz();
	json_t *list = json_array();

	for (unsigned int i = 0; i < weir_core_count(); i++) {
		struct weir_stalls now = weir_core_stalls(i);

		json_array_append_new(
			list,
			json_pack("{s:i, s:I, s:f, s:f}", "core", weir_core_number(i), "count",
				  (json_int_t)(now.count - stalls_before[i].count), "total_us",
				  (double)(now.total_cycles - stalls_before[i].total_cycles) * us,
				  "longest_us", (double)now.longest_cycles * us));
	}
	return list;
}

static json_t *
gone_ports(void)
{
	json_t *list = json_array();

	for (unsigned int i = 0; i < weir_port_count(); i++) {
		if (weir_port_gone(weir_port_at(i)))
			json_array_append_new(list, json_string(weir_port_at(i)->name));
	}
	return list;
}

int
weir_verb_traffic_result(const json_t *args, json_t **result, struct weir_error *error)
{
	static const char *const known[] = {"wait_ms", NULL};
	uint64_t wait_ms = 0;
	enum weir_run_state state;

	if (weir_refuse_unknown(args, "traffic.result", known, error) < 0 ||
	    weir_take_count(args, "wait_ms", 0, 60000, "wait_ms", &wait_ms, error) < 0)
		return -1;
	for (state = weir_run_poll(); state == WEIR_RUN_RUNNING && wait_ms > 0;
	     state = weir_run_poll()) {
		uint64_t nap_ms = wait_ms < 5 ? wait_ms : 5;

		/* Asleep, so that the polling cores keep their CPUs. */
		usleep(nap_ms * 1000);
		wait_ms -= nap_ms;
	}
	if (state == WEIR_RUN_NONE)
		return weir_fail(error, "bad_state", NULL, NULL, "send traffic.start first",
				 "there has been no run");
	if (state == WEIR_RUN_RUNNING) {
		*result = json_pack("{s:s, s:i, s:o}", "state", "running", "run", weir_run_number(),
				    "gone_ports", gone_ports());
		return 0;
	}
	*result = json_pack("{s:s, s:i, s:I, s:o, s:o, s:o, s:o}", "state", "done", "run",
			    weir_run_number(), "tx_duration_ns",
			    (json_int_t)weir_run_tx_duration_ns(), "streams", streams_counted(),
			    "receivers", receivers_counted(), "stalls", stalls_since_start(),
			    "gone_ports", gone_ports());
	return 0;
}
