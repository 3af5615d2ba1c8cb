// A reporter of node:test: writes, as JSON, the failures by test file, and how long each file took. It also ends files that hang.
import { readFileSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { root } from './build-state.mjs';

const MS_PER_S = 1000;

/** What an error of a test says, without the runner's own words around it. */
const sentenceOf = (error) => String(error?.cause?.stack ?? error?.cause ?? error?.message ?? error);

/** Processes of files, and when they were seen first. */
let files = new Map();

/**
 * Kills what has run for `limitMs`. Node 20 does so by itself; Node 24 and 26 apply `--test-timeout` within a file only, where a
 * timer cannot stop a loop. A reporter runs in the process of the runner, whose children are the files.
 */
function endHanging(limitMs) {
  const now = performance.now();
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean);
  files = new Map(children.map((pid) => [pid, files.get(pid) ?? now]));
  for (const [pid, since] of files) if (now - since > limitMs) process.kill(Number(pid), 'SIGKILL');
}

function watchFiles() {
  const limitMs = Number(process.execArgv.map((word) => /^--test-timeout=(\d+)$/.exec(word)?.[1]).find(Boolean));
  // With some time for the runner, which says more of what it ends.
  if (process.platform === 'linux' && limitMs > 0) setInterval(() => endHanging(limitMs + MS_PER_S), MS_PER_S).unref();
}

export default async function* report(events) {
  watchFiles();
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
