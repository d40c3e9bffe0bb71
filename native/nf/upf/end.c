/* SPDX-License-Identifier: Apache-2.0 */
/* An end of N3's tunnels: what the descriptors of the user plane function and of the gNB share. */
#include <string.h>

#include "engine/report.h"
#include "engine/stage.h"
#include "upf.h"

static const char *const other_names[] = {"drop", "forward", NULL};
static const char *const n4_teids_names[] = {"random", "consecutive", NULL};

#define TEID_ROW(field, text)                                                                      \
	{                                                                                          \
		.name = #field, .type = WEIR_OPTION_INT, .default_text = "1", .min = 1,            \
		.max = UINT32_MAX, .help = text, .offset = offsetof(struct upf, field),            \
	}
#define MBR_ROW(option, direction, way)                                                            \
	{                                                                                          \
		.name = option, .type = WEIR_OPTION_INT, .unit = "bit/s", .default_text = "0",     \
		.max = UPF_MBR_MAX_BPS,                                                            \
		.help = "Of each session that says none of its own, in IP packets " way            \
			"; 0: as much as comes.",                                                  \
		.offset = offsetof(struct upf, mbr_bps[direction]),                                \
	}

const struct weir_option upf_options[UPF_OPTIONS] = {
	{
		.name = "n3_address",
		.type = WEIR_OPTION_IPV4,
		.default_text = "192.0.2.1",
		.help = "The UPF's address on N3: where tunnels from the gNB end.",
		.offset = offsetof(struct upf, n3_ip),
	},
	{
		.name = "gnb_address",
		.type = WEIR_OPTION_IPV4,
		.default_text = "192.0.2.2",
		.help = "The gNB's address on N3: where tunnels to it end.",
		.offset = offsetof(struct upf, gnb_ip),
	},
	{
		.name = "sessions",
		.type = WEIR_OPTION_INT,
		.default_text = "1000",
		.max = UPF_SESSIONS_MAX,
		.help = "PDU sessions, one a UE, that are there from the beginning; about 160 "
			"bytes of memory each.",
		.offset = offsetof(struct upf, session_count),
	},
	{
		.name = "ue_first_address",
		.type = WEIR_OPTION_IPV4,
		.default_text = "10.45.0.1",
		.help = "Of the first UE; the next ones follow.",
		.offset = offsetof(struct upf, ue_first_ip),
	},
	TEID_ROW(teid_first, "Of the first session, at the UPF; the next ones follow."),
	TEID_ROW(gnb_teid_first, "Of the first session, at the gNB; the next ones follow."),
	{
		.name = "pdu_session_container",
		.type = WEIR_OPTION_BOOL,
		.default_text = "true",
		.help = "What enters a tunnel carries one: eight bytes.",
		.offset = offsetof(struct upf, container),
	},
	{
		.name = "qfi",
		.type = WEIR_OPTION_INT,
		.default_text = "9",
		.max = WEIR_GTPU_QFI_MAX,
		.help = "The QoS flow that it names.",
		.offset = offsetof(struct upf, qfi),
	},
	MBR_ROW("mbr_uplink_bps", WEIR_OUTBOUND, "from the UE"),
	MBR_ROW("mbr_downlink_bps", WEIR_INBOUND, "to the UE"),
	{
		.name = "mbr_burst_bytes",
		.type = WEIR_OPTION_INT,
		.unit = "bytes",
		.default_text = "65536",
		.min = 1,
		.max = 1 << 30,
		.help = "What a session may send at once, above its maximum bit rate.",
		.offset = offsetof(struct upf, mbr_burst_bytes),
	},
	{
		.name = "n3_mtu_bytes",
		.type = WEIR_OPTION_INT,
		.unit = "bytes",
		.default_text = "9000",
		.min = 68,
		.max = UINT16_MAX,
		.help = "The longest IPv4 packet on N3, its tunnel's headers included.",
		.offset = offsetof(struct upf, n3_mtu_bytes),
	},
	{
		.name = "error_indications_pps",
		.type = WEIR_OPTION_INT,
		.unit = "packets/s",
		.default_text = "100",
		.max = 1000000,
		.help = "Error indications and notifications at most; 0: none.",
		.offset = offsetof(struct upf, error_indications_pps),
	},
	{
		.name = "other",
		.type = WEIR_OPTION_ENUM,
		.default_text = "drop",
		.values = other_names,
		.help = "IP packets on N3 that are not GTP-U to this end.",
		.offset = offsetof(struct upf, other),
	},
	/* Not of a gNB. */
	{
		.name = "sessions_max",
		.type = WEIR_OPTION_INT,
		.default_text = "0",
		.max = UPF_SESSIONS_MAX,
		.help = "Room for sessions, those of `sessions` among them; about 160 bytes of "
			"memory each. 0: as many as these, so that one can be added where one was "
			"removed.",
		.offset = offsetof(struct upf, sessions_max),
	},
	{
		.name = "rules_max",
		.type = WEIR_OPTION_INT,
		.default_text = "1024",
		.max = UPF_SESSIONS_MAX,
		.help = "Room for rules of sessions that have several in a direction, by service "
			"data flow or QoS flow, at each worker; 320 bytes of memory each.",
		.offset = offsetof(struct upf, rules_max),
	},
	{
		.name = "flow_list",
		.type = WEIR_OPTION_TEXT,
		.default_text = "",
		.help = "Service data flows of each session of `sessions`, both ways, the first "
			"that fits: entries \"permit out PROTOCOL from ADDRESS [PORTS] to ADDRESS "
			"[PORTS] qfi=N mbr_uplink_bps=N mbr_downlink_bps=N\", separated by commas "
			"or line ends, 7 at most; each and what is of none take two of rules_max a "
			"session.",
		.offset = offsetof(struct upf, flow_list),
	},
	{
		.name = "n4_address",
		.type = WEIR_OPTION_IPV4,
		.help = "Where it listens for PFCP of control plane functions, port 8805, once "
			"nf.listen opens it; its Node ID. Not given: nowhere.",
		.offset = offsetof(struct upf, n4_ip),
	},
	{
		.name = "n4_teids",
		.type = WEIR_OPTION_ENUM,
		.default_text = "random",
		.values = n4_teids_names,
		.help = "Of sessions by N4. consecutive: UE n from ue_first_address on has the "
			"n-th from teid_first on, as a gnb with the same options sends; for "
			"measuring: anybody can guess them.",
		.offset = offsetof(struct upf, n4_teids),
	},
};

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
	(void)worker; /* each has all sessions */
	(void)where;
	(void)error;
	((struct upf *)state)->workers = workers;
	return 0;
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

/* By the session: both directions meet. */
uint32_t
upf_steer(const void *state, const struct weir_headers *headers, const struct rte_mbuf *packet,
	  enum weir_direction direction)
{
	const struct upf *upf = state;
	const struct weir_tuple *tuple = &headers->tuple;
	const uint32_t teid_offset = headers->payload_offset + offsetof(struct rte_gtp_hdr, teid);
	uint32_t teid;

	if (direction != upf->out_of_way)
		return upf_steer_ue(upf, upf_user_ip(tuple->src_ip, tuple->dst_ip, direction));
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
	report->figure(report, "answers_lost", weir_counted(&upf->answers_lost));
	report->counter(report, &(struct weir_report_label){"direction", "uplink"}, 1,
			&sum[WEIR_OUTBOUND]);
	report->counter(report, &(struct weir_report_label){"direction", "downlink"}, 1,
			&sum[WEIR_INBOUND]);
}
