/** All consumer groups: how many members, how far behind. */

import { api } from "../parts/api.js";
import { badge, card, empty, notes, state } from "../parts/card.js";
import { h } from "../parts/dom.js";
import { exact, told } from "../parts/format.js";
import { link } from "../parts/route.js";
import { table } from "../parts/table.js";

export const STATE_TONES = { stable: "good", empty: "", dead: "bad" };

/** The word for a group's state, with a colour that means the same on every page. */
export function groupState(word) {
  const key = (word ?? "").toLowerCase();
  return word ? state(word, STATE_TONES[key] ?? "warn") : told(null);
}

export const groups = {
  title: "Consumer groups",
  load: (view) => api.get("groups", { signal: view.signal }),
  draw: (view, data) => [
    card(null, table(view, {
      rows: data.groups, noun: "group", filter: true, sort: "-lag", key: (row) => row.group,
      href: (row) => link("groups", row.group),
      empty: empty("No group has read anything yet. One appears as soon as a consumer with a group.id starts."),
      columns: [
        { name: "group", title: "Group", value: (row) => row.group, show: (row) => [
          row.group, row.type === "consumer" && badge("KIP-848", "Its partitions are assigned by the broker"),
        ] },
        { name: "state", title: "State", value: (row) => row.state, show: (row) => groupState(row.state) },
        { name: "members", title: "Members", align: "right", value: (row) => row.members, show: (row) => told(row.members, exact) },
        { name: "lag", title: "Lag", align: "right", value: (row) => row.lag, show: (row) => row.lag === null
          ? h("span", { class: "muted", title: "It has committed nothing." }, "–") : exact(row.lag) },
        { name: "coordinator", title: "Coordinator", align: "right", class: "secondary", value: (row) => row.coordinator,
          show: (row) => told(row.coordinator, (node) => `Broker ${node}`) },
      ],
    })),
    notes(data.notes),
  ],
};
