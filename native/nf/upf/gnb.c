/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gnb: the other end of N3, in front of a upf: the user plane of a gNB (TS 38.300, section 4.1), so
 * that users' packets can be sent to a upf in its tunnels and plain to everybody else.
 *
 * Outbound: what a UE sends enters the tunnel of its session towards the UPF. Inbound: what comes
 * from the UPF in a session's tunnel leaves it, if it is for the address of that session's UE. With
 * the same options as the upf it has the same sessions, and no others. All else is as in upf.
 *
 * Limits: those of upf; no radio, no N2.
 * Example: {"nf": "gnb", "options": {"n3_address": "192.0.2.1", "sessions": 100000}}
 */
#include "upf.h"

static int
init(void *state, const char *where, struct weir_error *error)
{
	struct upf *upf = state;

	upf->own_ip = upf->gnb_ip;
	upf->peer_ip = upf->n3_ip;
	upf->own_teid_first = upf->gnb_teid_first;
	upf->peer_teid_first = upf->teid_first;
	upf->out_of_way = WEIR_INBOUND;
	upf->container_type = WEIR_GTPU_UPLINK;
	return upf_init(upf, where, error);
}

extern const struct weir_nf weir_nf_gnb;
const struct weir_nf weir_nf_gnb = {
	.name = "gnb",
	.summary = "The gNB in front of a upf: UEs' packets, in GTP-U tunnels on N3.",
	.init = init,
	.option_count = UPF_OPTIONS_OF_GNB, /* nothing adds sessions */
	.report = upf_report,
	UPF_END,
};
