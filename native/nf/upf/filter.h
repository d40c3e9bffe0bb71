/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Service data flow filters: flow descriptions as TS 29.212, clause 5.4.2 has them, which are
 * IPFilterRules of RFC 6733, section 4.3.1. They say it of packets to the UE ("out"); of those from
 * it, both ends change places.
 */
#ifndef WEIR_NF_UPF_FILTER_H
#define WEIR_NF_UPF_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UPF_PORT_RANGES_MAX 4
#define UPF_ANY_PROTOCOL 256

struct upf_port_range {
	uint16_t first, last;
};

/* One end of a flow. Addresses in network byte order, ports as they are. */
struct upf_filter_end {
	uint32_t ip, mask;   /* mask 0: any */
	uint8_t range_count; /* 0: any port, or none */
	uint8_t zero[3];
	struct upf_port_range range[UPF_PORT_RANGES_MAX];
};

struct upf_filter {
	struct upf_filter_end network, ue;
	uint16_t protocol; /* or UPF_ANY_PROTOCOL */
	uint8_t tos, tos_mask;
};

/* What filters look at. */
struct upf_filtered {
	uint32_t network_ip, ue_ip; /* network byte order */
	uint16_t network_port, ue_port;
	bool has_ports; /* it is of a protocol with ports, and they are in it */
	uint8_t protocol, tos;
};

/* A filter that every packet fits. */
#define UPF_FILTER_OF_ALL ((struct upf_filter){.protocol = UPF_ANY_PROTOCOL})

/*
 * Reads "permit out PROTOCOL from END to END", each END an address with or without a length of its
 * prefix, "any" or (of the UE) "assigned", and ports or not. NULL, or what is wrong with it.
 * `text` need not end with 0.
 */
const char *upf_filter_read(const char *text, size_t bytes, struct upf_filter *filter);

/* Reads an IPv4 packet of that way, of `room` bytes, 20 at the least. */
struct upf_filtered upf_filtered_read(const uint8_t *ip, uint32_t room, bool from_ue);
bool upf_filter_fits(const struct upf_filter *filter, const struct upf_filtered *packet);

#endif
