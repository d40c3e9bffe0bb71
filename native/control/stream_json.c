/* SPDX-License-Identifier: Apache-2.0 */
#include "stream_json.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "fields.h"
#include "packet_fields_json.h"
#include "path_json.h"
#include "port/port.h"
#include "traffic/frame.h"
#include "traffic/imix.h"

struct stream_fields {
	struct weir_stream_config config;
	struct weir_port *port, *to;
	const char *src_ip, *dst_ip;
	uint16_t bytes;
	const char *imix, *capture, *filter;
	const json_t *addresses, *packet_fields;
	unsigned int pacing;
};

/* --- kinds of values ---------------------------------------------------------------------------
 */

int
weir_read_mac(const json_t *value, const char *where, void *target, struct weir_error *error)
{
	const char *text = json_string_value(value);

	if (text == NULL)
		return weir_fail(error, "bad_argument", where, "a string", NULL,
				 "a MAC address has the wrong type");
	if (rte_ether_unformat_addr(text, target) == 0)
		return 0;
	return weir_fail(error, "bad_argument", where, "an address such as 02:00:00:00:00:01", NULL,
			 "'%s' is not a MAC address", text);
}

static int
read_exponent(const json_t *value, const char *where, void *target, struct weir_error *error)
{
	double *exponent = target;

	*exponent = json_number_value(value);
	if (json_is_number(value) && *exponent > 0 && *exponent <= 10)
		return 0;
	return weir_fail(error, "bad_argument", where, "a number above 0, up to 10", NULL,
			 "'zipf_s' is no such exponent");
}

static int
read_vary(const json_t *value, const char *where, void *target, struct weir_error *error)
{
	static const char *const fields[] = {"src_ip", "dst_ip", "src_port", "dst_port"};
	unsigned int *vary = target;
	size_t index;
	json_t *field;

	if (!json_is_array(value))
		return weir_fail(error, "bad_argument", where, "an array", NULL,
				 "'vary' has the wrong type");
	json_array_foreach((json_t *)value, index, field)
	{
		const char *name = json_is_string(field) ? json_string_value(field) : "";
		unsigned int i = 0;

		while (i < RTE_DIM(fields) && strcmp(name, fields[i]) != 0)
			i++;
		if (i == RTE_DIM(fields))
			return weir_fail(error, "bad_argument", where,
					 "src_ip, dst_ip, src_port, dst_port", NULL,
					 "'vary' has an unknown field");
		*vary |= 1u << i; /* as enum weir_vary */
	}
	return 0;
}

/* --- tables ------------------------------------------------------------------------------------
 */

static const char *const transports[] = {"udp", "tcp", NULL};
static const char *const distributions[] = {"uniform", "zipf", NULL};
enum { CONSTANT, POISSON, RECORDED };
static const char *const pacings[] = {"constant", "poisson", "recorded", NULL};

#define INTO(member) WEIR_INTO(struct stream_fields, member)

static const struct weir_field template_fields[] = {
	{"ip", WEIR_FIELD_COUNT, .min = 4, .max = 6, .default_value = 4,
	 INTO(config.template.ip_version)},
	{"l4", WEIR_FIELD_CHOICE, .choices = transports, INTO(config.template.tcp)},
	{"src_mac", WEIR_FIELD_READ, true, .read = weir_read_mac, INTO(config.template.src_mac)},
	{"dst_mac", WEIR_FIELD_READ, true, .read = weir_read_mac, INTO(config.template.dst_mac)},
	{"vlan", WEIR_FIELD_COUNT, .min = 1, .max = 4094, INTO(config.template.vlan)},
	{"src_ip", WEIR_FIELD_STRING, true, INTO(src_ip)},
	{"dst_ip", WEIR_FIELD_STRING, true, INTO(dst_ip)},
	{"src_port", WEIR_FIELD_COUNT, .min = 1, .max = 32767, .default_value = 1024,
	 INTO(config.template.src_port)},
	{"dst_port", WEIR_FIELD_COUNT, .min = 1, .max = 32767, .default_value = 1024,
	 INTO(config.template.dst_port)},
	{0},
};

static const struct weir_field frame_fields[] = {
	{"bytes", WEIR_FIELD_COUNT, .min = 1, .max = UINT16_MAX, INTO(bytes)},
	{"imix", WEIR_FIELD_STRING, INTO(imix)},
	{0},
};

static const struct weir_field flows_fields[] = {
	{"count", WEIR_FIELD_COUNT, .min = 1, .max = WEIR_FLOWS_MAX, .default_value = 1,
	 INTO(config.flow_count)},
	{"distribution", WEIR_FIELD_CHOICE, .choices = distributions, INTO(config.zipf)},
	{"zipf_s", WEIR_FIELD_READ, .read = read_exponent, INTO(config.zipf_s)},
	{"seed", WEIR_FIELD_COUNT, .max = INT64_MAX, .default_value = 1, INTO(config.seed)},
	{"vary", WEIR_FIELD_READ, .read = read_vary, INTO(config.vary)},
	{"exchanged", WEIR_FIELD_BOOL, INTO(config.exchanged)},
	{0},
};

static const struct weir_field capture_fields[] = {
	{"path", WEIR_FIELD_STRING, true, INTO(capture)},
	{"stamp", WEIR_FIELD_BOOL, INTO(config.stamped)},
	{"template_macs", WEIR_FIELD_BOOL, INTO(config.template_macs)},
	{"once", WEIR_FIELD_BOOL, INTO(config.once)},
	{"filter", WEIR_FIELD_STRING, INTO(filter)},
	{"addresses", WEIR_FIELD_LIST, .max = WEIR_ADDRESS_MAPS_MAX, INTO(addresses)},
	{0},
};

struct map_fields {
	const char *from, *to;
};

static const struct weir_field map_fields[] = {
	{"from", WEIR_FIELD_STRING, true, WEIR_INTO(struct map_fields, from)},
	{"to", WEIR_FIELD_STRING, true, WEIR_INTO(struct map_fields, to)},
	{0},
};

static const struct weir_field stream_fields[] = {
	{"id", WEIR_FIELD_COUNT, true, .max = WEIR_STREAMS_MAX - 1, INTO(config.id)},
	{"port", WEIR_FIELD_READ, true, .read = weir_read_port, INTO(port)},
	{"to", WEIR_FIELD_READ, .read = weir_read_port, INTO(to)},
	{"frame", WEIR_FIELD_OBJECT, true, .fields = frame_fields},
	{"template", WEIR_FIELD_OBJECT, true, .fields = template_fields},
	{"flows", WEIR_FIELD_OBJECT, .fields = flows_fields},
	{"pacing", WEIR_FIELD_CHOICE, .choices = pacings, INTO(pacing)},
	{"capture", WEIR_FIELD_OBJECT, .fields = capture_fields},
	{"fields", WEIR_FIELD_LIST, .max = WEIR_PACKET_FIELDS, INTO(packet_fields)},
	{"answers", WEIR_FIELD_COUNT, .max = WEIR_STREAMS_MAX - 1,
	 .default_value = WEIR_STREAMS_MAX, INTO(config.answered_id)},
	{0},
};

/* --- what depends on several keys --------------------------------------------------------------
 */

static int
read_address(const char *text, uint8_t version, const char *where, const char *key,
	     uint8_t *address, struct weir_error *error)
{
	if (inet_pton(version == 4 ? AF_INET : AF_INET6, text, address) == 1)
		return 0;
	return weir_fail(error, "bad_argument", weir_at(where, key).text,
			 version == 4 ? "an IPv4 address" : "an IPv6 address", NULL,
			 "'%s' cannot be %s", key, text);
}

static int
complete_template(struct stream_fields *fields, const char *where, struct weir_error *error)
{
	struct weir_template *template = &fields->config.template;

	if (template->ip_version == 5)
		return weir_fail(error, "bad_argument", weir_at(where, "ip").text, "4 or 6", NULL,
				 "'ip' cannot be 5");
	template->tagged = template->vlan != 0;
	if (read_address(fields->src_ip, template->ip_version, where, "src_ip", template->src_ip,
			 error) < 0)
		return -1;
	return read_address(fields->dst_ip, template->ip_version, where, "dst_ip", template->dst_ip,
			    error);
}

static int
complete_frames(const struct stream_fields *fields, const char *where,
		struct weir_stream_config *config, struct weir_error *error)
{
	uint16_t least = weir_frame_minimum(&config->template);
	uint16_t most = weir_ports_frame_bytes_max() + (config->template.tagged ? 4 : 0);
	struct weir_place place = weir_at(where, fields->imix != NULL ? "imix" : "bytes");
	char expected[64];
	int count = 1;

	if ((fields->bytes == 0) == (fields->imix == NULL))
		return weir_fail(error, "bad_argument", where, "`bytes` or `imix`", NULL,
				 "a frame has either a size or an IMIX genome");
	config->frame_bytes[0] = fields->bytes;
	if (fields->imix != NULL)
		count = weir_imix_sizes(fields->imix, config->frame_bytes, WEIR_FRAME_SEQUENCE_MAX,
					place.text, error);
	if (count < 0)
		return -1;
	config->frame_count = count;
	snprintf(expected, sizeof(expected), "%u to %u bytes with FCS for these headers", least,
		 most);
	for (int i = 0; i < count; i++) {
		if (config->frame_bytes[i] < least || config->frame_bytes[i] > most)
			return weir_fail(error, "bad_argument", place.text, expected,
					 "`configure` says the largest frame: frame_bytes_max",
					 "a frame of %u bytes cannot be sent",
					 config->frame_bytes[i]);
	}
	return 0;
}

/* "192.0.2.0/24", without host bits. */
static bool
read_prefix(const char *text, uint8_t *ip_version, uint8_t *address, uint8_t *length)
{
	const char *slash = strchr(text, '/');
	char head[INET6_ADDRSTRLEN];
	unsigned int most, bits;
	int used = 0;

	if (slash == NULL || (size_t)(slash - text) >= sizeof(head))
		return false;
	snprintf(head, sizeof(head), "%.*s", (int)(slash - text), text);
	*ip_version = strchr(head, ':') != NULL ? 6 : 4;
	most = *ip_version == 6 ? 128 : 32;
	if (inet_pton(*ip_version == 6 ? AF_INET6 : AF_INET, head, address) != 1 ||
	    strspn(slash + 1, "0123456789") != strlen(slash + 1) || strlen(slash + 1) > 3 ||
	    sscanf(slash + 1, "%u%n", &bits, &used) != 1 || bits > most)
		return false;
	for (unsigned int i = bits; i < most; i++) {
		if ((address[i / 8] & (0x80 >> i % 8)) != 0)
			return false;
	}
	*length = (uint8_t)bits;
	return true;
}

static int
next_map_from_json(const json_t *object, const char *where, void *target, struct weir_error *error)
{
	struct weir_stream_config *config = target;
	struct weir_address_map *map = &config->maps[config->map_count];
	struct map_fields fields = {0};
	uint8_t version, length;

	if (weir_read(object, where, map_fields, &fields, error) < 0)
		return -1;
	if (!read_prefix(fields.from, &map->ip_version, map->from, &map->length) ||
	    !read_prefix(fields.to, &version, map->to, &length) || version != map->ip_version ||
	    length != map->length)
		return weir_fail(
			error, "bad_argument", where,
			"two prefixes of one family and length, without host bits, such as "
			"10.0.0.0/8 and 198.0.0.0/8",
			NULL, "'%s' cannot become '%s'", fields.from, fields.to);
	config->map_count++;
	return 0;
}

/* A capture takes the place of the frame and the flows. */
static int
complete_capture(struct stream_fields *fields, const char *where, struct weir_error *error)
{
	struct weir_stream_config *config = &fields->config;

	config->poisson = fields->pacing == POISSON;
	config->recorded = fields->pacing == RECORDED;
	if (fields->capture == NULL && config->recorded)
		return weir_fail(error, "bad_argument", weir_at(where, "pacing").text,
				 "constant or poisson", "name a capture",
				 "only a capture has recorded gaps");
	if (fields->capture == NULL)
		return 0;
	if (fields->capture[0] == '\0' || strlen(fields->capture) >= sizeof(config->capture))
		return weir_fail(error, "bad_argument", weir_at(where, "capture.path").text,
				 "a path of 1 to 1023 bytes", NULL, "'path' is empty or too long");
	if (config->flow_count > 1)
		return weir_fail(error, "bad_argument", weir_at(where, "flows").text,
				 "absent, or one flow", NULL, "a capture has flows of its own");
	if (fields->filter != NULL && strlen(fields->filter) >= sizeof(config->capture_filter))
		return weir_fail(error, "bad_argument", weir_at(where, "capture.filter").text,
				 "255 bytes at most", NULL, "'filter' is too long");
	config->capture_frame_bytes_max = weir_ports_frame_bytes_max();
	snprintf(config->capture, sizeof(config->capture), "%s", fields->capture);
	snprintf(config->capture_filter, sizeof(config->capture_filter), "%s",
		 fields->filter != NULL ? fields->filter : "");
	return weir_read_each(fields->addresses, weir_at(where, "capture.addresses").text,
			      next_map_from_json, config, error);
}

int
weir_stream_from_json(const json_t *object, const char *where, struct weir_stream_config *config,
		      struct weir_error *error)
{
	struct stream_fields fields = {.config.zipf_s = 1};

	if (weir_read(object, where, stream_fields, &fields, error) < 0 ||
	    complete_template(&fields, weir_at(where, "template").text, error) < 0 ||
	    complete_frames(&fields, weir_at(where, "frame").text, &fields.config, error) < 0 ||
	    complete_capture(&fields, where, error) < 0 ||
	    weir_packet_fields_from_json(fields.packet_fields, weir_at(where, "fields").text,
					 &fields.config, error) < 0)
		return -1;
	*config = fields.config;
	config->answers = config->answered_id < WEIR_STREAMS_MAX;
	config->port_id = fields.port->id;
	config->to_port_id = fields.to != NULL ? fields.to->id : WEIR_NOWHERE;
	return 0;
}
