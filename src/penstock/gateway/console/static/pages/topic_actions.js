/** What can be done to topics: each asks first, and what cannot be undone wants the topic's name typed. */

import { api, path } from "../parts/api.js";
import { confirm, form } from "../parts/dialog.js";
import { h } from "../parts/dom.js";
import { link } from "../parts/route.js";
import { toast } from "../parts/toast.js";

/** Ask for a name and numbers, and make the topic. */
export async function createTopic(view) {
  const name = await form({
    title: "Create topic",
    action: "Create",
    fields: [
      { name: "name", label: "Name", required: true, pattern: "[a-zA-Z0-9._\\-]{1,249}",
        hint: "Letters, digits, dot, underscore and dash; at most 249." },
      { name: "partitions", label: "Partitions", type: "number", min: 1, hint: "Empty: as the brokers are set." },
      { name: "replication_factor", label: "Replicas", type: "number", min: 1, hint: "Empty: as the brokers are set." },
      { name: "cleanup", label: "What happens to old messages", options: [
        ["", "As the brokers are set"], ["delete", "Deleted after a time or size"],
        ["compact", "The last of each key is kept"], ["compact,delete", "Both"]] },
      { name: "retention", label: "How long they are kept", options: [
        ["", "As the brokers are set"], ["3600000", "An hour"], ["86400000", "A day"], ["604800000", "A week"],
        ["2592000000", "30 days"], ["-1", "For ever"]] },
    ],
    submit: async ({ cleanup, retention, ...body }) => {
      const config = {};
      if (cleanup) config["cleanup.policy"] = cleanup;
      if (retention) config["retention.ms"] = retention;
      return (await api.post("topics", { ...body, config })).name;
    },
  });
  if (name === undefined) return;
  toast(`Topic ${name} is created.`);
  view.go(link("topics", name));
}

/** Ask how many partitions it shall have. */
export async function addPartitions(view, topic) {
  const now = topic.partitions.length;
  const done = await form({
    title: `Add partitions to ${topic.name}`,
    action: "Add",
    body: "Messages with a key go to other partitions from then on, so that their order is kept only within what "
      + "was written before, and after. Partitions cannot be taken away again.",
    fields: [{ name: "total", label: "Partitions altogether", type: "number", min: now + 1, value: now + 1, required: true }],
    submit: ({ total }) => api.post(path("topics", topic.name, "partitions"), { total }),
  });
  if (!done) return;
  toast(`Topic ${topic.name} has ${done.partitions} partitions.`);
  await view.reload();
}

/** Ask for the name, and delete it. */
export async function deleteTopic(view, topic) {
  const done = await confirm({
    title: `Delete ${topic.name}?`,
    action: "Delete topic",
    typed: topic.name,
    body: ["The topic, its ", h("b", {}, `${topic.partitions.length} partitions`), " and all messages in them go at once. ",
      topic.groups.length > 0 && [h("b", {}, topic.groups.map(({ group }) => group).join(", ")), " will find nothing to read. "],
      "This cannot be undone."],
    submit: () => api.remove(path("topics", topic.name), { confirm: topic.name }),
  });
  if (!done) return;
  toast(`Topic ${topic.name} is deleted.`);
  view.go(link("topics"));
}
