/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions that come, change and go while packets flow: many in one step. What is to become of them
 * is checked on the control thread; on the worker's it only has to be written down. */
#ifndef WEIR_NF_UPF_CHANGES_H
#define WEIR_NF_UPF_CHANGES_H

#include "upf.h"

/* So many sessions at once keep a worker from its packets for some microseconds. */
#define UPF_CHANGES_MAX 128

enum upf_change_kind { UPF_ADD, UPF_MODIFY, UPF_REMOVE };

/* What a change may say; the UE's address or its prefix says which session it is about. */
enum upf_given {
	UPF_GIVEN_UE = 1 << 0,
	UPF_GIVEN_TEID = 1 << 1, /* with UPF_ADD alone */
	UPF_GIVEN_GNB = 1 << 2,
	UPF_GIVEN_GNB_TEID = 1 << 3,
	UPF_GIVEN_QFI = 1 << 4,
	/* Of both directions, the first one outbound (uplink). */
	UPF_GIVEN_ACTION = 1 << 5,
	UPF_GIVEN_GATE = 1 << 7,
	UPF_GIVEN_MBR = 1 << 9,
	UPF_GIVEN_PREFIX = 1 << 11, /* of the UE */
	UPF_GIVEN_END_MARKER = 1 << 12,
	UPF_GIVEN_RULES = 1 << 13,	 /* of both directions together; not as text */
	UPF_GIVEN_END_OF_KEPT = 1 << 14, /* what waits is dropped; not as text */
	UPF_GIVEN_QUOTAS = 1 << 15,	 /* not as text */
};

/* UPF_ACTION_BUFFER: of the way into tunnels alone. UPF_ACTION_BY_RULES: not as text. */
enum upf_action {
	UPF_ACTION_FORWARD,
	UPF_ACTION_DROP,
	UPF_ACTION_BUFFER,
	UPF_ACTION_BY_RULES,
};
enum upf_gate { UPF_GATE_OPEN, UPF_GATE_CLOSED };

struct upf_change {
	uint32_t given; /* bits of enum upf_given */
	struct upf_ue ue;
	struct weir_prefix6 ue_prefix; /* as text gives it */
	uint32_t gnb_ip;	       /* network byte order */
	uint64_t teid;		       /* of the session at this end */
	uint64_t gnb_teid;	       /* and at the gNB */
	uint64_t qfi;
	unsigned int action[2]; /* by direction; enum upf_action */
	/* With UPF_ACTION_BUFFER: how many wait, 0: as the option says; whether the first one is
	 * told to the control thread. */
	uint16_t kept_most;
	bool notifies;
	bool end_marker;      /* the tunnel that it had is told that another one follows */
	unsigned int gate[2]; /* enum upf_gate */
	uint64_t mbr_bps[2];  /* 0: none */
	/* In the order of precedence; of whoever asks for the change. */
	const struct upf_rule_wanted *rules;
	unsigned int rule_count;
	const struct upf_quota *quotas; /* likewise */
	unsigned int quota_count;
	uint32_t place; /* upf_changes_check() fills it in */
};

struct upf_changes {
	enum upf_change_kind kind;
	unsigned int count;
	struct upf_change change[UPF_CHANGES_MAX];
};

static inline bool
upf_gives(const struct upf_change *change, uint32_t given)
{
	return (change->given & given) != 0;
}

/* Whether what is added forwards to the UE: where nothing says so, if it is known to which gNB. */
static inline bool
upf_forwards_down(const struct upf_change *change)
{
	return upf_gives(change, UPF_GIVEN_ACTION << WEIR_INBOUND)
		       ? change->action[WEIR_INBOUND] == UPF_ACTION_FORWARD
		       : upf_gives(change, UPF_GIVEN_GNB_TEID);
}

/* Control thread. What is not given of a session that is added becomes what the options say. -1
 * with `error`: one of them cannot be, and none is to be applied. */
int upf_changes_check(const struct upf *upf, struct upf_changes *changes, const char *where,
		      struct weir_error *error);

/* apply.c. The worker's thread: all of them, which were checked since the last change. */
void upf_changes_apply(struct upf *upf, const struct upf_changes *changes);

/* change_text.c: reads entries such as "ue=10.46.0.1 teid=4097 gnb_teid=7", separated by commas. -1
 * with `error`. */
int upf_changes_read(const char *text, struct upf_changes *changes, const char *where,
		     struct weir_error *error);

#endif
