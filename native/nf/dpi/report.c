/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <stdio.h>

#include "engine/report.h"
#include "dpi.h"

#define APPLICATION_BYTES 64

static void
report_charge(const struct dpi *dpi, const struct dpi_charge_key *key,
	      const struct weir_counter *counter, struct weir_report *report)
{
	char subscriber[INET_ADDRSTRLEN], rule[16], application[APPLICATION_BYTES];
	const ndpi_protocol name = {
		.master_protocol = key->protocol,
		.app_protocol = key->application != 0 ? key->application : key->protocol,
	};
	const struct weir_report_label labels[] = {
		{"subscriber", subscriber},
		{"rule", rule},
		{"application", application},
	};

	inet_ntop(AF_INET, &key->subscriber, subscriber, sizeof(subscriber));
	snprintf(rule, sizeof(rule), "%u", key->rule_id);
	ndpi_protocol2name(dpi->inspections.ndpi, name, application, sizeof(application));
	report->counter(report, labels, RTE_DIM(labels), counter);
}

void
dpi_report(const void *state, struct weir_report *report)
{
	const struct dpi *dpi = state;

	report->figure(report, "flows", weir_counted(&dpi->flow_count));
	report->figure(report, "inspections", weir_counted(&dpi->inspections.count));
	report->figure(report, "charges", weir_counted(&dpi->charges.count));
	report->figure(report, "rules", dpi->rules->count);
	report->figure(report, "inspected_packets",
		       weir_counted(&dpi->inspections.inspected_packets));
	report->figure(report, "scanned_bytes", weir_counted(&dpi->inspections.scanned_bytes));
	report->figure(report, "forgotten_packets", weir_counted(&dpi->charges.forgotten.packets));
	report->figure(report, "forgotten_bytes", weir_counted(&dpi->charges.forgotten.bytes));
	for (uint32_t i = 0; i < dpi->charges.capacity; i++) {
		struct dpi_charge_key key;
		struct weir_counter counter;

		if (dpi_charges_read(&dpi->charges, i, &key, &counter))
			report_charge(dpi, &key, &counter, report);
	}
}
