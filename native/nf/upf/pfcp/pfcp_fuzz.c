/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target of PFCP: any bytes of a datagram. What is read lies within them, and what is refused
 * says why. */
#include <stdlib.h>
#include <string.h>

#include "request.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void
check_read(const struct pfcp_request *request, const uint8_t *bytes, size_t size)
{
	const struct pfcp_rules *rules = &request->rules;

	if (rules->pdr_count > PFCP_RULES_MAX || rules->far_count > PFCP_RULES_MAX ||
	    rules->qer_count > PFCP_RULES_MAX)
		abort();
	if (rules->filter_count > PFCP_FILTERS_MAX)
		abort();
	for (unsigned int i = 0; i < rules->filter_count; i++) {
		const struct upf_filter *filter = &rules->filter[i].filter;

		if (filter->protocol > UPF_ANY_PROTOCOL ||
		    filter->network.range_count > UPF_PORT_RANGES_MAX ||
		    filter->ue.range_count > UPF_PORT_RANGES_MAX ||
		    filter->network.bits > 8 * weir_ip_address_bytes(filter->network.ip.ipv6) ||
		    filter->ue.bits > 8 * weir_ip_address_bytes(filter->ue.ip.ipv6) ||
		    filter->flow_label >> 20 != 0 || (filter->tos & ~filter->tos_mask) != 0)
			abort();
	}
	for (unsigned int i = 0; i < rules->pdr_count; i++) {
		const struct upf_ue *ue = &rules->pdr[i].ue;
		const struct upf_prefix mask = upf_prefix_mask(ue->prefix_bits);
		const struct upf_prefix masked = upf_prefix_of((const void *)&ue->prefix, &mask);

		if (rules->pdr[i].qer_count > PFCP_QERS_OF_PDR_MAX || ue->prefix_bits > 128 ||
		    !upf_prefix_is(&masked, &ue->prefix))
			abort();
	}
	if (request->node_id.bytes > 0 &&
	    (request->node_id.at < bytes ||
	     request->node_id.at + request->node_id.bytes > bytes + size ||
	     request->node_id.bytes > PFCP_NODE_ID_BYTES_MAX))
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct pfcp_fault fault = {0};
	struct pfcp_request request;

	switch (pfcp_request_read((struct pfcp_span){.at = bytes, .bytes = size}, &request,
				  &fault)) {
	case PFCP_READ:
		check_read(&request, bytes, size);
		break;
	case PFCP_FAULTY:
		if (fault.cause < PFCP_REJECTED)
			abort();
		break;
	case PFCP_OTHER_VERSION:
		if (bytes[0] >> 5 == PFCP_VERSION)
			abort();
		break;
	case PFCP_IGNORED:
		break;
	}
	return 0;
}
