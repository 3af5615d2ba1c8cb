import { bytesOf } from '../plan.js';
import { type Play, pingPong, type Side, turn } from './play.js';

/** Values that the last byte of a message takes in turn. Memory holds 0 in the beginning. */
const NUMBERS = 255;

/** What is put is seen by looking: its last byte changes last. */
export function putLat(side: Side): Play {
  const { plan, out, data, memory, theirs } = side;
  const last = bytesOf(plan) - 1;
  const { bytes } = memory;
  let sent = 0;
  let seen = 0;
  const send = (): Promise<void> => {
    data[last] = 1 + (sent++ % NUMBERS);
    return out.put(data, theirs.address, theirs);
  };
  const receive = async (): Promise<void> => {
    const number = 1 + (seen++ % NUMBERS);
    while (bytes[last] !== number) await turn();
  };
  return pingPong(side, send, receive);
}

export function putBw({ isClient, out, data, theirs }: Side): Play | undefined {
  return isClient ? () => out.put(data, theirs.address, theirs) : undefined;
}

export function get({ plan, isClient, out, memory, theirs }: Side): Play | undefined {
  const buffer = memory.bytes.subarray(0, bytesOf(plan));
  return isClient ? () => out.get(buffer, theirs.address, theirs) : undefined;
}
