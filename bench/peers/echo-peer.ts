/** One of the two processes of `measure/echo.ts`: `echo-peer ADDRESS [HOST PORT]`, then orders. With a peer it is the client. */
import { setTimeout } from 'node:timers/promises';
import {
  alloc,
  type CmId,
  connect,
  type Connection,
  listen,
  type Mr,
  type Sge,
  WcStatus,
} from '../../src/entry/index.js';
import { LatencyRecorder } from '../measure/latency.js';
import type { EchoTask, Measurement } from '../measure/measurement.js';

/** What a peer can be told to do. */
export type EchoOrder = { readonly kind: 'hello' } | ({ readonly kind: 'ping' } & EchoTask);

/** The longest message. */
const MESSAGE_BYTES = 4096;
const DEPTH = 16;

const [address, host, port] = process.argv.slice(2);

/** Where a message arrives; what is sent lies before them. */
function place(memory: Mr, wrId: bigint): Sge {
  return memory.sge((Number(wrId) + 1) * MESSAGE_BYTES, MESSAGE_BYTES);
}

function register(id: CmId): Mr {
  return id.regMsgs(alloc((DEPTH + 1) * MESSAGE_BYTES));
}

function postAll(id: CmId, memory: Mr): void {
  for (let wrId = 0n; wrId < DEPTH; wrId += 1n) id.postRecv(wrId, place(memory, wrId));
}

/** Awaits a message, and posts the receive for another. @returns its length */
async function receive(connection: Connection, memory: Mr): Promise<number> {
  const completion = await connection.recvComp();
  if (completion.status !== WcStatus.SUCCESS) throw new Error(connection.qp.context.explain(completion));
  connection.postRecv(completion.wrId, place(memory, completion.wrId));
  return completion.byteLen;
}

async function echo(connection: Connection, memory: Mr): Promise<never> {
  for (;;) connection.postSend(0n, memory.sge(0, await receive(connection, memory)));
}

/** µs of a round trip. */
async function ping(connection: Connection, memory: Mr, { bytes, restMs, effort }: EchoTask): Promise<Measurement> {
  const recorder = new LatencyRecorder(effort, 1);
  recorder.start();
  do {
    if (restMs > 0) {
      await setTimeout(restMs);
      recorder.resume();
    }
    connection.postSend(0n, memory.sge(0, bytes));
    await receive(connection, memory);
  } while (recorder.lap());
  return recorder.measurement();
}

function onOrder(obey: (order: EchoOrder) => Promise<object>): void {
  // `measure/echo.ts` sends nothing else.
  process.on('message', (order: EchoOrder) => void obey(order).then((answer) => process.send?.(answer)));
}

async function serve(): Promise<void> {
  const listener = listen({ host: address });
  onOrder(() => Promise.resolve({ info: listener.address.port }));
  for await (const request of listener) {
    const memory = register(request.id);
    await echo(await request.accept({ prepare: (id) => postAll(id, memory) }), memory);
  }
}

async function play(): Promise<void> {
  let memory: Mr | undefined;
  const connection = await connect({
    host,
    port: Number(port),
    localAddress: address,
    prepare: (id) => {
      memory = register(id);
      postAll(id, memory);
    },
  });
  onOrder(async (order) => (order.kind === 'ping' && memory ? ping(connection, memory, order) : {}));
}

await (process.argv.length === 3 ? serve() : play());
