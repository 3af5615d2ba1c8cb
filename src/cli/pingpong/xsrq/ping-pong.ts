import { type Context, WcStatus, type WorkCompletion } from '../../../entry/index.js';
import { ToolError } from '../../kit/errors.js';
import { Turns } from '../../kit/interrupt.js';
import { SEND_WRID } from '../loop/endpoint.js';
import { Waiting } from '../loop/waiting.js';
import type { XsrqEndpoint } from './endpoint.js';

export interface XsrqOptions {
  readonly clients: number;
  /** Messages each way, by client. */
  readonly tests: number;
  /** Whether this side sends the first message to each peer: the server does. */
  readonly serves: boolean;
}

/** Plays until every message came in and all of ours are acknowledged. */
export async function runXsrq(
  context: Context,
  endpoint: XsrqEndpoint,
  { clients, tests, serves }: XsrqOptions,
): Promise<void> {
  const meaning = 'if a peer is gone, end this side by Ctrl-C';
  const waiting = new Waiting(context, endpoint.cqs, endpoint.channel, { meaning });
  const sent = Array<number>(clients).fill(0);
  let received = 0;
  let finished = 0;

  const send = (index: number): void => {
    sent[index] += 1;
    // Only the last of each connection completes, as in the C tool.
    endpoint.postSend(index, sent[index] === tests);
  };
  const take = (completion: WorkCompletion): void => {
    if (completion.status !== WcStatus.SUCCESS) {
      throw new ToolError(`Work completion error ${completion.status}: ${context.explain(completion)}`);
    }
    if (Number(completion.wrId) === SEND_WRID) {
      finished += 1;
      return;
    }
    endpoint.postRecv();
    received += 1;
    const index = endpoint.indexOf(completion.qpNum);
    if (index < 0) throw new ToolError(`Unable to find qp ${completion.qpNum.toString(16)}`);
    if (sent[index] < tests) send(index);
  };

  if (serves) for (let i = 0; i < clients; i += 1) send(i);
  const turns = new Turns();
  while (received < clients * tests || finished < clients) {
    for (const completion of waiting.next(clients)) take(completion);
    if (turns.isDue) await turns.take();
  }
}
