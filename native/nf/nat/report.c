/* SPDX-License-Identifier: Apache-2.0 */
/* What the NAT reports: how much of its capacity is in use. */
#include "engine/report.h"

#include "nat.h"

void
nat_report(const void *state, struct weir_report *report)
{
	const struct nat *nat = state;

	report->figure(report, "sessions", weir_counted(&nat->sessions_used));
	report->figure(report, "sessions_max", nat->session_count);
	report->figure(report, "remotes", weir_counted(&nat->remotes_used));
	report->figure(report, "remotes_max", nat->remote_count);
}
