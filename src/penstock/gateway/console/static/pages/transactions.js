/** All transactional ids, the open ones first, and a look for transactions that nobody will end. */

import { api } from "../parts/api.js";
import { card, empty, notes, state } from "../parts/card.js";
import { show } from "../parts/dialog.js";
import { h } from "../parts/dom.js";
import { duration, exact, moment } from "../parts/format.js";
import { link } from "../parts/route.js";
import { table } from "../parts/table.js";
import { toast } from "../parts/toast.js";

const TONES = { Ongoing: "warn", PrepareCommit: "warn", PrepareAbort: "warn", CompleteCommit: "good" };

/** A transaction's state in words: `Complete commit`. */
export function transactionState(word) {
  return state(word.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`), TONES[word] ?? "");
}

export const transactions = {
  title: "Transactions",
  load: (view) => api.get("transactions", { signal: view.signal }),
  actions: (view) => h("button", { onclick: () => lookForHanging(view) }, "Look for hanging ones"),
  draw: (view, data) => [
    card(null, table(view, {
      rows: data.transactions, noun: "id", filter: true, sort: "-running", key: (row) => row.transactional_id,
      href: (row) => link("transactions", row.transactional_id),
      empty: empty(data.notes.length ? "This cluster does not tell of transactions." : "No producer has used transactions yet."),
      columns: [
        { name: "id", title: "Transactional id", value: (row) => row.transactional_id },
        { name: "state", title: "State", value: (row) => row.state, show: (row) => transactionState(row.state) },
        { name: "running", title: "Open for", align: "right", value: (row) => row.running_ms, show: (row) =>
          row.running_ms === null ? h("span", { class: "muted" }, "–") : duration(row.running_ms) },
        { name: "producer", title: "Producer id", align: "right", value: (row) => row.producer_id, show: (row) => String(row.producer_id) },
        { name: "coordinator", title: "Coordinator", align: "right", class: "secondary", value: (row) => row.coordinator, show: (row) => `Broker ${row.coordinator}` },
      ],
    })),
    notes(data.notes),
  ],
};

async function lookForHanging(view) {
  const found = await api.get("hanging-transactions", { signal: view.signal }).catch((error) => {
    if (error.name !== "AbortError") toast(error.message, "bad");
    return null;
  });
  if (!found) return;
  show({
    title: found.transactions.length ? "These hang" : "None hangs",
    body: found.transactions.length === 0
      ? "Every open transaction has a coordinator that will end it."
      : [h("p", {}, "Readers of committed messages wait here for an end that no coordinator will write. ",
          "End one with ", h("code", {}, "penstock txn abort --topic … --partition … --start-offset …"), "."),
        h("ul", {}, found.transactions.map((each) => h("li", { key: `${each.topic}-${each.partition}-${each.start_offset}` },
          h("b", {}, `${each.topic}-${each.partition}`), ` since offset ${exact(each.start_offset)}, last written ${moment(each.last_write_ms)}`)))],
  });
}
