/** Where the lines of a plot's grid are: round numbers, and round times. */

const TIME_STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 43_200, 86_400];

/** From 0 to at least `most` in about `wanted` round steps: of ten, or of two for bytes. */
export function niceTicks(most, wanted = 4, isBinary = false) {
  if (most <= 0) return [0, 1];
  const rough = most / wanted;
  const step = isBinary ? 2 ** Math.ceil(Math.log2(rough)) : decimalStep(rough);
  const ticks = [];
  for (let index = 0; ticks.length === 0 || ticks.at(-1) < most; index += 1) ticks.push(index * step);
  return ticks;
}

function decimalStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each >= rough);
}

/** Round times within the range, at most `wanted` of them. */
export function timeTicks(first_ms, last_ms, wanted) {
  const seconds = (last_ms - first_ms) / 1000;
  const step = 1000 * (TIME_STEPS_S.find((each) => seconds / each <= wanted) ?? TIME_STEPS_S.at(-1));
  const ticks = [];
  for (let time = Math.ceil(first_ms / step) * step; time <= last_ms; time += step) ticks.push(time);
  return ticks;
}
