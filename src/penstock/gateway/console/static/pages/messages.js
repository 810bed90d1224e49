/** Messages: choose a topic, look through it, look at one message. Which of the three it is, the address says. */

import { api } from "../parts/api.js";
import { badge, card } from "../parts/card.js";
import { h } from "../parts/dom.js";
import { bytes, count, told } from "../parts/format.js";
import { link } from "../parts/route.js";
import { table } from "../parts/table.js";
import { oneMessage } from "./messages_one.js";
import { topicMessages } from "./messages_topic.js";

/** Every topic, to choose one. */
const choice = {
  title: () => "Messages",
  load: (view) => api.get("storage", { signal: view.signal }),
  draw: (view, { topics }) => card("Choose a topic", table(view, {
    noun: "topic", rows: shownTopics(view, topics), key: (row) => row.topic, filter: true,
    href: (row) => link("messages", row.topic),
    empty: h("p", { class: "empty" }, "There is no topic yet."),
    columns: [
      {
        name: "topic", title: "Topic", value: (row) => row.topic,
        show: (row) => [row.topic, row.is_internal && badge("internal")],
      },
      { name: "partitions", title: "Partitions", align: "right", value: (row) => row.partitions, show: (row) => count(row.partitions) },
      { name: "bytes", title: "Size", align: "right", value: (row) => row.bytes, show: (row) => told(row.bytes, bytes) },
    ],
  })),
};

/** Topics that are nobody's but the cluster's stand at the end. */
function shownTopics(view, topics) {
  return [...topics].sort((left, right) => Number(left.is_internal) - Number(right.is_internal));
}

function pageOf(view) {
  if (!view.params.topic) return choice;
  return view.params.offset === undefined ? topicMessages : oneMessage;
}

export const messages = {
  title: (view) => pageOf(view).title(view),
  trail: (view) => pageOf(view).trail?.(view) ?? [],
  actions: (view, data) => pageOf(view).actions?.(view, data),
  open: (view) => pageOf(view).open?.(view),
  load: (view) => pageOf(view).load(view),
  draw: (view, data) => pageOf(view).draw(view, data),
  refresh_ms: 0,
};
