/**
 * Every page of the console: its path, its module below pages/, and its place in the navigation.
 *
 * A module exports one object for each of its pages, named as `page` says; `parts/view.js` tells what is in it.
 */

export const SECTIONS = [
  { title: "Cluster", pages: ["overview", "brokers", "topics", "groups", "transactions"] },
  { title: "Data", pages: ["messages", "schemas", "pipelines"] },
  { title: "Insight", pages: ["logs", "storage"] },
];

/** What the navigation shows; `key` is pressed after `g`. */
export const NAVIGATION = {
  overview: { title: "Overview", path: "", key: "o" },
  brokers: { title: "Brokers", path: "brokers", key: "b" },
  topics: { title: "Topics", path: "topics", key: "t" },
  groups: { title: "Consumer groups", path: "groups", key: "c" },
  transactions: { title: "Transactions", path: "transactions", key: "x" },
  messages: { title: "Messages", path: "messages", key: "m" },
  schemas: { title: "Schemas", path: "schemas", key: "s" },
  pipelines: { title: "Pipelines", path: "pipelines", key: "p" },
  logs: { title: "Logs", path: "logs", key: "l" },
  storage: { title: "Storage", path: "storage", key: "a" },
};

export const PAGES = [
  { path: "/", module: "overview", page: "overview" },
  { path: "/brokers", module: "brokers", page: "brokers" },
  { path: "/brokers/:broker", module: "broker", page: "broker", under: "brokers" },
  { path: "/topics", module: "topics", page: "topics" },
  { path: "/topics/:topic/:tab?", module: "topic", page: "topic", under: "topics" },
  { path: "/groups", module: "groups", page: "groups" },
  { path: "/groups/:group/:tab?", module: "group", page: "group", under: "groups" },
  { path: "/transactions", module: "transactions", page: "transactions" },
  { path: "/transactions/:id", module: "transaction", page: "transaction", under: "transactions" },
  { path: "/messages/:topic?/:partition?/:offset?", module: "messages", page: "messages" },
  { path: "/schemas/:subject?/:version?", module: "schemas", page: "schemas" },
  { path: "/pipelines/:pipeline?", module: "pipelines", page: "pipelines" },
  { path: "/logs", module: "logs", page: "logs" },
  { path: "/storage/:topic?", module: "storage", page: "storage" },
];
