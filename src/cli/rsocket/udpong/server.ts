import type { Carrier } from './carrier.js';
import { CONTROL_BYTES, Message, Operation } from './messages.js';

const CLIENTS = 256;

/** Answers clients until it is aborted. @param login is told where each is that comes */
export async function serve(carrier: Carrier, login: (host: string) => void, signal: AbortSignal): Promise<void> {
  const message = new Message();
  const counts = new Uint32Array(CLIENTS);
  const from = { host: '', port: 0 };
  let nextId = 0;
  while (!signal.aborted) {
    const length = await carrier.receive(message.bytes, from, -1);
    // What is shorter is nobody's message.
    if (length === undefined || length < CONTROL_BYTES) continue;
    switch (message.operation) {
      case Operation.LOGIN:
        login(from.host);
        message.id = nextId;
        nextId = (nextId + 1) % CLIENTS;
        counts[message.id] = 0;
        break;
      case Operation.START:
        counts[message.id] = 0;
        break;
      case Operation.ECHO:
        counts[message.id] += 1;
        break;
      case Operation.END:
        message.data = counts[message.id];
        break;
      default:
        counts[message.id] += 1;
        continue;
    }
    await carrier.send(message.bytes.subarray(0, length), from);
  }
}
