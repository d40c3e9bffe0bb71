/* SPDX-License-Identifier: Apache-2.0 */
/* One stream from JSON: ports, sizes, flows, pacing. */
#include "stream_json.h"

#include <stdio.h>
#include <string.h>

#include "arguments.h"
#include "port/port.h"
#include "traffic/frame.h"
#include "traffic/imix.h"
#include "verb.h"

static int
port_id_of(const json_t *object, const char *key, bool required, const char *where, uint16_t *id,
	   struct weir_error *error)
{
	const char *name = NULL;
	struct weir_port *port;

	*id = WEIR_NOWHERE;
	if (weir_take_string(object, key, required, where, &name, error) < 0)
		return -1;
	if (name == NULL)
		return 0;
	port = weir_port_find(name);
	if (port == NULL)
		return weir_fail(error, "bad_argument", weir_at(where, key).text,
				 "the name of a configured port", NULL, "there is no port '%s'",
				 name);
	*id = port->id;
	return 0;
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
	struct weir_place place;
	char expected[64];
	int count = 1;

	if (weir_refuse_unknown(object, where, known, error) < 0 ||
	    weir_take_count(object, "bytes", 1, 65535, where, &bytes, error) < 0 ||
	    weir_take_string(object, "imix", false, where, &genome, error) < 0)
		return -1;
	if ((bytes == 0) == (genome == NULL))
		return weir_fail(error, "bad_argument", where, "`bytes` or `imix`", NULL,
				 "a frame has either a size or an IMIX genome");
	place = weir_at(where, genome != NULL ? "imix" : "bytes");
	config->frame_bytes[0] = bytes;
	if (genome != NULL)
		count = weir_imix_sizes(genome, config->frame_bytes, WEIR_FRAME_SEQUENCE_MAX,
					place.text, error);
	if (count < 0)
		return -1;
	config->frame_count = count;
	snprintf(expected, sizeof(expected), "%u to %u bytes with FCS for these headers", least,
		 most);
	for (int i = 0; i < count; i++) {
		if (config->frame_bytes[i] < least || config->frame_bytes[i] > most)
			return weir_fail(error, "bad_argument", place.text, expected, NULL,
					 "a frame of %u bytes cannot be sent",
					 config->frame_bytes[i]);
	}
	return 0;
}

static int
exponent_of(const json_t *object, const char *where, double *exponent, struct weir_error *error)
{
	const json_t *found = json_object_get(object, "zipf_s");

	if (found == NULL)
		return 0;
	if (!json_is_number(found) || json_number_value(found) <= 0 ||
	    json_number_value(found) > 10)
		return weir_fail(error, "bad_argument", weir_at(where, "zipf_s").text,
				 "a number above 0, up to 10", NULL,
				 "'zipf_s' is no such exponent");
	*exponent = json_number_value(found);
	return 0;
}

static int
vary_of(const json_t *object, const char *where, unsigned int *vary, struct weir_error *error)
{
	static const char *const fields[] = {"src_ip", "dst_ip", "src_port", "dst_port"};
	const json_t *list;
	size_t index;
	json_t *field;

	if (weir_take_array(object, "vary", where, &list, error) < 0)
		return -1;
	json_array_foreach((json_t *)list, index, field)
	{
		unsigned int i = 0;

		while (i < 4 &&
		       (!json_is_string(field) || strcmp(json_string_value(field), fields[i]) != 0))
			i++;
		if (i == 4)
			return weir_fail(error, "bad_argument", weir_at(where, "vary").text,
					 "src_ip, dst_ip, src_port, dst_port", NULL,
					 "'vary' has an unknown field");
		*vary |= 1u << i;
	}
	return 0;
}

static int
flows_from_json(const json_t *object, const char *where, struct weir_stream_config *config,
		struct weir_error *error)
{
	static const char *const known[] = {"count", "distribution", "zipf_s",
					    "seed",  "vary",	     NULL};
	uint64_t count = 1, seed = 1;
	const char *distribution = "uniform";

	if (weir_refuse_unknown(object, where, known, error) < 0 ||
	    weir_take_count(object, "count", 1, WEIR_FLOWS_MAX, where, &count, error) < 0 ||
	    weir_take_count(object, "seed", 0, INT64_MAX, where, &seed, error) < 0 ||
	    weir_take_string(object, "distribution", false, where, &distribution, error) < 0 ||
	    exponent_of(object, where, &config->zipf_s, error) < 0 ||
	    vary_of(object, where, &config->vary, error) < 0)
		return -1;
	config->zipf = strcmp(distribution, "zipf") == 0;
	if (!config->zipf && strcmp(distribution, "uniform") != 0)
		return weir_fail(error, "bad_argument", weir_at(where, "distribution").text,
				 "uniform or zipf", NULL, "there is no distribution '%s'",
				 distribution);
	config->flow_count = count;
	config->seed = seed;
	return 0;
}

int
weir_stream_from_json(const json_t *object, const char *where, struct weir_stream_config *config,
		      struct weir_error *error)
{
	static const char *const known[] = {"id",	"port",	 "to",	   "frame",
					    "template", "flows", "pacing", NULL};
	const char *pacing = "constant";
	uint64_t id = UINT64_MAX;
	const json_t *flows = json_object_get(object, "flows");

	memset(config, 0, sizeof(*config));
	config->flow_count = 1;
	config->zipf_s = 1;
	if (weir_refuse_unknown(object, where, known, error) < 0 ||
	    weir_take_count(object, "id", 0, WEIR_STREAMS_MAX - 1, where, &id, error) < 0 ||
	    port_id_of(object, "port", true, where, &config->port_id, error) < 0 ||
	    port_id_of(object, "to", false, where, &config->to_port_id, error) < 0 ||
	    weir_template_from_json(json_object_get(object, "template"),
				    weir_at(where, "template").text, &config->template,
				    error) < 0 ||
	    frames_from_json(json_object_get(object, "frame"), weir_at(where, "frame").text, config,
			     error) < 0 ||
	    (flows != NULL &&
	     flows_from_json(flows, weir_at(where, "flows").text, config, error) < 0) ||
	    weir_take_string(object, "pacing", false, where, &pacing, error) < 0)
		return -1;
	if (id == UINT64_MAX)
		return weir_missing(where, "id", error);
	config->id = id;
	config->poisson = strcmp(pacing, "poisson") == 0;
	if (!config->poisson && strcmp(pacing, "constant") != 0)
		return weir_fail(error, "bad_argument", weir_at(where, "pacing").text,
				 "constant or poisson", NULL, "'pacing' cannot be '%s'", pacing);
	return 0;
}
