/* SPDX-License-Identifier: Apache-2.0 */
/* The sessions, and the table that finds them by the address of the UE. */
#include <string.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "upf.h"

/* Numbers of the options begin there, and so do those of sessions. */
static uint32_t
ue_ip_of(const struct upf *upf, uint32_t number)
{
	return rte_cpu_to_be_32(rte_be_to_cpu_32(upf->ue_first_ip) + number);
}

uint32_t
upf_session_number_of_ue(const struct upf *upf, uint32_t ue_ip)
{
	return rte_be_to_cpu_32(ue_ip) - rte_be_to_cpu_32(upf->ue_first_ip);
}

uint32_t
upf_session_number_of_teid(const struct upf *upf, uint32_t teid)
{
	return teid - (uint32_t)upf->own_teid_first;
}

static void
mbr_init(struct upf_mbr *mbr, uint64_t burst_bytes)
{
	if (mbr->bps == 0)
		return;
	mbr->cycles_per_byte = 8.0 * (double)rte_get_tsc_hz() / (double)mbr->bps;
	mbr->burst_cycles = (uint64_t)((double)burst_bytes * mbr->cycles_per_byte);
}

static int
check_ranges(const struct upf *upf, const char *where, struct weir_error *error)
{
	const uint64_t last = upf->session_count - 1;

	if (rte_be_to_cpu_32(upf->ue_first_ip) + last > UINT32_MAX)
		return weir_fail(error, "bad_argument", where, NULL, "begin lower, or have fewer",
				 "%lu sessions from ue_first_address on are past 255.255.255.255",
				 upf->session_count);
	if (upf->teid_first + last > UINT32_MAX || upf->gnb_teid_first + last > UINT32_MAX)
		return weir_fail(error, "bad_argument", where, NULL, "begin lower, or have fewer",
				 "%lu sessions need TEIDs past 4294967295", upf->session_count);
	return 0;
}

static bool
make_sessions(struct upf *upf)
{
	const uint32_t count = (uint32_t)upf->session_count;

	upf->sessions =
		rte_zmalloc("sessions", count * sizeof(*upf->sessions), RTE_CACHE_LINE_SIZE);
	if (upf->sessions == NULL)
		return false;
	upf->by_ue = weir_flow_table_create(count, &upf->sessions->ue, sizeof(*upf->sessions));
	if (upf->by_ue == NULL)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		struct upf_session *session = &upf->sessions[i];

		session->ue_ip = ue_ip_of(upf, i);
		session->ue.ip = session->ue_ip;
		session->peer_teid = rte_cpu_to_be_32((uint32_t)upf->peer_teid_first + i);
		if (!weir_flow_table_put(upf->by_ue, i))
			return false;
	}
	return true;
}

int
upf_sessions_init(struct upf *upf, const char *where, struct weir_error *error)
{
	if (check_ranges(upf, where, error) < 0)
		return -1;
	mbr_init(&upf->mbr[WEIR_OUTBOUND], upf->mbr_burst_bytes);
	mbr_init(&upf->mbr[WEIR_INBOUND], upf->mbr_burst_bytes);
	if (make_sessions(upf))
		return 0;
	return weir_fail(error, "no_memory", where, NULL,
			 "give weir-dp more --memory-mb, or ask for fewer sessions",
			 "no memory for %lu sessions", upf->session_count);
}

void
upf_sessions_fini(struct upf *upf)
{
	weir_flow_table_free(upf->by_ue);
	rte_free(upf->sessions);
}
