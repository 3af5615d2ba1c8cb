/** One of the two processes of `measure/net.ts`: `net-peer server` or `net-peer client PORT`, then orders. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { LatencyRecorder } from '../measure/latency.js';
import type { EchoTask, Effort, Measurement } from '../measure/measurement.js';

/** What a peer can be told to do. */
export type NetOrder =
  | { readonly kind: 'hello' }
  | ({ readonly kind: 'ping'; readonly legs: number } & EchoTask)
  | { readonly kind: 'echo' }
  | { readonly kind: 'drain'; readonly effort: Effort }
  | { readonly kind: 'pour'; readonly bytes: number }
  | { readonly kind: 'connect'; readonly connections: number; readonly runs: number };

const [role, port] = process.argv.slice(2);

function pings(socket: Socket, { bytes, restMs, effort }: EchoTask, legs: number): Promise<Measurement> {
  const message = Buffer.alloc(bytes);
  const recorder = new LatencyRecorder(effort, legs);
  const send = (): void => {
    recorder.resume();
    socket.write(message);
  };
  return new Promise((resolve) => {
    let came = 0;
    socket.on('data', (chunk) => {
      came += chunk.length;
      if (came < bytes) return;
      came -= bytes;
      if (!recorder.lap()) resolve(recorder.measurement());
      else if (restMs > 0) setTimeout(send, restMs);
      else socket.write(message);
    });
    recorder.start();
    socket.write(message);
  });
}

/** 10^9 bytes a second that arrive. */
function drain(socket: Socket, { stretches, stretchMs, warmUpMs }: Effort): Promise<Measurement & { bytes: number }> {
  return new Promise((resolve) => {
    const samples: number[] = [];
    const first = performance.now();
    let begun = first;
    let bytes = 0;
    let all = 0;
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      all += chunk.length;
      const now = performance.now();
      if (now - first < warmUpMs) {
        begun = now;
        bytes = 0;
      } else if (now - begun >= stretchMs) {
        samples.push(bytes / (now - begun) / 1e6);
        begun = now;
        bytes = 0;
      }
      if (samples.length === stretches) resolve({ samples, bytes: all });
    });
  });
}

function pour(socket: Socket, bytes: number): void {
  const message = Buffer.alloc(bytes);
  const more = (): void => {
    while (socket.write(message));
  };
  socket.on('drain', more);
  more();
}

/** Connections made and ended in a second, so many together. */
async function connections(count: number, runs: number): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < runs; i += 1) {
    const begun = performance.now();
    const sockets = Array.from({ length: count }, () => connect(Number(port), '127.0.0.1'));
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    const closed = sockets.map((socket) => once(socket, 'close'));
    for (const socket of sockets) socket.resume().end();
    await Promise.all(closed);
    samples.push((count * 1000) / (performance.now() - begun));
  }
  return samples;
}

async function obey(socket: Socket, order: NetOrder): Promise<void> {
  switch (order.kind) {
    case 'hello':
      return;
    case 'ping':
      process.send?.(await pings(socket, order, order.legs));
      return;
    case 'echo':
      socket.on('data', (chunk) => socket.write(chunk));
      process.send?.({});
      return;
    case 'drain':
      process.send?.(await drain(socket, order.effort));
      return;
    case 'pour':
      pour(socket, order.bytes);
      process.send?.({});
      return;
    case 'connect':
      process.send?.({ samples: await connections(order.connections, order.runs) });
  }
}

function ready(socket: Socket): void {
  socket.setNoDelay(true);
  // `measure/net.ts` sends nothing else.
  process.on('message', (order: NetOrder) => void obey(socket, order));
}

if (role === 'server') {
  const server = createServer((socket) => socket.resume());
  // Orders are for the first; the others are there to be counted.
  server.once('connection', ready);
  server.listen(0, '127.0.0.1', () => {
    process.once('message', () => process.send?.({ info: server.address() }));
  });
} else {
  const socket = connect(Number(port), '127.0.0.1', () => {
    process.once('message', () => process.send?.({}));
    ready(socket);
  });
}
