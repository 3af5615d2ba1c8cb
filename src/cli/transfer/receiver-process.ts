import { once } from 'node:events';
import { sentence } from '../kit/errors.js';
import type { Answer, StartOrder } from './messages.js';
import { receive } from './receiver.js';

// The receiver's process, started by `verbena transfer`. The pipe to its parent carries the order in and answers out.

let finished = false;

function tell(answer: Answer): void {
  finished = answer.kind === 'finished';
  process.send?.(answer);
}

/** The sender tells the user, so that there is one sentence and not two. */
function fail(text: string): void {
  process.send?.({ kind: 'failed', sentence: text } satisfies Answer, () => process.exit(1));
}

// The sender hangs up when it has our last answer; before that, its end of the pipe closes only by its death, and then
// there is nothing left to receive.
process.on('disconnect', () => {
  if (!finished) process.exit(1);
});
// Ctrl-C reaches the whole group. The sender decides what it means, and its end is ours.
process.on('SIGINT', () => {});
// Not by the signal's own way, so that what was not finished is removed.
for (const signal of ['SIGHUP', 'SIGTERM']) process.on(signal, () => process.exit(1));

try {
  // The parent is this program, so what comes is its order.
  const [order] = (await once(process, 'message')) as [StartOrder];
  await receive(order, tell);
} catch (error) {
  fail(sentence(error));
}
