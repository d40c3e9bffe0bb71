/* SPDX-License-Identifier: Apache-2.0 */
/* An end of N3's tunnels: what the descriptors of the user plane function and of the gNB share. */
#include <string.h>

#include "engine/report.h"
#include "engine/stage.h"
#include "upf.h"

const struct weir_drop_reason upf_drop_reasons[UPF_DROP_REASONS] = {
	[UPF_DROP_MALFORMED] = {"malformed",
				"Lengths or versions contradict each other, outside or "
				"inside the tunnel."},
	[UPF_DROP_OTHER] = {"not_gtpu", "On N3, and not GTP-U to this end; other is drop."},
	[UPF_DROP_SIGNAL] = {"signal", "A message about the tunnel or its path, which ends here."},
	[UPF_DROP_UNKNOWN_TEID] = {"unknown_teid", "No session has that TEID."},
	[UPF_DROP_UNKNOWN_UE] = {"unknown_ue", "No session has that address."},
	[UPF_DROP_SPOOFED] = {"spoofed", "The user's address is not that of the session."},
	[UPF_DROP_EXTENSION] = {"extension", "An extension header must be comprehended, and is "
					     "not."},
	[UPF_DROP_OUTER_FRAGMENT] = {"outer_fragment", "The packet was fragmented in its tunnel."},
	[UPF_DROP_ABOVE_MBR] = {"above_mbr", "It is above the session's maximum bit rate."},
	[UPF_DROP_TOO_LONG] = {"too_long", "In its tunnel it is longer than n3_mtu_bytes, or than "
					   "its buffer has room for."},
	[UPF_DROP_BY_ACTION] = {"forwarding_action", "The session's action, that way, is to drop."},
	[UPF_DROP_GATE] = {"gate_closed", "The session's gate, that way, is closed."},
	[UPF_DROP_NO_RULE] = {"no_rule", "None of the session's rules, that way, is for it."},
	[UPF_DROP_BUFFER_FULL] = {"buffer_full", "Its UE cannot be reached, and more wait already "
						 "than buffer_packets, its BAR or "
						 "buffer_packets_max allow."},
	[UPF_DROP_KEPT_TOO_LONG] = {"waited_too_long", "It waited for buffer_time_s, and its UE "
						       "was not reached."},
	[UPF_DROP_KEPT_IN_VAIN] = {"waited_in_vain", "It waited, and its session or rule ended, "
						     "or was told to drop what waits."},
	[UPF_DROP_QUOTA] = {"quota_exhausted", "A quota of its rule's usage is used up."},
};

void
upf_fini(void *state)
{
	struct upf *upf = state;

	upf_answers_free(&upf->answers);
	upf_sessions_fini(upf);
}

int
upf_init(struct upf *upf, const char *where, struct weir_error *error)
{
	const struct weir_gtpu_end end = {
		.ip = upf->own_ip,
		.container = upf->container,
		.container_type = upf->container_type,
	};

	upf->workers = 1;
	upf->outer = weir_gtpu_prepare(&end);
	if (upf_sessions_init(upf, where, error) == 0)
		return 0;
	upf_fini(upf);
	return -1;
}

int
upf_share(void *state, unsigned int worker, unsigned int workers, const char *where,
	  struct weir_error *error)
{
	(void)where;
	(void)error;
	/* Each has all sessions. */
	((struct upf *)state)->workers = workers;
	((struct upf *)state)->worker = worker;
	return 0;
}

/* Of the way into tunnels: both what has waited and what is said here. */
void
upf_release(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	struct upf *upf = state;

	if (batch->direction == upf->out_of_way)
		return;
	batch->released = WEIR_RELEASED_BEHIND;
	upf_buffer_release(upf, batch, ledger);
	upf_answers_release(&upf->answers, batch, ledger);
}

void
upf_process(void *state, struct weir_batch *batch, struct weir_stage_ledger *ledger)
{
	struct upf *upf = state;

	weir_batch_parse(batch);
	if (batch->direction == upf->out_of_way)
		upf_out_of_tunnel(upf, batch, ledger);
	else
		upf_into_tunnel(upf, batch, ledger);
}

static uint32_t
steer_ipv6(const struct upf *upf, const struct rte_mbuf *packet, const struct weir_headers *headers,
	   enum weir_direction direction)
{
	const struct rte_ipv6_hdr *ip =
		rte_pktmbuf_mtod_offset(packet, const struct rte_ipv6_hdr *, headers->l3_offset);
	const struct upf_prefix prefix =
		upf_prefix_of(upf_user_ipv6(ip, direction), &upf->prefix_mask);

	return upf_steer_prefix(upf, &prefix);
}

/* By the session: both directions meet. */
uint32_t
upf_steer(const void *state, const struct weir_headers *headers, const struct rte_mbuf *packet,
	  enum weir_direction direction)
{
	const struct upf *upf = state;
	const struct weir_tuple *tuple = &headers->tuple;
	const uint32_t teid_offset = headers->payload_offset + offsetof(struct rte_gtp_hdr, teid);
	uint32_t teid;

	if (headers->network == WEIR_NETWORK_IPV6)
		return packet == NULL || direction == upf->out_of_way
			       ? 0
			       : steer_ipv6(upf, packet, headers, direction);
	if (direction != upf->out_of_way)
		return upf_steer_ip(upf, upf_user_ip(tuple->src_ip, tuple->dst_ip, direction));
	if (packet == NULL || headers->payload_offset == 0 ||
	    teid_offset + sizeof(teid) > rte_pktmbuf_data_len(packet))
		return 0;
	memcpy(&teid, rte_pktmbuf_mtod_offset(packet, const uint8_t *, teid_offset), sizeof(teid));
	return upf_steer_teid(upf, rte_be_to_cpu_32(teid));
}

void
upf_report(const void *state, struct weir_report *report)
{
	const struct upf *upf = state;
	struct weir_counter sum[2] = {upf->ended[0], upf->ended[1]}; /* by direction */

	for (uint64_t i = 0; i < upf->capacity; i++) {
		const struct upf_session *session = &upf->sessions[i];

		for (unsigned int way = WEIR_OUTBOUND; way <= WEIR_INBOUND; way++) {
			const struct upf_flow *flow =
				way == upf->out_of_way ? &session->out_of : &session->into;

			sum[way].packets += weir_counted(&flow->passed.packets);
			sum[way].bytes += weir_counted(&flow->passed.bytes);
			for (uint32_t at = session->rules[way == upf->out_of_way]; at != 0;
			     at = upf->rules[at].next) {
				const struct weir_counter *passed = &upf->rules[at].flow.passed;

				sum[way].packets += weir_counted(&passed->packets);
				sum[way].bytes += weir_counted(&passed->bytes);
			}
		}
	}
	report->figure(report, "sessions", upf->live);
	report->figure(report, "sessions_max", upf->capacity);
	report->figure(report, "sessions_added", upf->changed.added);
	report->figure(report, "sessions_modified", upf->changed.modified);
	report->figure(report, "sessions_removed", upf->changed.removed);
	report->figure(report, "rules", upf->rules_used);
	report->figure(report, "rules_max", upf->rules_max);
	report->figure(report, "packets_waiting", weir_counted(&upf->buffer.packets));
	report->figure(report, "end_markers", weir_counted(&upf->end_markers));
	report->figure(report, "answers_lost", weir_counted(&upf->answers_lost));
	report->counter(report, &(struct weir_report_label){"direction", "uplink"}, 1,
			&sum[WEIR_OUTBOUND]);
	report->counter(report, &(struct weir_report_label){"direction", "downlink"}, 1,
			&sum[WEIR_INBOUND]);
}
