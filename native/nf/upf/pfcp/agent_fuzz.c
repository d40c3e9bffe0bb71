/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the N4 agent: a byte that says from whom, and how many seconds go by then, two
 * with the length of a datagram, that datagram, and so on. Whatever they say, the agent and the
 * function have the same sessions, and what is answered is a message.
 */
#include <stdlib.h>
#include <string.h>

#include "testing/fuzz.h"
#include "agent.h"
#include "state.h"

extern const struct weir_nf weir_nf_upf;

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static bool
change(void *of, struct upf_changes *changes)
{
	struct weir_error error;

	if (upf_changes_check(of, changes, "fuzz", &error) < 0)
		return false;
	upf_changes_apply(of, changes);
	return true;
}

static uint64_t now_ms;

static void
count(void *of, uint32_t slot, struct weir_counter sum[2])
{
	const struct upf *upf = of;

	for (unsigned int way = WEIR_OUTBOUND; way <= WEIR_INBOUND; way++)
		sum[way].bytes += upf->usages[slot].passed[way].bytes;
}

static bool
is_exhausted(void *of, uint32_t slot)
{
	return ((const struct upf *)of)->usages[slot].is_exhausted;
}

static bool
next_note(void *of, struct upf_note *note)
{
	return upf_buffer_next_note(of, note);
}

static uint64_t
tell_time(void *of)
{
	(void)of;
	return now_ms;
}

/* Every usage passes a packet now and then. */
static void
use(struct upf *upf, uint32_t bytes)
{
	for (uint32_t slot = 1; slot <= upf->rules_max; slot++)
		weir_count(&upf->usages[slot].passed[bytes & 1].bytes, bytes);
}

/* A packet for each session that has an IPv4 address; what waits and what leaves is accounted for.
 */
static void
send_down(struct upf *upf, struct weir_stage_ledger *ledger)
{
	struct weir_batch batch = {.direction = WEIR_INBOUND, .now_tsc = now_ms};
	uint64_t dropped = 0, left = 0;

	for (uint32_t place = 0; place < upf->capacity; place++) {
		uint8_t frame[60] = {
			[12] = 8, [14] = 0x45, [17] = 28, [22] = 64, [23] = IPPROTO_UDP};

		memcpy(frame + 30, &upf->sessions[place].ue_ip, 4);
		batch.packet[batch.count++] = weir_fuzz_packet(frame, sizeof(frame));
	}
	ledger->packets_in += batch.count;
	upf_process(upf, &batch, ledger);
	for (unsigned int polls = 0; polls < 2; polls++) {
		for (uint16_t i = 0; i < batch.count; i++)
			rte_pktmbuf_free(batch.packet[i]);
		left += batch.count;
		batch = (struct weir_batch){.direction = WEIR_INBOUND, .now_tsc = now_ms};
		upf_release(upf, &batch, ledger);
	}
	for (uint16_t i = 0; i < batch.count; i++)
		rte_pktmbuf_free(batch.packet[i]);
	ledger->packets_out += left + batch.count;
	for (unsigned int i = 0; i < UPF_DROP_REASONS; i++)
		dropped += ledger->drops[i];
	if (ledger->held != upf->buffer.packets ||
	    ledger->packets_in + ledger->originated != ledger->packets_out + dropped + ledger->held)
		abort();
}

static void
check_message(const struct pfcp_writer *message)
{
	const struct pfcp_span span = {.at = message->message, .bytes = message->bytes};
	struct pfcp_header header;

	if (!pfcp_header_read(span, &header) || header.version != PFCP_VERSION)
		abort();
}

static void
check(const struct pfcp_agent *agent)
{
	const struct upf *upf = agent->upf;
	uint32_t known = 0, rules = 0, metered = 0, usages = 0;

	for (uint32_t place = 0; place < upf->capacity; place++) {
		const struct pfcp_session *session = &agent->sessions[place];
		unsigned int of_usage;

		if ((session->up_seid != 0) != upf_place_is_taken(upf, place))
			abort();
		if (session->up_seid == 0)
			continue;
		known++;
		rules += upf_rules_of(upf, &upf->sessions[place]);
		pfcp_kept_urrs(session->kept, &of_usage);
		usages += of_usage;
		metered += of_usage > 0;
		if (session->is_metered != (of_usage > 0) ||
		    (of_usage > 0 && agent->reports.metered[session->metered_at] != place))
			abort();
		if (session->teid != upf->sessions[place].teid ||
		    session->ue.ip != upf->sessions[place].ue_ip ||
		    !upf_prefix_is(&session->ue.prefix, &upf->sessions[place].prefix) ||
		    upf_session_place_of_ue(upf, &session->ue) != place ||
		    agent->associations[session->association].ip == 0)
			abort();
	}
	if (rules != upf->rules_used || known != upf->live ||
	    known + agent->places.count != upf->capacity ||
	    metered != agent->reports.metered_count ||
	    usages + agent->slots.count != upf->rules_max)
		abort();
}

/* The last SEID that was given out is in the place of ones: inputs cannot know it. */
static void
take(struct pfcp_agent *agent, uint8_t from, const uint8_t *bytes, size_t size, uint64_t *seid)
{
	uint8_t *datagram = malloc(size > 0 ? size : 1);
	const uint64_t asked = UINT64_MAX;
	const struct pfcp_writer *response, *report;
	unsigned int under_way = 0;
	struct pfcp_peer to;

	if (datagram == NULL)
		abort();
	memcpy(datagram, bytes, size);
	if (size >= 12 && memcmp(datagram + 4, &asked, sizeof(asked)) == 0)
		memcpy(datagram + 4, seid, sizeof(*seid));
	response = pfcp_agent_take(agent, (struct pfcp_peer){.ip = 1u + from % 3, .port = from},
				   (struct pfcp_span){.at = datagram, .bytes = size});
	if (response != NULL)
		check_message(response);
	if (response != NULL && response->bytes > 43 &&
	    response->message[1] == PFCP_SESSION_ESTABLISHMENT_RESPONSE)
		memcpy(seid, response->message + 35, sizeof(*seid));
	free(datagram);
	now_ms += 1000u * from;
	while ((report = pfcp_agent_due(agent, &to)) != NULL)
		check_message(report);
	for (unsigned int i = 0; i < PFCP_REPORTS_MAX; i++)
		under_way += agent->reports.report[i].tries > 0;
	if (under_way != agent->reports.under_way)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const struct weir_option_value options[] = {
		{"sessions", "0"},
		{"sessions_max", "5"},
		{"rules_max", "40"},
		{"buffer_packets_max", "9"},
	};
	struct weir_error error;
	struct upf *upf =
		weir_nf_create(&weir_nf_upf, options, RTE_DIM(options), "options", &error);
	struct pfcp_agent *agent;
	struct weir_stage_ledger ledger = {0};
	uint64_t seid = 0;

	if (upf == NULL)
		abort();
	agent = pfcp_agent_create(
		upf, (struct pfcp_way){change, count, is_exhausted, next_note, tell_time, upf}, 1,
		1);
	if (agent == NULL)
		abort();
	while (size >= 3) {
		const size_t length = RTE_MIN((size_t)bytes[1] << 8 | bytes[2], size - 3);

		take(agent, bytes[0], bytes + 3, length, &seid);
		check(agent);
		use(upf, bytes[0]);
		send_down(upf, &ledger);
		bytes += 3 + length;
		size -= 3 + length;
	}
	pfcp_agent_free(agent);
	weir_nf_destroy(&weir_nf_upf, upf);
	return 0;
}
