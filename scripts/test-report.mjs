// A reporter of node:test: writes, as JSON, the failures by test file, and how long each file took.
import { relative, resolve } from 'node:path';
import { root } from './build-state.mjs';

const MS_PER_S = 1000;

/** What an error of a test says, without the runner's own words around it. */
const sentenceOf = (error) => String(error?.cause?.stack ?? error?.cause ?? error?.message ?? error);

export default async function* report(events) {
  const failures = {};
  const seconds = {};
  for await (const { type, data } of events) {
    if (type !== 'test:fail' && type !== 'test:pass') continue;
    // A suite fails with its tests, which are listed themselves.
    const isSuite = type === 'test:fail' && data.details.error?.failureType === 'subtestsFailed';
    const file = relative(root, resolve(root, data.file ?? data.name));
    if (type === 'test:fail' && !isSuite)
      (failures[file] ??= []).push({ test: data.name, error: sentenceOf(data.details.error) });
    if (data.nesting === 0) seconds[file] = (seconds[file] ?? 0) + data.details.duration_ms / MS_PER_S;
  }
  yield JSON.stringify({ failures, seconds });
}
