/** One of the two processes of `measure/streams.ts`: `stream-peer ADDRESS [HOST PORT]`, then orders. With a peer it is the client. */
import { connectStream, listenStreams, type StreamSocket } from '../../src/entry/rsocket.js';
import { LatencyRecorder } from '../measure/latency.js';
import type { EchoTask, Effort, Measurement } from '../measure/measurement.js';

/** What a peer can be told to do. */
export type StreamOrder =
  | { readonly kind: 'hello' }
  | ({ readonly kind: 'ping'; readonly legs: number } & EchoTask)
  | { readonly kind: 'drain'; readonly effort: Effort }
  | { readonly kind: 'pour'; readonly bytes: number }
  | { readonly kind: 'crowd'; readonly streams: number };

/** As C's rstream has them. */
const BUFFER_BYTES = 1 << 20;
const OPTIONS = { sendBufferBytes: BUFFER_BYTES, receiveBufferBytes: BUFFER_BYTES };
const [address, host, port] = process.argv.slice(2);

const nothing = (): void => {
  // Nobody waits for it.
};

/** What a stream tells, where only this matters. */
function tell(stream: StreamSocket, events: { readonly readable?: () => void; readonly writable?: () => void }): void {
  stream.events = { readable: nothing, writable: nothing, drained: nothing, closed: nothing, ...events };
}

/** Writes as much as is taken, and the rest as there is room. */
function writer(stream: StreamSocket): { write: (bytes: Uint8Array) => void; more: () => void } {
  let left: Uint8Array = new Uint8Array(0);
  const more = (): void => {
    left = left.subarray(stream.write(left));
  };
  return {
    more,
    write: (bytes) => {
      left = bytes;
      more();
    },
  };
}

function echo(stream: StreamSocket): void {
  const answer = (): void => {
    for (let bytes = stream.peek(); bytes.length > 0; bytes = stream.peek()) {
      const taken = stream.write(bytes);
      stream.consume(taken);
      if (taken < bytes.length) return;
    }
  };
  tell(stream, { readable: answer, writable: answer });
  answer();
}

function pings(stream: StreamSocket, { bytes, restMs, effort }: EchoTask, legs: number): Promise<Measurement> {
  const message = new Uint8Array(bytes);
  const answer = new Uint8Array(bytes);
  const recorder = new LatencyRecorder(effort, legs);
  const { write, more } = writer(stream);
  const send = (): void => {
    recorder.resume();
    write(message);
  };
  return new Promise((resolve) => {
    let came = 0;
    const take = (): void => {
      for (let count = stream.read(answer); count > 0; count = stream.read(answer)) came += count;
      if (came < bytes) return;
      came -= bytes;
      if (!recorder.lap()) resolve(recorder.measurement());
      else if (restMs > 0) setTimeout(send, restMs);
      else write(message);
    };
    tell(stream, { readable: take, writable: more });
    recorder.start();
    write(message);
  });
}

/** 10^9 bytes a second that arrive, and are looked at in place. */
function drain(
  stream: StreamSocket,
  { stretches, stretchMs, warmUpMs }: Effort,
): Promise<Measurement & { bytes: number }> {
  return new Promise((resolve) => {
    const samples: number[] = [];
    const first = performance.now();
    let begun = first;
    let bytes = 0;
    let all = 0;
    const take = (): void => {
      for (let { length } = stream.peek(); length > 0; { length } = stream.peek()) {
        stream.consume(length);
        bytes += length;
        all += length;
      }
      const now = performance.now();
      if (now - first < warmUpMs) {
        begun = now;
        bytes = 0;
      } else if (now - begun >= stretchMs && samples.length < stretches) {
        samples.push(bytes / (now - begun) / 1e6);
        begun = now;
        bytes = 0;
        if (samples.length === stretches) resolve({ samples, bytes: all });
      }
    };
    tell(stream, { readable: take });
    take();
  });
}

function pour(stream: StreamSocket, bytes: number): void {
  const message = new Uint8Array(bytes);
  let left = message;
  const more = (): void => {
    for (;;) {
      const taken = stream.write(left);
      if (taken < left.length) {
        left = left.subarray(taken);
        return;
      }
      left = message;
    }
  };
  tell(stream, { writable: more });
  more();
}

async function obey(stream: StreamSocket, order: StreamOrder): Promise<object> {
  switch (order.kind) {
    case 'hello':
      return {};
    case 'ping':
      return pings(stream, order, order.legs);
    case 'drain':
      return Promise.reject(new Error('the server drains'));
    case 'pour':
      pour(stream, order.bytes);
      return {};
    case 'crowd':
      for (let i = 0; i < order.streams; i += 1) tell(await open(), {});
      return {};
  }
}

function open(): Promise<StreamSocket> {
  return connectStream({ host, port: Number(port), localAddress: address, ...OPTIONS });
}

function onOrder(take: (order: StreamOrder) => Promise<object>): void {
  // `measure/streams.ts` sends nothing else.
  process.on('message', (order: StreamOrder) => void take(order).then((answer) => process.send?.(answer)));
}

if (process.argv.length === 3) {
  const listener = listenStreams({ host: address, ...OPTIONS });
  const first = new Promise<StreamSocket>((resolve) => {
    listener.onStream = (stream) => {
      resolve(stream);
      echo(stream);
    };
  });
  // The client may be told of its connection before the server is.
  onOrder(async (order) =>
    order.kind === 'drain' ? drain(await first, order.effort) : { info: listener.address.port },
  );
} else {
  const stream = await open();
  tell(stream, {});
  onOrder((order) => obey(stream, order));
}
