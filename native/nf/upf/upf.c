/* SPDX-License-Identifier: Apache-2.0 */
/*
 * upf: a user plane function of 5G (TS 23.501, section 6.2.3), between N3 and N6.
 *
 * Outbound is from the radio network (N3) to the data network (N6): what comes in a GTP-U tunnel
 * (TS 29.281) of a session leaves it, if its source is the address of that session's UE. Inbound:
 * what is for the address of a UE enters the session's tunnel towards its gNB, with a PDU session
 * container (TS 38.415) that names the QoS flow. Each session has a maximum bit rate each way.
 * Echo requests are answered; a TEID that nobody has, and extension headers that must be
 * comprehended and are not, are told to the sender. ARP and what else is not IP passes; Ethernet
 * addresses and TTLs stay: a router before or behind it has those.
 *
 * Sessions are as many as the options say, with consecutive addresses and TEIDs; others are added,
 * modified (handed over to another gNB, held back) and removed by commands, while packets flow.
 * So do control plane functions by PFCP (N4, TS 29.244), where n4_address says.
 * By PFCP a session can have several rules in a direction, by service data flow and QoS flow.
 * UEs have IPv4 addresses, IPv6 prefixes, or both; N3 itself is IPv4.
 * What is for a UE that cannot be reached may wait, and its control plane function is told.
 * Limits: no IPv6 on N3; no application rules; packets of tunnels that were
 * fragmented on their way are dropped; it moves packets, so it does not run in a fast path, nor
 * with separated data.
 *
 * Example: {"nf": "upf", "options": {"n3_address": "192.0.2.1", "sessions": 100000}}
 */
#include "upf.h"

static int
init(void *state, const char *where, struct weir_error *error)
{
	struct upf *upf = state;

	upf->own_ip = upf->n3_ip;
	upf->peer_ip = upf->gnb_ip;
	upf->own_teid_first = upf->teid_first;
	upf->peer_teid_first = upf->gnb_teid_first;
	upf->out_of_way = WEIR_OUTBOUND;
	upf->container_type = WEIR_GTPU_DOWNLINK;
	return upf_init(upf, where, error);
}

static void
report(const void *state, struct weir_report *report)
{
	upf_report(state, report);
	upf_n4_report(state, report);
}

extern const struct weir_nf weir_nf_upf;
const struct weir_nf weir_nf_upf = {
	.name = "upf",
	.summary = "A 5G user plane function: GTP-U tunnels on N3, plain IP on N6.",
	.init = init,
	.option_count = UPF_OPTIONS,
	.commands = upf_commands,
	.command_count = UPF_COMMANDS,
	.controller = &upf_n4,
	.report = report,
	UPF_END,
};
