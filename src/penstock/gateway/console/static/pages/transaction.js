/** One transactional id: what is open under it, where readers wait, and ending it. */

import { api, path } from "../parts/api.js";
import { card, empty, notes, tile, tiles } from "../parts/card.js";
import { confirm } from "../parts/dialog.js";
import { h } from "../parts/dom.js";
import { duration, exact, moment, told } from "../parts/format.js";
import { link } from "../parts/route.js";
import { table } from "../parts/table.js";
import { toast } from "../parts/toast.js";
import { transactionState } from "./transactions.js";

export const transaction = {
  title: (view) => view.params.id,
  trail: () => [["Transactions", link("transactions")]],
  load: (view) => api.get(path("transactions", view.params.id), { signal: view.signal }),
  actions: (view, data) => data.state === "Ongoing"
    && h("button", { class: "danger", onclick: () => abort(view, data) }, "Abort"),
  draw: (view, data) => [
    tiles(
      tile("State", transactionState(data.state)),
      tile("Open for", data.running_ms === null ? "–" : duration(data.running_ms), { detail: began(data) }),
      tile("Aborted after", duration(data.timeout_ms), { detail: "the producer’s timeout" }),
      tile("Producer id", String(data.producer_id), { detail: `epoch ${data.producer_epoch}` }),
      tile("Coordinator", `Broker ${data.coordinator}`, { href: link("brokers", data.coordinator) })),
    card("Partitions in it", table(view, {
      rows: data.partitions, noun: "partition", key: (row) => `${row.topic}-${row.partition}`,
      empty: empty("No partition waits for it."),
      columns: [
        { name: "partition", title: "Partition", value: (row) => `${row.topic}-${row.partition}`, show: (row) =>
          h("a", { href: link("topics", row.topic) }, `${row.topic}-${row.partition}`) },
        { name: "start", title: "Waits since offset", align: "right", value: (row) => row.start_offset, show: (row) => told(row.start_offset, exact) },
      ],
    }), { note: "readers of committed messages wait at its first offset" }),
    notes(data.notes),
  ],
};

function began({ started_ms: at, running_ms: running }) {
  if (at === null) return "nothing is open";
  return `${running === null ? "the last began" : "since"} ${moment(at)}`;
}

async function abort(view, data) {
  const done = await confirm({
    title: "Abort this transaction?",
    action: "Abort transaction",
    typed: data.transactional_id,
    body: "What was written in it will not be seen by readers of committed messages, and its producer is shut out: "
      + "the next thing it sends fails.",
    submit: () => api.post(path("transactions", data.transactional_id, "abort"), { confirm: data.transactional_id }),
  });
  if (!done) return;
  toast(`The transaction of ${data.transactional_id} is aborted.`);
  await view.reload();
}
