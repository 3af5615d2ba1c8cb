/** One of the two processes of `measure/dgram.ts`. */
import { createSocket } from 'node:dgram';
import { LatencyRecorder } from '../measure/latency.js';
import type { Effort, Measurement } from '../measure/measurement.js';

/** What a peer can be told to do. */
export type DgramOrder =
  | { readonly kind: 'hello' }
  | { readonly kind: 'echo' }
  | { readonly kind: 'ping'; readonly port: number; readonly bytes: number; readonly effort: Effort };

const LOOPBACK = '127.0.0.1';
const socket = createSocket('udp4');

function pings(port: number, bytes: number, effort: Effort): Promise<Measurement> {
  const message = Buffer.alloc(bytes);
  const recorder = new LatencyRecorder(effort);
  return new Promise((resolve) => {
    socket.on('message', () => {
      if (recorder.lap()) socket.send(message, port, LOOPBACK);
      else resolve(recorder.measurement());
    });
    recorder.start();
    socket.send(message, port, LOOPBACK);
  });
}

async function obey(order: DgramOrder): Promise<void> {
  switch (order.kind) {
    case 'hello':
      process.send?.({ info: socket.address() });
      return;
    case 'echo':
      socket.on('message', (message, { port, address }) => socket.send(message, port, address));
      process.send?.({});
      return;
    case 'ping':
      process.send?.(await pings(order.port, order.bytes, order.effort));
  }
}

socket.bind(0, LOOPBACK, () => {
  // `measure/dgram.ts` sends nothing else.
  process.on('message', (order: DgramOrder) => void obey(order));
});
