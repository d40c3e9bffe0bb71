/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_CONTROL_LEDGER_H
#define WEIR_CONTROL_LEDGER_H

#include <jansson.h>

/* All counters of cores, areas, ports, rings and pools: a new reference. */
json_t *weir_ledger(void);

#endif
