import { WcOpcode, WcStatus } from '../../../device/ibta/index.js';
import type { CmId, Connection } from '../../../api/rdmacm/index.js';
import { type Cq, VerbsError } from '../../../api/verbs/index.js';
import { engineOf, type Lease, RcEndpoint } from '../../core/index.js';
import { lied, RsocketError } from '../errors.js';
import {
  type Announcement,
  type ControlMessage,
  type Ending,
  MAX_CHUNK,
  type Sizes,
  StreamProtocol,
  TARGETS,
} from '../protocol/index.js';
import { type ConnectionData, RSOCKET_VERSION, type Span, SPAN_BYTES, writeSpan } from '../wire/connection-data.js';
import { encodeIomapEntry, immediateOf, IOMAP_ENTRY_BYTES, Operation } from '../wire/message.js';
import { OWN_ORDER, StreamMemory } from './stream-memory.js';

const OWNER = 'verbena/rsocket';
/** What names a buffer, and an entry of a table, go inline whatever the program has asked for. */
export const MIN_INLINE = 24;

/** Kept with a request of the protocol itself; a request of data keeps its length. */
const CONTROL = -1;

/** What requests complete with that the peer's adapter does not answer. */
const UNANSWERED: readonly WcStatus[] = [WcStatus.RETRY_EXC_ERR, WcStatus.RNR_RETRY_EXC_ERR];

const BY_SEND = 'a message came by a SEND';

export interface EndpointListener {
  /** There is something to read, or nothing more will come. */
  onReadable(): void;
  /** The peer has room, or its adapter has something. */
  onProgress(): void;
  /** Nothing is sent or received any more. */
  onEnd(failure: RsocketError | undefined): void;
}

/** One end of a stream at work: the protocol bound to a queue pair and to memory. */
export class Endpoint extends RcEndpoint<number> {
  readonly memory: StreamMemory;
  listener: EndpointListener | undefined;
  /** Messages that were sent, and that have come. */
  messages = 0;
  #protocol: StreamProtocol | undefined;
  #peer: ConnectionData | undefined;
  #isKeepaliveDue = false;
  readonly #grant = new Uint8Array(SPAN_BYTES);
  readonly #grantView = new DataView(this.#grant.buffer);

  /** @throws VerbsError ENOMEM when there is no room for its requests or its memory */
  constructor(
    id: CmId,
    readonly sizes: Sizes,
  ) {
    super(engineOf(id), id, {
      owner: OWNER,
      sends: sizes.sqSize,
      receives: sizes.rqSize,
      bufferBytes: 0,
      inlineBytes: Math.max(sizes.inlineBytes, MIN_INLINE),
      // A chunk may wrap around the end of the send buffer.
      maxSendSge: 2,
    });
    try {
      this.memory = new StreamMemory(this.engine.pd, this.engine.spareMemory, sizes);
    } catch (error) {
      super.destroyed();
      throw error;
    }
  }

  get own(): ConnectionData {
    const { rqSize, iomapSize } = this.sizes;
    return {
      version: RSOCKET_VERSION,
      byteOrder: OWN_ORDER,
      hasIomap: true,
      credits: rqSize,
      iomapSize,
      targets: this.memory.targets,
      data: this.memory.half(0),
    };
  }

  get hasEnded(): boolean {
    return !this.isActive;
  }

  /** The connection is there, and this is what the peer said of itself. */
  protocolFor(peer: ConnectionData): StreamProtocol {
    this.#peer = peer;
    return new StreamProtocol(this.sizes, peer, this.memory);
  }

  /** Says and hears something from now on. */
  begin(protocol: StreamProtocol, connection: Connection): void {
    this.#protocol = protocol;
    this.opened();
    this.#pump();
    this.attach(connection);
  }

  /** Sends what there is room for. @returns how many bytes @throws VerbsError when the device is gone */
  write(protocol: StreamProtocol, bytes: Uint8Array): number {
    let taken = 0;
    for (let most = protocol.firstChunk; taken < bytes.length; most = Math.min(2 * most, MAX_CHUNK)) {
      const byteLength = protocol.chunk(bytes.length - taken, most);
      if (byteLength === 0) break;
      const chunk = byteLength === bytes.length ? bytes : bytes.subarray(taken, taken + byteLength);
      this.#postData(protocol, chunk, byteLength);
      taken += byteLength;
    }
    return taken;
  }

  /** Writes to what the peer has mapped there, as far as there is room. @returns how many bytes @throws VerbsError when the device is gone */
  writeMapped(protocol: StreamProtocol, bytes: Uint8Array, { addr, key, length }: Span): number {
    const total = Math.min(bytes.length, length);
    let taken = 0;
    for (let most = protocol.firstChunk; taken < total; most = Math.min(2 * most, MAX_CHUNK)) {
      const byteLength = protocol.mappedChunk(total - taken, most);
      if (byteLength === 0) break;
      this.sends.begin(byteLength)?.wrRdmaWrite(key, addr + BigInt(taken));
      this.#setData(protocol, bytes.subarray(taken, taken + byteLength), byteLength);
      this.sends.post();
      protocol.sentMapped(byteLength);
      taken += byteLength;
    }
    return taken;
  }

  /** What was mapped, or is mapped no longer, is to be told. */
  announce(): void {
    this.#pump();
  }

  /** So many bytes were read. */
  consume(protocol: StreamProtocol, byteLength: number): void {
    protocol.incoming.consume(byteLength);
    this.#pump();
    if (this.state === 'closed') this.#releaseReceive();
  }

  shut(protocol: StreamProtocol, ending: Ending): void {
    protocol.end(ending);
    this.#pump();
  }

  /** Has the peer's adapter be asked whether it is there. */
  keepAlive(): void {
    this.#isKeepaliveDue = true;
    this.#pump();
  }

  /** Nothing is sent or received any more. What has come can still be read. */
  end(failure: RsocketError | undefined): void {
    // A peer may connect, talk and leave before this program has noticed: its messages are delivered first.
    if (this.defer(() => this.end(failure)) || !this.drain()) return;
    this.listener?.onEnd(failure);
  }

  protected onDisconnected(): void {
    this.#lose();
  }

  override destroyed(): void {
    if (this.state === 'closed') return;
    super.destroyed();
    this.memory[Symbol.dispose]();
    this.#releaseReceive();
  }

  onDone(kept = 0): void {
    const protocol = this.#protocol;
    if (protocol === undefined) return;
    if (kept === CONTROL) protocol.completedControl();
    else protocol.completedData(kept);
    this.listener?.onProgress();
    this.#pump();
  }

  onFailed(kept: number | undefined, _: Lease | undefined, cq: Cq | undefined): void {
    if (cq === undefined) this.onReceiveLost();
    else {
      const target = kept === CONTROL ? 'where it is to be told of buffers' : 'the buffer that it has named';
      this.#onError(cq, target);
      this.#pump();
    }
  }

  onRefused(error: VerbsError): never {
    throw error;
  }

  onMessage(slot: number, _: Uint8Array, cq: Cq): void {
    const { immData, byteLen, opcode } = cq;
    if (opcode !== WcOpcode.RECV_RDMA_WITH_IMM) this.end(lied(BY_SEND));
    else if (this.state === 'connecting') this.defer(() => this.#hear(slot, immData, byteLen));
    else this.#hear(slot, immData, byteLen);
    this.#pump();
  }

  onReceiveError(cq: Cq): void {
    this.#onError(cq, undefined);
    this.#pump();
  }

  override onReceiveRefused(): void {
    this.#lose();
  }

  onReceiveLost(): void {
    this.#lose();
  }

  /** What has come can be read after the end; the last that reads it frees the buffer. */
  #releaseReceive(): void {
    if (this.#protocol === undefined || this.#protocol.incoming.unread === 0) this.memory.releaseReceive();
  }

  #hear(slot: number, immediate: number, byteLength: number): void {
    const protocol = this.#protocol;
    if (protocol === undefined || !this.isActive) return;
    this.messages += 1;
    const heard = protocol.hear(immediate, byteLength);
    if (heard === 'lie') {
      this.end(lied(protocol.lie));
      return;
    }
    this.receives.giveBack(slot);
    if (heard === 'data') this.listener?.onReadable();
    else if (heard === 'credit') this.listener?.onProgress();
    else if (heard === 'ending') {
      this.listener?.onReadable();
      this.listener?.onProgress();
    }
  }

  /** @param target what a send was for; undefined for a receive */
  #onError(cq: Cq, target: string | undefined): void {
    if (!this.isActive) return;
    if (cq.status === WcStatus.WR_FLUSH_ERR) this.#lose(this.engine.context.explain(cq.workCompletion()));
    else if (UNANSWERED.includes(cq.status) && this.#protocol?.isWhole === true) this.end(undefined);
    else this.end(this.#failureOf(cq, target));
  }

  #failureOf(cq: Cq, target: string | undefined): RsocketError {
    if (target === undefined && cq.status === WcStatus.LOC_LEN_ERR) return lied(BY_SEND);
    const message = this.engine.context.explain(cq.workCompletion());
    switch (cq.status) {
      case WcStatus.RETRY_EXC_ERR:
      case WcStatus.RNR_RETRY_EXC_ERR:
        return new RsocketError('rsocket', {
          errno: 'ETIMEDOUT',
          message: `the peer does not answer: ${message}`,
          advice: '',
        });
      case WcStatus.LOC_ACCESS_ERR:
        return lied(`it wrote to where it may not: ${message}`);
      case WcStatus.REM_ACCESS_ERR:
      case WcStatus.REM_INV_REQ_ERR:
        return lied(`${target} cannot be written to: ${message}`);
      default:
        return new RsocketError('rsocket', { errno: 'EIO', message, advice: '' });
    }
  }

  /** Nothing is carried out any more. That is no failure once both directions have ended, and all that was sent has arrived. */
  #lose(why = ''): void {
    const protocol = this.#protocol;
    if (this.defer(() => this.#lose(why)) || protocol === undefined) return;
    const { failure } = this.engine;
    if (failure !== undefined)
      this.end(
        new RsocketError('rsocket', { errno: 'ENODEV', message: failure.message, advice: '' }, { cause: failure }),
      );
    else if (protocol.isWhole) this.end(undefined);
    else this.end(lost(why));
  }

  #postData(protocol: StreamProtocol, chunk: Uint8Array, byteLength: number): void {
    const { outgoing } = protocol;
    this.sends.begin(byteLength)?.wrRdmaWriteImm(outgoing.key, outgoing.addr, immediateOf(Operation.DATA, byteLength));
    this.#setData(protocol, chunk, byteLength);
    this.sends.post();
    protocol.sentData(byteLength);
    this.messages += 1;
  }

  /** Small ones go into the request, others by the send buffer. */
  #setData(protocol: StreamProtocol, chunk: Uint8Array, byteLength: number): void {
    const { qp, memory } = this;
    const { ring } = protocol;
    if (protocol.isInline(byteLength)) qp.wrSetInlineData(chunk);
    else if (ring.beforeEnd(byteLength) === byteLength) {
      memory.sendBytes.set(chunk, ring.at);
      qp.wrSetSge(memory.sendLkey, memory.sendAddr + ring.at, byteLength);
    } else qp.wrSetSgeList(memory.wrapped(chunk, ring.at));
  }

  #postAnnouncement(protocol: StreamProtocol, { index, entry }: Announcement): void {
    const peer = this.#peer;
    const qp = peer === undefined ? undefined : this.sends.begin(0);
    if (qp === undefined || peer === undefined) return;
    const { addr, key } = peer.targets;
    const at = addr + BigInt(TARGETS * SPAN_BYTES + index * IOMAP_ENTRY_BYTES);
    qp.wrRdmaWriteImm(key, at, immediateOf(Operation.IOMAP_SGL, index));
    qp.wrSetInlineData(encodeIomapEntry(entry, peer.byteOrder));
    this.sends.post();
    protocol.announced();
    this.messages += 1;
  }

  #postControl(protocol: StreamProtocol, { immediate, hasGrant, grantAt, entry }: ControlMessage): void {
    const qp = this.sends.begin(CONTROL);
    if (qp === undefined) return;
    const peer = this.#peer;
    if (hasGrant && peer !== undefined) {
      const { addr, key } = peer.targets;
      qp.wrRdmaWriteImm(key, addr + BigInt(entry * SPAN_BYTES), immediate);
      writeSpan(this.#grantView, 0, this.memory.half(grantAt), peer.byteOrder);
      qp.wrSetInlineData(this.#grant);
    } else qp.wrRdmaWriteImm(0, 0, immediate);
    this.sends.post();
    this.messages += 1;
  }

  /** Sends what the protocol has to say by itself. */
  #pump(): void {
    const protocol = this.#protocol;
    if (protocol === undefined || !this.isActive) return;
    try {
      for (let control = protocol.nextControl(); control !== undefined; control = protocol.nextControl())
        this.#postControl(protocol, control);
      for (let next = protocol.nextAnnouncement(); next !== undefined; next = protocol.nextAnnouncement())
        this.#postAnnouncement(protocol, next);
      if (!this.#isKeepaliveDue || !protocol.takeControlSlot()) return;
      this.#isKeepaliveDue = false;
      this.sends.beginProbe(CONTROL);
      this.sends.post();
    } catch (error) {
      this.#giveUp(error);
    }
  }

  /** A call failed that fails only when device or queue pair are gone. */
  #giveUp(error: unknown): void {
    if (!(error instanceof VerbsError)) throw error;
    this.#lose();
  }
}

function lost(why: string): RsocketError {
  const message = why === '' ? 'the peer is gone' : `the connection is gone: ${why}`;
  return new RsocketError('rsocket', { errno: 'ECONNRESET', message, advice: '' });
}
