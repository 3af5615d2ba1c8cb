import { once } from 'node:events';
import { ToolError, sentence } from '../errors.js';
import { type Answer, type EndAddress, type Order } from './messages.js';
import { receive } from './receiver.js';

// The receiver's process, started by `verbena transfer`. The pipe to its parent carries orders in and answers out.

let finished = false;

function tell(answer: Answer): void {
  finished = answer.kind === 'finished';
  process.send?.(answer);
}

/** The sender tells the user, so that there is one sentence and not two. */
function fail(text: string): void {
  process.send?.({ kind: 'failed', sentence: text } satisfies Answer, () => process.exit(1));
}

async function nextOrder(): Promise<Order> {
  // The parent is this program, so what comes is an Order.
  const [order] = (await once(process, 'message')) as [Order];
  return order;
}

async function senderEnd(): Promise<EndAddress> {
  const order = await nextOrder();
  if (order.kind !== 'connect') throw new ToolError(`'${order.kind}' came where the sender's address was expected.`);
  return order.end;
}

// The sender hangs up when it has our last answer; before that, its end of the pipe closes only by its death, and then
// there is nothing left to receive.
process.on('disconnect', () => {
  if (!finished) process.exit(1);
});
// Ctrl-C reaches the whole group. The sender decides what it means, and its end is ours.
process.on('SIGINT', () => {});

try {
  const order = await nextOrder();
  if (order.kind !== 'start') throw new ToolError(`'${order.kind}' came where the order to start was expected.`);
  await receive(order, { tell, senderEnd });
} catch (error) {
  fail(sentence(error));
}
