/* SPDX-License-Identifier: Apache-2.0 */
/* A tenant's meter in one direction, and how many bytes a packet counts. */
#ifndef WEIR_NF_SHAPER_METER_H
#define WEIR_NF_SHAPER_METER_H

#include <rte_meter.h>

#include "packet/action.h"
#include "tenants.h"

/* Which bytes rates and sizes are of. */
enum layer {
	LAYER_IP, /* the IP packet: what RFC 2697 and 2698 meter; of other frames, all behind
		     Ethernet */
	LAYER_L2, /* the frame with its FCS */
	LAYER_L1, /* with preamble and gap too: what a link carries */
};
extern const char *const layer_names[];

/* Where the IP header of a frame is, as it is now; without one, all behind the Ethernet header. */
struct ip_part {
	uint32_t bytes;
	uint8_t dscp;
};
struct ip_part ip_part_of(const struct rte_mbuf *packet);
uint32_t layer_bytes(const struct rte_mbuf *packet, enum layer layer);

enum meter_kind { METER_SRTCM, METER_TRTCM, METER_TRTCM_RFC4115 };

/* What all meters of a tenant have alike. */
struct meter_profile {
	enum meter_kind kind;
	union {
		struct rte_meter_srtcm_profile srtcm;
		struct rte_meter_trtcm_profile trtcm;
		struct rte_meter_trtcm_rfc4115_profile rfc4115;
	};
};

struct meter {
	struct weir_effect effect; /* first */
	const struct meter_profile *profile;
	const struct policer *policer;
	uint64_t last_tsc; /* of the last packet; 0: none yet */
	union {
		struct rte_meter_srtcm srtcm;
		struct rte_meter_trtcm trtcm;
		struct rte_meter_trtcm_rfc4115 rfc4115;
	};
	struct weir_counter colours[RTE_COLORS];
};

/* "srtcm cir_bps=… cbs_bytes=… ebs_bytes=…", "trtcm cir_bps=… pir_bps=… cbs_bytes=… pbs_bytes=…",
 * "trtcm-4115 cir_bps=… eir_bps=… cbs_bytes=… ebs_bytes=…". */
int meter_profile_read(const struct tenant_words *words, struct meter_profile *profile,
		       const char *where, struct weir_error *error);

/* Full buckets, now. */
void meter_start(struct meter *meter, const struct meter_profile *profile);

/* The colour of a packet that comes with colour `before`; GREEN where colours are not looked at. */
enum rte_color meter_check(struct meter *meter, uint64_t now_tsc, uint32_t bytes,
			   enum rte_color before);

#endif
