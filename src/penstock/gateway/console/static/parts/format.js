/** Numbers, sizes and times as people read them: few digits, one unit, always the same width in tables. */

import { h } from "./dom.js";

const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const BYTE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
const COUNT_UNITS = ["", " K", " M", " G", " T", " P"];
const TIME_UNITS = [["d", 86_400_000], ["h", 3_600_000], ["min", 60_000], ["s", 1000], ["ms", 1]];

/** What a cluster did not tell. */
export function untold(why) {
  return h("span", { class: "untold", title: why ?? "The cluster does not tell this." }, "not told");
}

/** The number formatted by `format`, or "not told". */
export function told(value, format = exact) {
  return value === null || value === undefined ? untold() : format(value);
}

/** Every digit: `1,234,567`. */
export function exact(value) {
  return GROUPED.format(value);
}

/** At most four digits: `9,999`, `12.3 K`, `4.56 M`. */
export function count(value) {
  if (Math.abs(value) < 10_000) return GROUPED.format(Math.round(value));
  return scaled(value, 1000, COUNT_UNITS);
}

/** `512 B`, `1.5 KiB`, `230 GiB`. */
export function bytes(value) {
  return Math.abs(value) < 1024 ? `${Math.round(value)} B` : scaled(value, 1024, BYTE_UNITS, " ");
}

/** Per second: `0`, `0.4/s`, `1,234/s`, `12.3 K/s`. */
export function rate(value) {
  if (value === 0) return "0/s";
  return `${value < 10 ? trimmed(value, 1) : count(value)}/s`;
}

/** `42%`, one digit more below ten. */
export function percent(share) {
  const value = share * 100;
  return `${value > 0 && value < 10 ? trimmed(value, 1) : Math.round(value)}%`;
}

/** The two largest units: `2 d 3 h`, `4 min 10 s`, `250 ms`. */
export function duration(milliseconds) {
  let left = Math.max(0, Math.round(milliseconds));
  const parts = [];
  for (const [unit, size] of TIME_UNITS) {
    const amount = Math.floor(left / size);
    if (amount > 0) parts.push(`${amount} ${unit}`);
    left -= amount * size;
    if (parts.length === 2 || (parts.length === 1 && unit === "s")) break;
  }
  return parts.join(" ") || "0 ms";
}

/** `14:03:07`, as clocks on walls show it here. */
export function clock(time_ms) {
  return new Date(time_ms).toLocaleTimeString("en-GB");
}

/** `2026-01-31 14:03:07`, of the reader's own time zone. */
export function moment(time_ms) {
  const at = new Date(time_ms);
  const two = (value) => String(value).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${clock(time_ms)}`;
}

/** `1 topic`, `3 topics`. */
export function plural(amount, one, many = `${one}s`) {
  return `${count(amount)} ${amount === 1 ? one : many}`;
}

function scaled(value, step, units, space = "") {
  let amount = value;
  let power = 0;
  // As it will be written: 999.96 is written as 1000, which is one of the next unit.
  while (Math.abs(Number(rounded(amount))) >= step && power < units.length - 1) {
    amount /= step;
    power += 1;
  }
  return `${rounded(amount)}${space}${units[power]}`;
}

function rounded(amount) {
  return amount.toFixed(Math.abs(amount) >= 99.95 ? 0 : 1);
}

function trimmed(value, digits) {
  return value.toFixed(digits).replace(/\.0+$/, "");
}
