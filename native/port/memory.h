/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WEIR_PORT_MEMORY_H
#define WEIR_PORT_MEMORY_H

/* Frees the rings of the in-memory wires, after their ports have closed. */
void weir_wires_free(void);

#endif
