/**
 * Child processes that end with the test that starts them. A failed test cannot leave one behind, and a slow machine cannot end
 * one early: no time limit is involved. The runner's limit for a whole file (scripts/test-runs.mjs) ends a file that hangs.
 */
import { type ChildProcess } from 'node:child_process';
import { after, afterEach, beforeEach } from 'node:test';

/** Those started outside of tests, by `before` hooks for example, serve all tests of the file. */
const ofFile = new Set<ChildProcess>();
const ofTest = new Set<ChildProcess>();
/** Tests that run now: a test, its subtest, and so on. */
let depth = 0;

function killAll(children: Set<ChildProcess>): void {
  // Does nothing to a process that has ended.
  for (const child of children) child.kill('SIGKILL');
  children.clear();
}

beforeEach(() => {
  depth += 1;
});
afterEach(() => {
  depth -= 1;
  if (depth === 0) killAll(ofTest);
});
after(() => killAll(ofFile));
// The runner ends a file that hangs by this signal. A child that hangs with it must not outlive it.
process.once('SIGTERM', () => {
  killAll(ofTest);
  killAll(ofFile);
  process.exit(1);
});

/** Kills the child, if it still runs, when the current test ends, or the file where no test runs now. */
export function endWithTest<Child extends ChildProcess>(child: Child): Child {
  (depth > 0 ? ofTest : ofFile).add(child);
  return child;
}
