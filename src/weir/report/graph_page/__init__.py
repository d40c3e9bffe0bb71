# SPDX-License-Identifier: Apache-2.0
"""A host's network as a picture: a page that needs no network, or an SVG. Layered; namespaces are boxes."""
