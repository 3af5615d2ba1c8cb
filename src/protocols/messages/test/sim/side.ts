import type { Sim } from '../../../../sim/index.js';
import type { SeededRandom } from '../../../../device/link/index.js';
import type { MessageConnection } from '../../index.js';
import type { SendPlan, SidePlan } from './plan.js';
import { randomBytes } from './random-bytes.js';
import type { StreamBook } from './stream-book.js';
import { isTakenBack, whenToTakeBack } from './taking-back.js';

/** The last message of each side. No other one is so. */
const END = new TextEncoder().encode('that is all');
const isEnd = (bytes: Uint8Array): boolean => Buffer.compare(bytes, END) === 0;
/** What programs put into memory that the package has let go of. */
const OWN = 0xee;

/** One side of a connection, whichever: says what it is to say, and takes what comes. */
export interface SideParts {
  readonly sim: Sim;
  readonly connection: MessageConnection;
  readonly plan: SidePlan;
  readonly outgoing: StreamBook;
  readonly incoming: StreamBook;
  /** Chooses the bytes. */
  readonly random: SeededRandom;
  /** Settles when those that stall go on. */
  readonly released: Promise<void>;
  /** Something failed that nobody took back. */
  readonly onFailure: (error: unknown) => void;
}

/** Resolves when all has been said and taken, or the connection has failed. Rejects with what proves the package wrong. */
export async function talk(parts: SideParts): Promise<void> {
  await Promise.all([say(parts), take(parts)]);
}

async function say(parts: SideParts): Promise<void> {
  const { sim, plan, connection } = parts;
  const sent: Promise<void>[] = [];
  for (const send of plan.sends) {
    if (send.afterUs > 0) await sim.sleep(send.afterUs);
    const sending = sayOne(parts, send);
    sent.push(sending);
    if (send.awaited) await sending;
  }
  await Promise.all(sent);
  const settle = parts.outgoing.sends(END);
  try {
    await connection.send(END);
    settle('sent');
  } catch (error) {
    settle('failed');
    parts.onFailure(error);
  }
}

async function sayOne({ sim, connection, outgoing, random, onFailure }: SideParts, plan: SendPlan): Promise<void> {
  const bytes = randomBytes(random, plan.bytes);
  const settle = outgoing.sends(bytes.slice());
  try {
    await connection.send(bytes, whenToTakeBack(sim, plan));
    settle('sent');
  } catch (error) {
    const takenBack = isTakenBack(error, plan);
    settle(takenBack ? 'taken back' : 'failed');
    if (!takenBack) onFailure(error);
  }
  bytes.fill(OWN);
}

async function take(parts: SideParts): Promise<void> {
  const { sim, connection, plan, incoming } = parts;
  const { how, workUs } = plan.taking;
  if (how === 'stalls') await parts.released;
  /** @returns whether that was the last */
  const taken = async (bytes: Uint8Array): Promise<boolean> => {
    incoming.arrives(bytes);
    if (isEnd(bytes)) {
      incoming.ends();
      return true;
    }
    if (workUs > 0) await sim.sleep(workUs);
    return false;
  };
  try {
    await takeAll(connection, how, taken);
  } catch (error) {
    parts.onFailure(error);
  }
}

async function takeAll(
  connection: MessageConnection,
  how: SidePlan['taking']['how'],
  taken: (bytes: Uint8Array) => Promise<boolean>,
): Promise<void> {
  if (how === 'loop') {
    for await (const message of connection.messages()) if (await taken(message)) return;
  } else if (how === 'leases') {
    for await (const message of connection.messages({ lease: true })) if (await taken(message.bytes)) return;
  } else {
    for (let message = await connection.receive(); message !== undefined; message = await connection.receive())
      if (await taken(message)) return;
  }
  throw new Error('the connection has ended before the last message');
}
