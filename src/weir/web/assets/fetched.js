// SPDX-License-Identifier: Apache-2.0
// Where the data are: this server sends them, after the page.

async function readResult() {
  const answer = await fetch(document.getElementById('main').dataset.result);
  if (!answer.ok) throw new Error(`the server says ${answer.status}`);
  return answer.json();
}
