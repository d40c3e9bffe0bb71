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

#include "packet/ip_address.h"

#define UPF_PORT_RANGES_MAX 4
#define UPF_ANY_PROTOCOL 256

struct upf_port_range {
	uint16_t first, last;
};

/* Versions of IP: bits, of which something can have both. */
#define UPF_IPV4 1
#define UPF_IPV6 2
#define UPF_ANY_FAMILY (UPF_IPV4 | UPF_IPV6)

/* One end of a flow. Ports as they are. */
struct upf_filter_end {
	struct weir_ip_address ip;
	bool is_given;	     /* else any address fits, of either version */
	uint8_t bits;	     /* of its prefix; the others of `ip` are 0 */
	uint8_t range_count; /* 0: any port, or none */
	struct upf_port_range range[UPF_PORT_RANGES_MAX];
};

struct upf_filter {
	struct upf_filter_end network, ue;
	uint16_t protocol; /* or UPF_ANY_PROTOCOL */
	uint8_t tos, tos_mask;
	bool has_spi, has_flow_label;
	uint8_t zero[2];
	uint32_t spi, flow_label;
};

/* What filters look at. */
struct upf_filtered {
	struct weir_ip_address network_ip, ue_ip;
	uint16_t network_port, ue_port;
	bool has_ports; /* it is of a protocol with ports, and they are in it */
	bool has_spi;	/* likewise, of ESP or AH */
	uint8_t protocol, tos;
	uint32_t spi, flow_label; /* the label of IPv4: UINT32_MAX */
};

/* A filter that every packet fits. */
#define UPF_FILTER_OF_ALL ((struct upf_filter){.protocol = UPF_ANY_PROTOCOL})

/*
 * Reads "permit out PROTOCOL from END to END", each END an address with or without a length of its
 * prefix, "any" or (of the UE) "assigned", and ports or not. NULL, or what is wrong with it.
 * `text` need not end with 0.
 */
const char *upf_filter_read(const char *text, size_t bytes, struct upf_filter *filter);

/* Reads an IP packet of that way, of `room` bytes, 20 at the least, and of IPv6 40. */
struct upf_filtered upf_filtered_read(const uint8_t *ip, uint32_t room, bool from_ue);
bool upf_filter_fits(const struct upf_filter *filter, const struct upf_filtered *packet);

#endif
