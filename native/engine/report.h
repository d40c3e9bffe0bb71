/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a function reports on request, beyond what the ledger counts: figures such as the
 * sessions in use, and counters by whatever it counts for, such as a rule or a subscriber.
 */
#ifndef WEIR_ENGINE_REPORT_H
#define WEIR_ENGINE_REPORT_H

#include <stdint.h>

struct weir_counter;

/* "rule": "1001". */
struct weir_report_label {
	const char *name;
	const char *text;
};

/* Receives a report; copies the strings during the call. */
struct weir_report {
	/* One number of the whole function. */
	void (*figure)(struct weir_report *report, const char *name, uint64_t value);
	/* Packets and bytes of what the labels say, each time with the same names. */
	void (*counter)(struct weir_report *report, const struct weir_report_label *labels,
			unsigned int label_count, const struct weir_counter *counter);
};

#endif
