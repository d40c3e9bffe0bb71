/* SPDX-License-Identifier: Apache-2.0 */
/* Options of an end of N3's tunnels: of the gNB the first ones, of the user plane function all. */
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
		.help = "PDU sessions, one a UE, that are there from the beginning; about 190 "
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
	{
		.name = "ue_first_prefix",
		.type = WEIR_OPTION_PREFIX6,
		.help = "Of the first UE, beside its IPv4 address, usually /64; the next ones of "
			"that length follow. Not given: none of `sessions` has one, and others "
			"have a /64.",
		.offset = offsetof(struct upf, ue_first_prefix),
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
		.help = "Room for sessions, those of `sessions` among them; about 190 bytes of "
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
			"data flow or QoS flow, at each worker; 512 bytes of memory each, with "
			"what it may measure.",
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
		.name = "buffer_packets",
		.type = WEIR_OPTION_INT,
		.unit = "packets",
		.default_text = "64",
		.max = UINT16_MAX,
		.help = "To a UE that cannot be reached: how many wait of a session, or of a rule "
			"of it by flow, unless its BAR says.",
		.offset = offsetof(struct upf, buffer_packets),
	},
	{
		.name = "buffer_packets_max",
		.type = WEIR_OPTION_INT,
		.unit = "packets",
		.default_text = "1024",
		.max = 1 << 20,
		.help = "Likewise, of all sessions together, at each worker; each keeps its buffer "
			"of the data plane's. 0: none wait.",
		.offset = offsetof(struct upf, buffer_packets_max),
	},
	{
		.name = "buffer_time_s",
		.type = WEIR_OPTION_INT,
		.unit = "s",
		.default_text = "30",
		.min = 1,
		.max = 86400,
		.help = "Likewise, for how long at most.",
		.offset = offsetof(struct upf, buffer_time_s),
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
