/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream that answers another one: its flow n goes to where flow n of that one is seen to come
 * from, and comes from where that was seen to go: which only who receives it knows when a function
 * between translates addresses (a NAT the source, a balancer the destination).
 *
 * A run that learns sends each flow of the answered stream once, in turn. The receiver notes the
 * addresses and ports that arrive; behind the run the answering stream's flows are made anew, with
 * their checksums, and then sent like all others. Where nothing was translated they stay as they
 * are.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "stream.h"

#define SOURCE_OFFSET 12 /* in an IPv4 header; the destination follows */

/* --- who answers whom --------------------------------------------------------------------------
 */

static struct weir_stream *
stream_of_id(uint16_t id)
{
	for (unsigned int i = 0; i < weir_streams_used; i++) {
		if (weir_streams[i]->config.id == id)
			return weir_streams[i];
	}
	return NULL;
}

/* Whether the number of a flow tells the addresses and ports of its packets, which are IPv4's. */
static bool
has_known_flows(const struct weir_stream_config *config)
{
	static const enum weir_packet_field tuple[] = {WEIR_PACKET_SRC_IP, WEIR_PACKET_DST_IP,
						       WEIR_PACKET_SRC_PORT, WEIR_PACKET_DST_PORT};

	for (unsigned int i = 0; i < RTE_DIM(tuple); i++) {
		if (config->fields[tuple[i]].count > 0)
			return false;
	}
	return config->template.ip_version == 4 && config->capture[0] == '\0';
}

static int
join(struct weir_stream *stream, struct weir_error *error)
{
	const struct weir_stream_config *config = &stream->config;
	struct weir_stream *answered = stream_of_id(config->answered_id);

	if (answered == NULL || answered == stream ||
	    answered->config.to_port_id != config->port_id)
		return weir_fail(error, "bad_argument", "answers",
				 "the id of a stream that arrives where this one is sent", NULL,
				 "stream %u does not arrive at the port of stream %u",
				 config->answered_id, config->id);
	if (!has_known_flows(config) || !has_known_flows(&answered->config) ||
	    config->template.tcp != answered->config.template.tcp ||
	    config->flow_count != answered->config.flow_count)
		return weir_fail(error, "bad_argument", "answers",
				 "two streams of IPv4, of one protocol and number of flows, "
				 "without captures and without fields of addresses and ports",
				 NULL, "stream %u cannot answer stream %u", config->id,
				 config->answered_id);
	if (answered->answers.seen == NULL)
		answered->answers.seen =
			calloc(config->flow_count, sizeof(*answered->answers.seen));
	if (answered->answers.seen == NULL)
		return weir_fail(error, "no_memory", "answers", NULL, NULL,
				 "no memory for what is seen of stream %u", config->answered_id);
	stream->answers.answered = answered;
	return 0;
}

int
weir_answers_join(unsigned int *at, struct weir_error *error)
{
	for (*at = 0; *at < weir_streams_used; (*at)++) {
		if (weir_streams[*at]->config.answers && join(weir_streams[*at], error) < 0)
			return -1;
	}
	return 0;
}

void
weir_answers_free(struct weir_answers *answers)
{
	free(answers->seen);
	memset(answers, 0, sizeof(*answers));
}

bool
weir_answers_any(void)
{
	for (unsigned int i = 0; i < weir_streams_used; i++) {
		if (weir_streams[i]->answers.answered != NULL)
			return true;
	}
	return false;
}

/* --- a run that learns -------------------------------------------------------------------------
 */

bool
weir_answers_ready(struct weir_stream *stream, bool learns)
{
	struct weir_answers *answers = &stream->answers;

	answers->learning = learns && answers->seen != NULL;
	answers->learned = (struct weir_learned){0};
	if (answers->seen == NULL)
		return !learns;
	weir_sender_in_turn(&stream->sender, learns);
	if (learns)
		memset(answers->seen, 0, stream->config.flow_count * sizeof(*answers->seen));
	return true;
}

void
weir_answers_note(struct weir_stream *stream, const uint8_t *head, const struct weir_payload *at,
		  uint64_t sequence)
{
	struct weir_seen_flow *seen;

	if (sequence >= stream->config.flow_count || head[at->network] >> 4 != 4 ||
	    at->protocol != (stream->config.template.tcp ? IPPROTO_TCP : IPPROTO_UDP))
		return;
	seen = &stream->answers.seen[sequence];
	memcpy(&seen->src_ip, head + at->network + SOURCE_OFFSET, sizeof(seen->src_ip));
	memcpy(&seen->dst_ip, head + at->network + SOURCE_OFFSET + 4, sizeof(seen->dst_ip));
	memcpy(&seen->src_port, head + at->transport, sizeof(seen->src_port));
	memcpy(&seen->dst_port, head + at->transport + 2, sizeof(seen->dst_port));
	seen->any = true;
}

/* Whether a flow arrived as it was sent. */
static bool
is_as_sent(const struct weir_seen_flow *seen, const struct weir_flow *sent)
{
	return seen->src_ip == sent->src_ip && seen->src_port == sent->src_port &&
	       seen->dst_ip == sent->dst_ip && seen->dst_port == sent->dst_port;
}

static struct weir_learned
learned_of(const struct weir_stream *stream)
{
	const struct weir_flow *sent = stream->sender.flows.flow;
	struct weir_learned learned = {.flows = stream->config.flow_count};

	for (uint32_t i = 0; i < learned.flows; i++) {
		const struct weir_seen_flow *seen = &stream->answers.seen[i];

		learned.arrived += seen->any;
		learned.translated += seen->any && !is_as_sent(seen, &sent[i]);
	}
	return learned;
}

/* From whom a flow was received, to whom it comes from. What did not arrive keeps what it had. */
static void
answer(struct weir_stream *stream)
{
	const struct weir_seen_flow *seen = stream->answers.answered->answers.seen;
	struct weir_flows *flows = &stream->sender.flows;

	for (uint32_t i = 0; i < flows->count; i++) {
		if (!seen[i].any)
			continue;
		flows->flow[i].src_ip = seen[i].dst_ip;
		flows->flow[i].dst_ip = seen[i].src_ip;
		flows->flow[i].src_port = seen[i].dst_port;
		flows->flow[i].dst_port = seen[i].src_port;
	}
	weir_flows_sum(&stream->config, flows);
}

void
weir_answers_take(void)
{
	for (unsigned int i = 0; i < weir_streams_used; i++) {
		if (weir_streams[i]->answers.learning)
			weir_streams[i]->answers.learned = learned_of(weir_streams[i]);
	}
	for (unsigned int i = 0; i < weir_streams_used; i++) {
		struct weir_answers *answers = &weir_streams[i]->answers;
		const struct weir_learned *learned =
			answers->answered != NULL ? &answers->answered->answers.learned : NULL;

		if (learned == NULL || learned->arrived == 0)
			continue;
		if (learned->translated > 0)
			answer(weir_streams[i]);
		else if (answers->translated)
			weir_flows_renew(&weir_streams[i]->config, &weir_streams[i]->sender.flows);
		answers->translated = learned->translated > 0;
	}
}

bool
weir_stream_learned(unsigned int index, struct weir_learned *learned)
{
	const struct weir_answers *answers = &weir_stream_at(index)->answers;

	*learned = answers->learned;
	return answers->learning;
}
