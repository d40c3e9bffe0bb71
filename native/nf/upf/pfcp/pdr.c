/* SPDX-License-Identifier: Apache-2.0 */
/* Packet detection rules: TS 29.244, tables 7.5.2.2-1, 7.5.4.2-1 and 7.5.4.6-1. */
#include "rules.h"

#include <string.h>

/* What reading of packet detection information fills. */
struct pdi {
	struct pfcp_pdr *pdr;
	struct pfcp_rules *rules;
};

static bool
read_pdr_id(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	(void)fault;
	((struct pfcp_pdr *)group)->id = (uint16_t)pfcp_number(value.at, 2);
	return true;
}

static bool
read_source_interface(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	(void)fault;
	((struct pdi *)group)->pdr->source_interface = value.at[0] & 0x0f;
	return true;
}

/* Clause 8.2.3. */
static bool
read_f_teid(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	enum { V4 = 1, V6 = 2, CHOOSE = 4, CHOOSE_ID = 8 };
	struct pfcp_f_teid *f_teid = &((struct pdi *)group)->pdr->f_teid;
	const uint8_t flags = value.at[0];

	f_teid->given = true;
	f_teid->chooses = (flags & CHOOSE) != 0;
	f_teid->has_choose_id = f_teid->chooses && (flags & CHOOSE_ID) != 0;
	if ((flags & V4) == 0)
		return (flags & V6) != 0
			       ? pfcp_refuses(fault, PFCP_IE_F_TEID)
			       : pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, PFCP_IE_F_TEID);
	if (f_teid->chooses) {
		if (!f_teid->has_choose_id)
			return true;
		if (value.bytes < 2)
			return pfcp_fails(fault, PFCP_INVALID_LENGTH, PFCP_IE_F_TEID);
		f_teid->choose_id = value.at[1];
		return true;
	}
	if (value.bytes < 9)
		return pfcp_fails(fault, PFCP_INVALID_LENGTH, PFCP_IE_F_TEID);
	f_teid->teid = (uint32_t)pfcp_number(value.at + 1, 4);
	memcpy(&f_teid->ip, value.at + 5, sizeof(f_teid->ip));
	return true;
}

/* The next `bytes` bytes of an element; NULL: it ends before them. */
static const uint8_t *
take(struct pfcp_span *value, size_t bytes)
{
	const uint8_t *at = value->at;

	if (value->bytes < bytes)
		return NULL;
	value->at += bytes;
	value->bytes -= bytes;
	return at;
}

/* What an address has behind the prefix is not compared. */
static bool
read_prefix(const uint8_t *address, unsigned int bits, struct upf_ue *ue, struct pfcp_fault *fault)
{
	struct upf_prefix mask;

	if (bits == 0 || bits > 128)
		return pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, PFCP_IE_UE_IP_ADDRESS);
	mask = upf_prefix_mask(bits);
	ue->prefix = upf_prefix_of(address, &mask);
	ue->prefix_bits = (uint8_t)bits;
	return (ue->prefix.words[0] | ue->prefix.words[1]) != 0 ||
	       pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, PFCP_IE_UE_IP_ADDRESS);
}

/* Clause 8.2.62. */
static bool
read_ue(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	enum { V6 = 1, V4 = 2, DESTINATION = 4, DELEGATED = 8, CHOOSES = 0x30, LENGTH = 0x40 };
	struct pfcp_pdr *pdr = ((struct pdi *)group)->pdr;
	const uint8_t flags = take(&value, 1)[0];
	const uint8_t *ip, *ipv6, *length;

	if ((flags & (DELEGATED | CHOOSES)) != 0)
		return pfcp_refuses(fault, PFCP_IE_UE_IP_ADDRESS);
	if ((flags & (V4 | V6)) == 0 || ((flags & LENGTH) != 0 && (flags & V6) == 0))
		return pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, PFCP_IE_UE_IP_ADDRESS);
	ip = take(&value, (flags & V4) != 0 ? 4 : 0);
	ipv6 = take(&value, (flags & V6) != 0 ? 16 : 0);
	length = take(&value, (flags & LENGTH) != 0 ? 1 : 0);
	if (ip == NULL || ipv6 == NULL || length == NULL)
		return pfcp_fails(fault, PFCP_INVALID_LENGTH, PFCP_IE_UE_IP_ADDRESS);
	pdr->has_ue = true;
	pdr->ue_is_destination = (flags & DESTINATION) != 0;
	if ((flags & V4) != 0)
		memcpy(&pdr->ue.ip, ip, sizeof(pdr->ue.ip));
	return (flags & V6) == 0 ||
	       read_prefix(ipv6, (flags & LENGTH) != 0 ? length[0] : UPF_PREFIX_BITS, &pdr->ue,
			   fault);
}

static bool
read_precedence(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_pdr *pdr = group;

	(void)fault;
	pdr->has_precedence = true;
	pdr->precedence = (uint32_t)pfcp_number(value.at, 4);
	return true;
}

static bool
read_pdi_qfi(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_pdr *pdr = ((struct pdi *)group)->pdr;

	(void)fault;
	pdr->has_qfi = true;
	pdr->qfi = value.at[0] & WEIR_GTPU_QFI_MAX;
	return true;
}

/* Clause 8.2.5. */
static bool
read_sdf_filter(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	enum { DESCRIPTION = 1, TOS = 2, SPI = 4, FLOW_LABEL = 8, ID = 16 };
	struct pfcp_rules *rules = ((struct pdi *)group)->rules;
	struct pfcp_sdf *sdf = &rules->filter[rules->filter_count];
	const uint8_t *at = take(&value, 2);
	const uint8_t flags = at[0];

	if (rules->filter_count == PFCP_FILTERS_MAX)
		return pfcp_fails(fault, PFCP_NO_RESOURCES, PFCP_IE_SDF_FILTER);
	*sdf = (struct pfcp_sdf){.pdr_id = ((struct pdi *)group)->pdr->id,
				 .is_described =
					 (flags & (DESCRIPTION | TOS | SPI | FLOW_LABEL)) != 0,
				 .has_id = (flags & ID) != 0,
				 .filter = UPF_FILTER_OF_ALL};
	if ((flags & DESCRIPTION) != 0) {
		const uint8_t *length = take(&value, 2);
		const uint8_t *text =
			length != NULL ? take(&value, (size_t)pfcp_number(length, 2)) : NULL;

		if (text == NULL)
			return pfcp_fails(fault, PFCP_INVALID_LENGTH, PFCP_IE_SDF_FILTER);
		if (upf_filter_read((const char *)text, (size_t)pfcp_number(length, 2),
				    &sdf->filter) != NULL)
			return pfcp_refuses(fault, PFCP_IE_SDF_FILTER);
	}
	if ((flags & TOS) != 0) {
		at = take(&value, 2);
		if (at == NULL)
			return pfcp_fails(fault, PFCP_INVALID_LENGTH, PFCP_IE_SDF_FILTER);
		sdf->filter.tos = at[0] & at[1];
		sdf->filter.tos_mask = at[1];
	}
	if ((flags & SPI) != 0) {
		at = take(&value, 4);
		if (at == NULL)
			return pfcp_fails(fault, PFCP_INVALID_LENGTH, PFCP_IE_SDF_FILTER);
		sdf->filter.has_spi = true;
		sdf->filter.spi = (uint32_t)pfcp_number(at, 4);
	}
	if ((flags & FLOW_LABEL) != 0) {
		at = take(&value, 3);
		if (at == NULL)
			return pfcp_fails(fault, PFCP_INVALID_LENGTH, PFCP_IE_SDF_FILTER);
		sdf->filter.has_flow_label = true;
		sdf->filter.flow_label = (uint32_t)pfcp_number(at, 3) & 0xfffff;
	}
	if (sdf->has_id) {
		at = take(&value, 4);
		if (at == NULL)
			return pfcp_fails(fault, PFCP_INVALID_LENGTH, PFCP_IE_SDF_FILTER);
		sdf->id = (uint32_t)pfcp_number(at, 4);
	}
	if (!sdf->is_described && !sdf->has_id)
		return pfcp_fails(fault, PFCP_MANDATORY_IE_INCORRECT, PFCP_IE_SDF_FILTER);
	rules->filter_count++;
	return true;
}

static bool
read_application_id(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	(void)value;
	(void)group;
	return pfcp_refuses(fault, PFCP_IE_APPLICATION_ID);
}

/* Read behind the rest of its rule, whose id its filters have. */
static bool
read_pdi(struct pfcp_span value, struct pdi *pdi, struct pfcp_fault *fault)
{
	static const struct pfcp_row rows[] = {
		{PFCP_IE_SOURCE_INTERFACE, 1, true, false, read_source_interface},
		{PFCP_IE_F_TEID, 1, false, false, read_f_teid},
		{PFCP_IE_UE_IP_ADDRESS, 1, false, false, read_ue},
		{PFCP_IE_SDF_FILTER, 2, false, true, read_sdf_filter},
		{PFCP_IE_QFI, 1, false, false, read_pdi_qfi},
		{PFCP_IE_APPLICATION_ID, 0, false, false, read_application_id},
	};

	return pfcp_group_read(rows, PFCP_COUNT(rows), value, pdi, fault);
}

static bool
find_pdi(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_pdr *pdr = group;

	(void)fault;
	pdr->has_pdi = true;
	pdr->pdi = value;
	return true;
}

static bool
read_outer_header_removal(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_pdr *pdr = group;

	(void)fault;
	pdr->removes_outer_header = true;
	pdr->outer_header_removal = value.at[0];
	return true;
}

static bool
read_pdr_far_id(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_pdr *pdr = group;

	(void)fault;
	pdr->has_far = true;
	pdr->far_id = (uint32_t)pfcp_number(value.at, 4);
	return true;
}

static bool
read_pdr_qer_id(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_pdr *pdr = group;

	if (pdr->qer_count == PFCP_QERS_OF_PDR_MAX)
		return pfcp_fails(fault, PFCP_NO_RESOURCES, PFCP_IE_QER_ID);
	pdr->qer_id[pdr->qer_count++] = (uint32_t)pfcp_number(value.at, 4);
	return true;
}

static bool
read_pdr_urr_id(struct pfcp_span value, void *group, struct pfcp_fault *fault)
{
	struct pfcp_pdr *pdr = group;

	if (pdr->urr_count == PFCP_URRS_OF_PDR_MAX)
		return pfcp_fails(fault, PFCP_NO_RESOURCES, PFCP_IE_URR_ID);
	pdr->urr_id[pdr->urr_count++] = (uint32_t)pfcp_number(value.at, 4);
	return true;
}

/* Creating needs all of these, updating the first alone, and removing has no other. */
#define PDR_ROWS(creates)                                                                          \
	{                                                                                          \
		{PFCP_IE_PDR_ID, 2, true, false, read_pdr_id},                                     \
			{PFCP_IE_PRECEDENCE, 4, creates, false, read_precedence},                  \
			{PFCP_IE_PDI, 0, creates, false, find_pdi},                                \
			{PFCP_IE_OUTER_HEADER_REMOVAL, 1, false, false,                            \
			 read_outer_header_removal},                                               \
			{PFCP_IE_FAR_ID, 4, false, false, read_pdr_far_id},                        \
			{PFCP_IE_QER_ID, 4, false, true, read_pdr_qer_id},                         \
			{PFCP_IE_URR_ID, 4, false, true, read_pdr_urr_id},                         \
	}

bool
pfcp_pdr_read(struct pfcp_span value, enum pfcp_rule_change change, struct pfcp_rules *rules,
	      struct pfcp_fault *fault)
{
	static const struct pfcp_row created[] = PDR_ROWS(true), updated[] = PDR_ROWS(false);
	struct pfcp_pdr *pdr = &rules->pdr[rules->pdr_count];

	if (rules->pdr_count == PFCP_RULES_MAX)
		return pfcp_fails(fault, PFCP_NO_RESOURCES, 0);
	rules->pdr_count++;
	*pdr = (struct pfcp_pdr){.change = change};
	if (!pfcp_group_read(change == PFCP_CREATE ? created : updated,
			     pfcp_rows_of(change, PFCP_COUNT(created)), value, pdr, fault))
		return false;
	if (pdr->has_pdi && !read_pdi(pdr->pdi, &(struct pdi){.pdr = pdr, .rules = rules}, fault))
		return false;
	pdr->pdi = (struct pfcp_span){0};
	return true;
}
