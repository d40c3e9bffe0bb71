/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_ENGINE_LCORE_WAIT_H
#define WEIR_ENGINE_LCORE_WAIT_H

/*
 * As rte_eal_wait_lcore(), which polls for the end of what was launched: a second busy thread on
 * the machine, for as long as the first one needs a CPU that others have. This one sleeps between
 * its looks. Returns what was returned there.
 */
int weir_lcore_wait(unsigned int lcore);

#endif
