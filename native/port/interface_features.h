/* SPDX-License-Identifier: Apache-2.0 */
/* The features of a kernel interface, by the names that ethtool(8) has for them. */
#ifndef WEIR_PORT_INTERFACE_FEATURES_H
#define WEIR_PORT_INTERFACE_FEATURES_H

#include <stddef.h>

/* Writes those that are on and whose names begin with one of `prefixes` (NULL ends them), joined by
 * commas, into `found`; "": none, or the kernel does not say. The interface is of the current
 * network namespace. */
void weir_interface_features(const char *interface, const char *const *prefixes, char *found,
			     size_t size);

#endif
