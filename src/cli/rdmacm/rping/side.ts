import {
  AccessFlags,
  alloc,
  type CmId,
  type Mr,
  type Pd,
  type Qp,
  SendFlags,
  WcOpcode,
  WcStatus,
  type WorkCompletion,
  WrOpcode,
} from '../../../entry/index.js';
import { Completions } from '../common/completions.js';
import { verbsOf } from '../common/hosting.js';
import { attempt, sentence } from '../../kit/errors.js';
import { type Advertisement, MESSAGE_BYTES, readMessage, writeMessage } from './message.js';
import { bringUp, connParam, CQ_DEPTH, createQp, destroyQp, disconnect } from './queue-pair.js';
import { type Progress, State } from './state.js';
import type { RpingFlags } from './flags.js';

export interface Voice {
  /** To standard output, or with --json, which has that for itself, to standard error. */
  readonly say: (text: string) => void;
  /** The same, only with -d. */
  readonly debug: (text: string) => void;
  /** To standard error. */
  readonly complain: (text: string) => void;
}

export function voiceOf({ d, json }: RpingFlags): Voice {
  const stream = json === true ? process.stderr : process.stdout;
  const say = (text: string): void => void stream.write(`${text}\n`);
  const complain = (text: string): void => void process.stderr.write(`${text}\n`);
  return { say, debug: d === true ? say : () => undefined, complain };
}

const REMOTE = AccessFlags.LOCAL_WRITE | AccessFlags.REMOTE_READ | AccessFlags.REMOTE_WRITE;

/** What completes, but for messages that come, and the state that it brings. */
const KINDS: ReadonlyMap<WcOpcode, { readonly name: string; readonly state?: State }> = new Map([
  [WcOpcode.SEND, { name: 'send' }],
  [WcOpcode.RDMA_WRITE, { name: 'rdma write', state: State.RDMA_WRITE_COMPLETE }],
  [WcOpcode.RDMA_READ, { name: 'rdma read', state: State.RDMA_READ_COMPLETE }],
]);

export interface SideSetup {
  readonly id: CmId;
  readonly sizeBytes: number;
  /** Make and move the queue pair by verbs. */
  readonly ownQp: boolean;
  readonly progress: Progress;
  readonly voice: Voice;
  /** The state that a message brings, which is not to be seen from the message. */
  readonly stateAfter: (latest: State) => State;
}

/** One end of a connection: its queue pair, its memory, and what completes. */
export class Side {
  /** Where the server puts what it reads, and the client gets it back. */
  readonly data: Mr;
  readonly #setup: SideSetup;
  readonly #pd: Pd;
  readonly #completions: Completions;
  readonly #qp: Qp;
  readonly #incoming: Mr;
  readonly #outgoing: Mr;
  readonly #registered: Mr[] = [];
  #following: Promise<void> | undefined;
  #advertised: Advertisement = { addr: 0n, rkey: 0, lengthBytes: 0 };

  constructor(setup: SideSetup) {
    const { id, sizeBytes, ownQp, voice } = setup;
    this.#setup = setup;
    const context = verbsOf(id);
    this.#pd = attempt('ibv_alloc_pd failed', () => context.allocPd());
    voice.debug('created pd');
    this.#completions = attempt('ibv_create_cq failed', () => new Completions(context, CQ_DEPTH));
    voice.debug('created cq');
    this.#qp = createQp(id, this.#pd, this.#completions.cq, ownQp);
    voice.debug(`created qp 0x${this.#qp.qpNum.toString(16)}`);
    this.#incoming = this.register('recv_buf', MESSAGE_BYTES, AccessFlags.LOCAL_WRITE);
    this.#outgoing = this.register('send_buf', MESSAGE_BYTES, 0);
    this.data = this.register('rdma_buf', sizeBytes, REMOTE);
    voice.debug('allocated & registered buffers...');
    this.#postReceive();
  }

  /** Memory of this connection, by its name in the C tool. */
  register(name: string, bytes: number, access: number = REMOTE): Mr {
    const mr = attempt(`${name} reg_mr failed`, () => this.#pd.regMr(alloc(bytes), access));
    this.#registered.push(mr);
    return mr;
  }

  /** What the peer's latest message said. */
  get advertised(): Advertisement {
    return this.#advertised;
  }

  connect(): void {
    this.#follow();
    const { id, ownQp } = this.#setup;
    id.connect(connParam(this.#qp, ownQp));
  }

  /** Brings a queue pair of our own up, once the server has answered; the other kind is by then. */
  establish(): void {
    const { id, ownQp } = this.#setup;
    if (!ownQp) return;
    bringUp(id, this.#qp);
    id.establish();
  }

  accept(): void {
    this.#follow();
    const { id, ownQp } = this.#setup;
    if (ownQp) bringUp(id, this.#qp);
    id.accept(ownQp ? connParam(this.#qp, ownQp) : undefined);
  }

  /** Tells the peer of memory of ours, or, with what was told before, just to go on. */
  send(memory?: Mr): void {
    if (memory !== undefined) {
      const { iova: addr, rkey, length: lengthBytes } = memory;
      this.#setup.voice.debug(`RDMA addr ${addr.toString(16)} rkey ${rkey.toString(16)} len ${lengthBytes}`);
      writeMessage(this.#outgoing.bytes, { addr, rkey, lengthBytes });
    }
    const request = { opcode: WrOpcode.SEND, sendFlags: SendFlags.SIGNALED, sgList: [this.#outgoing.sge()] } as const;
    attempt('post send error', () => this.#qp.postSend(request));
  }

  /** Reads from or writes to the memory that the peer advertised, from the beginning of {@link data}. */
  move(opcode: typeof WrOpcode.RDMA_READ | typeof WrOpcode.RDMA_WRITE, lengthBytes: number): void {
    const { addr, rkey } = this.#advertised;
    attempt('post send error', () =>
      this.#qp.postSend({
        opcode,
        sendFlags: SendFlags.SIGNALED,
        sgList: [this.data.sge(0, lengthBytes)],
        rdma: { remoteAddr: addr, rkey },
      }),
    );
  }

  disconnect(): void {
    disconnect(this.#setup.id, this.#qp, this.#setup.ownQp);
  }

  /** Ends all that it has, and its identifier's queue pair. */
  async close(): Promise<void> {
    destroyQp(this.#setup.id, this.#qp, this.#setup.ownQp);
    await this.#completions.close();
    await this.#following;
    for (const mr of this.#registered) mr.dereg();
    this.#pd.dealloc();
  }

  #postReceive(): void {
    attempt('ibv_post_recv failed', () => this.#qp.postRecv({ sgList: [this.#incoming.sge()] }));
  }

  #follow(): void {
    this.#following = this.#takeAll().catch((error: unknown) => this.#fail(sentence(error)));
  }

  async #takeAll(): Promise<void> {
    for (;;) {
      const completion = await this.#completions.next();
      if (completion === undefined) return;
      this.#take(completion);
    }
  }

  #take(completion: WorkCompletion): void {
    const { progress, voice } = this.#setup;
    // What is flushed belongs to a connection that has ended, of which an event tells.
    if (completion.status === WcStatus.WR_FLUSH_ERR) return;
    if (completion.status !== WcStatus.SUCCESS) {
      this.#fail(`cq completion failed status ${completion.status}\n${verbsOf(this.#setup.id).explain(completion)}`);
      return;
    }
    const kind = KINDS.get(completion.opcode);
    voice.debug(`${kind?.name ?? 'recv'} completion`);
    if (kind === undefined) this.#takeMessage(completion.byteLen);
    else if (kind.state !== undefined) progress.advance(kind.state);
  }

  #takeMessage(byteLen: number): void {
    const { progress, stateAfter } = this.#setup;
    if (byteLen !== MESSAGE_BYTES) {
      this.#fail(`Received bogus data, size ${byteLen}: the peer is not a rping, or speaks another version of it.`);
      return;
    }
    this.#advertised = readMessage(this.#incoming.bytes);
    this.#postReceive();
    progress.advance(stateAfter(progress.latest));
  }

  #fail(why: string): void {
    const { progress, voice } = this.#setup;
    // Of a connection that the peer has ended nothing else is news.
    if (progress.latest === State.DISCONNECTED) return;
    voice.complain(why);
    progress.advance(State.ERROR);
  }
}
