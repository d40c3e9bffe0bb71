/* SPDX-License-Identifier: Apache-2.0 */
/* What the balancer reports: its connections, and what each back-end had. */
#include "engine/report.h"
#include "lb.h"

void
lb_report(const void *state, struct weir_report *report)
{
	const struct lb *lb = state;

	report->figure(report, "connections", weir_counted(&lb->connection_count));
	report->figure(report, "connections_max", lb->connections_max);
	for (uint16_t i = 0; i < LB_BACKENDS_MAX; i++) {
		const struct lb_backend *backend = &lb->set->backends[i];
		char service[LB_ENDPOINT_TEXT], at[LB_ENDPOINT_TEXT];
		const struct weir_report_label labels[] = {
			{"service", service},
			{"backend", at},
			{"state", backend->state == LB_DRAINING ? "draining" : "active"},
		};

		if (backend->state == LB_FREE)
			continue;
		lb_endpoint_text(&lb->set->services[backend->service].at, service);
		lb_endpoint_text(&backend->at, at);
		report->counter(report, labels, RTE_DIM(labels), &lb->sent[i]);
	}
}
