// SPDX-License-Identifier: Apache-2.0
// Where the data are: in the page itself, which needs no network.

const readResult = () => unpacked('result');
