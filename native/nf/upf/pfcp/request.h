/* SPDX-License-Identifier: Apache-2.0 */
/* Requests of a control plane function: TS 29.244, clauses 7.4 and 7.5. */
#ifndef WEIR_NF_UPF_PFCP_REQUEST_H
#define WEIR_NF_UPF_PFCP_REQUEST_H

#include "rules.h"

/* Clause 8.2.38: its type and what follows, 256 bytes at most. */
#define PFCP_NODE_ID_BYTES_MAX 256

struct pfcp_request {
	enum pfcp_message message;
	uint64_t seid; /* of the header */
	uint32_t sequence;
	/* Points into the message. */
	struct pfcp_span node_id;
	uint32_t recovery_time_s; /* since 1900 (RFC 5905, NTP) */
	uint64_t cp_seid;
	uint32_t cp_ip; /* network byte order */
	struct pfcp_rules rules;
	bool drops_buffered; /* a modification: what waits, before anything else */
	/* Usage reporting rules that a modification queries. */
	bool queries_all;
	uint8_t query_count;
	uint32_t queried[PFCP_URRS_MAX];
};

enum pfcp_reading {
	PFCP_READ,
	PFCP_FAULTY,	    /* `fault` says what the response is to say */
	PFCP_IGNORED,	    /* no request that is known here, or none at all: no response */
	PFCP_OTHER_VERSION, /* `sequence` is there: clause 7.6.2 */
};

enum pfcp_reading pfcp_request_read(struct pfcp_span message, struct pfcp_request *request,
				    struct pfcp_fault *fault);

#endif
