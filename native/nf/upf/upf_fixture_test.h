/* SPDX-License-Identifier: Apache-2.0 */
/* A user plane function with packets from a gNB, for its tests. */
#ifndef WEIR_NF_UPF_FIXTURE_TEST_H
#define WEIR_NF_UPF_FIXTURE_TEST_H

#include <netinet/in.h>

#include "packet/gtpu.h"
#include "testing/packet.h"

extern const struct weir_nf weir_nf_upf;

#define N3 "192.0.2.1"
#define GNB "192.0.2.2"
#define UE "10.45.0.1" /* of TEID 1 */
#define SERVER "203.0.113.9"
#define IP_AT RTE_ETHER_HDR_LEN
#define GTPU_AT (IP_AT + 28)

extern void *upf;
extern uint64_t upf_now_s;

/* A new one in place of that of before. */
void upf_start(const char *const (*options)[2]);
int upf_stop(void **state);
struct weir_test_outcome upf_pass(enum weir_direction direction, struct rte_mbuf *packet);

/* What GTP-U has behind UDP, from the gNB. */
struct rte_mbuf *from_gnb(const void *gtpu, size_t bytes);
/* A packet of a user in the tunnel `teid`. */
struct rte_mbuf *in_tunnel(uint32_t teid, const char *source, uint16_t payload_bytes);

/* Why; fails the test if it went on. */
const char *dropped_for(struct weir_test_outcome outcome);

/* Four sessions from the beginning, and room that is no power of two. */
#define ROOM 300
#define STEP 512u /* what a TEID is above the first one, modulo this, is its place */
#define FIRST 1u
void upf_start_with_room(void);

/* Runs the command; NULL, or why it is refused. */
const char *upf_change(const char *command, const char *sessions);
uint64_t upf_figure(const char *name);
/* Packets; "uplink" or "downlink". */
uint64_t upf_passed(const char *direction);

/* "forwarded", or why a packet that is sent in that tunnel is dropped. */
const char *upf_up(uint32_t teid, const char *ue);

struct upf_seen {
	char gnb[INET_ADDRSTRLEN]; /* "": dropped */
	uint32_t teid;
	uint8_t qfi;
	const char *reason;
};

/* Where a packet for that UE goes. */
struct upf_seen upf_down(const char *ue);

#endif
