/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `exchange`: frames sent at ports, and what arrives at ports until nothing comes any more, while
 * the loops run. For ports that no area uses, such as the far ends of in-memory wires: their queues
 * are this thread's.
 */
#include <time.h>

#include "engine/loop.h"
#include "frame_json.h"
#include "port/port.h"
#include "verbs.h"

#define FRAMES_MAX 4096
#define PORTS_MAX 16
#define BURST 32
#define QUIET_ROUNDS 32
/* Of one request: a chain that never comes to rest must not keep the control thread. */
#define LONGEST_MS 30000
#define RECEIVED_MAX 262144

struct end {
	const struct weir_port *port;
	const json_t *frames;
	size_t sent;
	json_t *received;
};

static int
end_from_json(const char *name, const json_t *frames, struct end *end, struct weir_error *error)
{
	end->port = weir_port_find(name);
	end->frames = frames;
	if (end->port == NULL)
		return weir_fail(error, "bad_argument", "frames",
				 "names of ports, each with a list of frames", NULL,
				 "there is no port '%s'", name);
	if (end->port->has_area)
		return weir_fail(error, "bad_argument", "frames", "ports that no area uses", NULL,
				 "port '%s' is an area's", name);
	if (!json_is_array(frames))
		return weir_fail(error, "bad_argument", "frames", "a list of frames for each port",
				 NULL, "no list for port '%s'", name);
	return weir_frames_check(frames, FRAMES_MAX, "frames", error);
}

/* The next frame, if there is one, a buffer for it, and room at the port. */
static bool
send_one(struct end *end)
{
	struct rte_mbuf *packet;

	if (end->sent == json_array_size(end->frames))
		return false;
	packet = weir_frame_from_json(json_array_get(end->frames, end->sent), weir_ports_mempool());
	if (packet == NULL)
		return false;
	if (weir_queue_transmit(&end->port->queue, &packet, 1) == 0) {
		rte_pktmbuf_free(packet);
		return false;
	}
	end->sent++;
	return true;
}

static bool
receive_some(struct end *end)
{
	struct rte_mbuf *packets[BURST];
	uint16_t count = weir_queue_receive(&end->port->queue, packets, BURST);

	for (uint16_t i = 0; i < count; i++) {
		json_array_append_new(end->received, weir_frame_to_json(packets[i]));
		rte_pktmbuf_free(packets[i]);
	}
	return count > 0;
}

static uint64_t
now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

static size_t
received_of(const struct end *ends, unsigned int count)
{
	size_t received = 0;

	for (unsigned int i = 0; i < count; i++)
		received += json_array_size(ends[i].received);
	return received;
}

/* Until nothing has moved for that long, and for so many rounds of every loop, in which each area
 * was polled. */
static int
exchange(struct end *ends, unsigned int count, uint64_t quiet_ms, struct weir_error *error)
{
	uint64_t began_ms = now_ms(), moved_ms = began_ms;
	unsigned int rounds = 0;

	while (rounds < QUIET_ROUNDS || now_ms() - moved_ms < quiet_ms) {
		bool moved = false;

		if (now_ms() - began_ms > LONGEST_MS || received_of(ends, count) > RECEIVED_MAX)
			return weir_fail(
				error, "bad_state", "frames",
				"a chain that comes to rest within 30 s and 262,144 frames",
				"end the run that sends there, or look for a loop",
				"frames still arrive after %zu of them", received_of(ends, count));

		for (unsigned int i = 0; i < count; i++) {
			moved |= send_one(&ends[i]);
			moved |= receive_some(&ends[i]);
		}
		rounds++;
		if (moved) {
			moved_ms = now_ms();
			rounds = 0;
		} else {
			weir_loops_pass();
		}
	}
	return 0;
}

struct exchange_fields {
	const json_t *frames;
	uint32_t quiet_ms;
};

#define INTO(member) WEIR_INTO(struct exchange_fields, member)

static const struct weir_field exchange_fields[] = {
	{"frames", WEIR_FIELD_JSON, true, INTO(frames)},
	{"quiet_ms", WEIR_FIELD_COUNT, .max = 10000, INTO(quiet_ms)},
	{0},
};

static int
ends_from_json(const json_t *frames, struct end *ends, unsigned int *count,
	       struct weir_error *error)
{
	const char *name;
	json_t *list;

	if (json_object_size(frames) == 0 || json_object_size(frames) > PORTS_MAX)
		return weir_fail(error, "bad_argument", "frames", "1 to 16 ports with their frames",
				 NULL, "%zu ports", json_object_size(frames));
	json_object_foreach((json_t *)frames, name, list)
	{
		if (end_from_json(name, list, &ends[*count], error) < 0)
			return -1;
		(*count)++;
	}
	return 0;
}

static int
exchange_frames(const void *arguments, json_t **result, struct weir_error *error)
{
	const struct exchange_fields *fields = arguments;
	struct end ends[PORTS_MAX] = {0};
	unsigned int count = 0;
	json_t *received;

	if (ends_from_json(fields->frames, ends, &count, error) < 0)
		return -1;
	if (!weir_loops_running())
		return weir_fail(error, "bad_state", NULL, NULL, "send `start` first",
				 "nothing moves while the loops are stopped");
	received = json_object();
	for (unsigned int i = 0; i < count; i++) {
		ends[i].received = json_array();
		json_object_set_new(received, ends[i].port->name, ends[i].received);
	}
	if (exchange(ends, count, fields->quiet_ms, error) < 0) {
		json_decref(received);
		return -1;
	}
	*result = json_pack("{s:o}", "frames", received);
	return 0;
}

const struct weir_verb weir_verb_exchange = {
	"exchange", "Sends frames at free ports and answers what arrives at them.", exchange_frames,
	exchange_fields, sizeof(struct exchange_fields)};
