/* SPDX-License-Identifier: Apache-2.0 */
/* The streams that are configured, and which area sends and receives them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/loop.h"
#include "stream.h"

static struct weir_stream *by_id[WEIR_STREAMS_MAX];

void
weir_streams_clear(void)
{
	weir_run_forget();
	for (unsigned int i = 0; i < weir_generator_count(); i++)
		weir_generator_take(weir_generator_at(i), NULL, 0);
	for (unsigned int i = 0; i < weir_receiver_count(); i++)
		weir_receiver_take(weir_receiver_at(i), NULL);
	while (weir_streams_used > 0) {
		weir_sender_free(&weir_streams[--weir_streams_used]->sender);
		weir_answers_free(&weir_streams[weir_streams_used]->answers);
		free(weir_streams[weir_streams_used]);
	}
	memset(by_id, 0, sizeof(by_id));
}

static int
add_stream(const struct weir_stream_config *config, struct weir_error *error)
{
	struct weir_stream *stream = aligned_alloc(64, (sizeof(*stream) + 63) / 64 * 64);
	struct weir_area *generator = weir_generator_of(config->port_id);
	bool copied = generator != NULL && weir_generator_copies(generator);

	if (stream == NULL)
		return weir_fail(error, "no_memory", NULL, NULL, NULL, "no memory for a stream");
	stream->config = *config;
	weir_arrivals_clear(&stream->arrivals);
	stream->answers = (struct weir_answers){0};
	if (weir_sender_prepare(&stream->sender, &stream->config, copied, error) < 0) {
		free(stream);
		return -1;
	}
	weir_streams[weir_streams_used++] = stream;
	by_id[config->id] = stream;
	return 0;
}

/* Gives all streams of one port to its generator. */
static int
hand_out(uint16_t port_id, unsigned int index, struct weir_error *error)
{
	struct weir_area *generator = weir_generator_of(port_id);
	struct weir_sender *taken[WEIR_STREAMS_MAX];
	unsigned int count = 0;

	if (generator == NULL)
		return weir_fail(error, "bad_argument", "port", "a port that has a generator area",
				 NULL, "no generator sends on the port of stream %u",
				 weir_streams[index]->config.id);
	for (unsigned int i = 0; i < weir_streams_used; i++) {
		if (weir_streams[i]->config.port_id == port_id)
			taken[count++] = &weir_streams[i]->sender;
	}
	weir_generator_take(generator, taken, count);
	return 0;
}

static int
take_in(struct weir_stream *stream, struct weir_error *error)
{
	const struct weir_stream_config *config = &stream->config;
	struct weir_area *receiver;

	if (config->to_port_id == WEIR_NOWHERE)
		return 0;
	receiver = weir_receiver_of(config->to_port_id);
	if (receiver == NULL)
		return weir_fail(error, "bad_argument", "to", "a port that has a receiver area",
				 "leave out `to` if nobody shall count what arrives",
				 "no receiver is at the port where stream %u goes", config->id);
	weir_receiver_take(receiver, by_id);
	if (!weir_stream_is_unstamped(stream))
		return 0;
	if (weir_receiver_has_unstamped(receiver))
		return weir_fail(error, "bad_argument", "to",
				 "a port for each capture without stamps", "stamp them",
				 "two captures without stamps go to one port");
	weir_receiver_take_unstamped(receiver, stream);
	return 0;
}

/* "flows.count" of stream 2 is "streams[2].flows.count" in the request. */
static int
failed_at(unsigned int index, struct weir_error *error)
{
	char field[sizeof(error->where)];

	memcpy(field, error->where, sizeof(field));
	snprintf(error->where, sizeof(error->where), "streams[%u]%s%s", index,
		 field[0] != '\0' ? "." : "", field);
	weir_streams_clear();
	return -1;
}

static int
replace(const struct weir_stream_config *configs, unsigned int count, struct weir_error *error)
{
	unsigned int at;

	weir_streams_clear();
	for (unsigned int i = 0; i < count; i++) {
		if (add_stream(&configs[i], error) < 0)
			return failed_at(i, error);
	}
	for (unsigned int i = 0; i < count; i++) {
		if (hand_out(configs[i].port_id, i, error) < 0 ||
		    take_in(weir_streams[i], error) < 0)
			return failed_at(i, error);
	}
	return weir_answers_join(&at, error) < 0 ? failed_at(at, error) : 0;
}

int
weir_streams_configure(const struct weir_stream_config *configs, unsigned int count,
		       struct weir_error *error)
{
	bool was_running = weir_loops_running();
	int status;

	if (weir_run_poll() == WEIR_RUN_RUNNING)
		return weir_fail(error, "bad_state", "streams", NULL,
				 "wait for its end with traffic.result", "a run goes on");
	weir_loops_stop();
	status = replace(configs, count, error);
	if (was_running)
		weir_loops_resume();
	return status;
}
