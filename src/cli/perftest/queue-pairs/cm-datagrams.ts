import { setImmediate } from 'node:timers/promises';
import {
  type CmEvent,
  CmEventType,
  type CmId,
  CmOption,
  type Cq,
  createEventChannel,
  createId,
  type EventChannel,
  PortSpace,
  type Qp,
  RDMA_UDP_QKEY,
  SendFlags,
  VerbsError,
  WcStatus,
  type WorkCompletion,
  WrOpcode,
} from '../../../entry/index.js';
import { adviceOn } from '../../rdmacm/common/event-text.js';
import { attempt, ToolError } from '../../kit/errors.js';
import { type CmOpening, insist } from './cm-opening.js';
import type { Datagrams, QueuePairs } from './queue-pairs.js';

const RESOLVE_MS = 2000;
/** A message that tells where it comes from: the number of its queue pair, in bytes and as immediate data. */
const NUMBER_BYTES = 4;
const GRH_BYTES = 40;
/** It may be lost. */
const PATIENCE_MS = 10_000;

/** A queue pair for datagrams by rdma_cm, and where its messages go, if it sends any. */
export interface DatagramPair {
  readonly qp: Qp;
  readonly datagrams: Datagrams | undefined;
}

async function expectEvent(channel: EventChannel, expected: CmEventType): Promise<CmEvent> {
  const { value: event } = await channel[Symbol.asyncIterator]().next();
  if (event === undefined) throw new ToolError('The device is gone.');
  event.ack();
  if (event.event === expected) return event;
  const message = `Failed to connect through RDMA CM. ${adviceOn(event)}`;
  // Nobody listens there yet.
  const refused = event.event === CmEventType.UNREACHABLE && event.status > 0;
  if (refused) throw new VerbsError('rdma_connect', { errno: 'ECONNREFUSED', message, advice: '' });
  throw new ToolError(message);
}

async function nextCompletion(cq: Cq, what: string): Promise<WorkCompletion> {
  const end = performance.now() + PATIENCE_MS;
  while (performance.now() < end) {
    const completion = cq.poll(1).at(0);
    if (completion?.status === WcStatus.SUCCESS) return completion;
    if (completion !== undefined) throw new ToolError(`${what} failed: ${cq.context.explain(completion)}`);
    await setImmediate();
  }
  throw new ToolError(`${what} did not happen within ${PATIENCE_MS / 1000} s; a datagram may be lost: try again.`);
}

/** Finds queue pairs for datagrams by rdma_cm, on either side. */
export class DatagramPairs {
  readonly #opening: CmOpening;
  readonly #port: number;
  readonly #tos: number | undefined;
  readonly #queuePairs: QueuePairs;
  /** Whether the server sends as well, and so must learn where to. */
  readonly #answers: boolean;
  readonly #channel: EventChannel;
  readonly #listener: CmId | undefined;

  /** Of a server, clients may come from now on. */
  constructor(opening: CmOpening, port: number, tos: number | undefined, queuePairs: QueuePairs, answers: boolean) {
    this.#opening = opening;
    this.#port = port;
    this.#tos = tos;
    this.#queuePairs = queuePairs;
    this.#answers = answers;
    this.#channel = createEventChannel({ contexts: [queuePairs.context] });
    if (opening.leads) return;
    const listener = createId(this.#channel, PortSpace.UDP);
    attempt('Failed to bind RDMA CM address on the server', () => listener.bindAddr({ host: opening.host, port }));
    attempt('Failed to listen on RDMA CM server listen ID', () => listener.listen());
    this.#listener = listener;
  }

  async next(qpIndex: number): Promise<DatagramPair> {
    return this.#opening.leads ? insist(() => this.#ask(qpIndex)) : this.#answer(qpIndex);
  }

  /** No more of them. */
  stop(): void {
    this.#listener?.destroy();
  }

  async #ask(qpIndex: number): Promise<DatagramPair> {
    const { pd, init } = this.#queuePairs;
    // Each attempt on a channel of its own, since its events end with it.
    const channel = createEventChannel({ contexts: [this.#queuePairs.context] });
    const id = createId(channel, PortSpace.UDP);
    try {
      id.resolveAddr({ host: this.#opening.host, port: this.#port }, { timeoutMs: RESOLVE_MS });
      await expectEvent(channel, CmEventType.ADDR_RESOLVED);
      if (this.#tos !== undefined) id.setOption(CmOption.TOS, this.#tos);
      id.resolveRoute(RESOLVE_MS);
      await expectEvent(channel, CmEventType.ROUTE_RESOLVED);
      const qp = id.createQp(pd, init);
      id.connect();
      const { param } = await expectEvent(channel, CmEventType.ESTABLISHED);
      if (param.ud === undefined) throw new ToolError('The server told no queue pair for datagrams.');
      const { ahAttr, qpNum: remoteQpn, qkey: remoteQkey } = param.ud;
      const ah = attempt('Failed to create AH for RDMA CM connection', () => pd.createAh(ahAttr));
      const datagrams = { ah, remoteQpn, remoteQkey };
      if (this.#answers) await this.#introduce(qpIndex, qp, datagrams);
      return { qp, datagrams };
    } catch (error) {
      id[Symbol.dispose]();
      channel[Symbol.dispose]();
      throw error;
    }
  }

  async #introduce(qpIndex: number, qp: Qp, datagrams: Datagrams): Promise<void> {
    const { memory, sendCq } = this.#queuePairs;
    const at = memory.departures(qpIndex);
    qp.postSend({
      opcode: WrOpcode.SEND_WITH_IMM,
      immData: qp.qpNum,
      sendFlags: SendFlags.SIGNALED,
      sgList: [memory.mr.sge(at, NUMBER_BYTES)],
      ud: datagrams,
    });
    await nextCompletion(sendCq, 'Telling the QP number');
  }

  async #answer(qpIndex: number): Promise<DatagramPair> {
    const { pd, init, memory, recvCq } = this.#queuePairs;
    const { id } = await expectEvent(this.#channel, CmEventType.CONNECT_REQUEST);
    const qp = id.createQp(pd, init);
    const at = memory.arrivals(qpIndex);
    if (this.#answers) qp.postRecv({ sgList: [memory.mr.sge(at, GRH_BYTES + NUMBER_BYTES)] });
    id.accept({ qpNum: qp.qpNum });
    if (!this.#answers) return { qp, datagrams: undefined };
    const completion = await nextCompletion(recvCq, "Learning the client's QP number");
    const grh = memory.mr.bytes.slice(at, at + GRH_BYTES);
    const ah = attempt('Failed to create AH', () => pd.createAhFromWc(completion, grh));
    return { qp, datagrams: { ah, remoteQpn: completion.immData, remoteQkey: RDMA_UDP_QKEY } };
  }
}
