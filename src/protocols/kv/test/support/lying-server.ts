import {
  alloc,
  type Connection,
  type ConnectionRequest,
  listen,
  SendFlags,
  WcStatus,
} from '../../../../entry/index.js';
import {
  type Answered,
  decodeOffer,
  encodeResponse,
  encodeWelcome,
  NO_QUEUE_PAIRS,
  RequestView,
  Status,
  Transport,
} from '../../wire/index.js';
import type { Sim } from '../../../../entry/sim.js';
import { PORT } from './served.js';

const SESSION = { high: 1, low: 2 };
const EPOCH = 7;
const DEPTH = 64;
const BYTES = 4096;

/** What a server says that says what it likes; undefined: nothing. */
export type Lie = (request: RequestView, connection: Connection) => Partial<Answered> | undefined;

/** A server by `rc` on a host of its own that takes every client, and answers with lies. @param depth requests that it takes; 0: none ever */
export async function lyingServer(sim: Sim, lie: Lie, depth = DEPTH): Promise<void> {
  const host = sim.host('server');
  const listener = await host.run(() => listen({ port: PORT, context: host.context }));
  void listener.serve(async (request) => {
    const connection = await accepted(request);
    if (depth === 0) await connection.closed;
    else await answerAll(connection, lie, depth);
  });
}

function accepted(request: ConnectionRequest): Promise<Connection> {
  const offer = decodeOffer(request.privateData);
  if (typeof offer === 'string') throw new Error(offer);
  const privateData = encodeWelcome({
    transport: Transport.RC,
    window: offer.window,
    session: SESSION,
    epoch: EPOCH,
    slotBytes: BYTES,
    pairs: NO_QUEUE_PAIRS,
    addr: 0n,
    rkey: 0,
  });
  const cap = { maxSendWr: DEPTH, maxRecvWr: DEPTH, maxSendSge: 1, maxRecvSge: 1 };
  return request.accept({ privateData, qp: { cap }, rnrRetryCount: 7 });
}

async function answerAll(connection: Connection, lie: Lie, depth: number): Promise<void> {
  const requests = connection.regMsgs(alloc(depth * BYTES));
  const answers = connection.regMsgs(alloc(BYTES));
  const view = new RequestView();
  const receive = (place: number): void => connection.postRecv(place, requests.sge(place * BYTES, BYTES));
  for (let place = 0; place < depth; place += 1) receive(place);
  for (;;) {
    const { status, wrId, byteLen } = await connection.recvComp();
    if (status !== WcStatus.SUCCESS) return;
    const at = Number(wrId) * BYTES;
    const problem = view.look(requests.bytes.slice(at, at + byteLen));
    if (problem !== undefined) throw new Error(problem);
    receive(Number(wrId));
    const told = lie(view, connection);
    if (told === undefined) continue;
    const { slot, sequence } = view;
    const value = told.value ?? new Uint8Array(0);
    const answer = { status: Status.OK, version: 0n, value, valueBytes: value.length, ...told };
    const bytes = encodeResponse(answers.bytes, { session: SESSION, epoch: EPOCH, slot, sequence }, answer);
    connection.postSend(1, answers.sge(0, bytes), SendFlags.SIGNALED);
    await connection.sendComp();
  }
}
