import { viewOf } from '../../../device/wire/index.js';
import { partOf, type PeerProblem, Protocol } from '../protocol/index.js';
import type { Completion, Memory, Packer, Waiting } from '../uct/index.js';
import {
  AmId,
  Heads,
  type MessageOf,
  Messages,
  RkeyAccess,
  type RtsOpcode,
  UcsStatus,
  ucsStatusName,
} from '../wire/index.js';
import type { EndpointParts } from './endpoint-parts.js';
import { lie } from './errors.js';
import type { Counters } from './statistics.js';

/** What a message says of itself to its receiver, beside where it lies. */
export interface RendezvousHead {
  /** A tag, or what an active message says instead of one. */
  readonly header: bigint;
  readonly opcode: RtsOpcode;
  /** The header of an active message that the program gave. */
  readonly userHeader: Uint8Array;
}

type Phase =
  /** It waits for room to say that the message is there. */
  | 'announcing'
  | 'announced'
  /** The receiver has named its buffer, to which this end writes. */
  | 'writing'
  /** The receiver has asked for the data, which goes in parts. */
  | 'sending'
  | 'ended';

/** A message that goes when its receiver wants it: sent by `RNDV_RTS`, and then read by the receiver, or written to where that says, or sent in parts. */
export class RendezvousSend implements Waiting, Packer, Completion {
  readonly requestId: number;
  /** Bytes of the message. */
  readonly #size: number;
  #phase: Phase = 'announcing';
  /** What the receiver may read. */
  #exposed: Memory | undefined;
  #borrowed: Memory | undefined;
  #isWriting = false;
  #isGivenUp = false;
  #movedBytes = 0;
  #asked: MessageOf<'RNDV_RTR'> | undefined;

  /**
   * @param protocol one by rendezvous
   * @param onDone is told once what became of it; nobody reads the data any more
   * @param onForgotten the peer says nothing of it any more
   */
  constructor(
    private readonly parts: EndpointParts,
    private readonly data: Uint8Array,
    private readonly head: RendezvousHead,
    private readonly protocol: Protocol,
    private readonly onDone: (status: UcsStatus) => void,
    private readonly onForgotten: (send: RendezvousSend) => void,
  ) {
    this.requestId = parts.worker.nextNumber();
    this.#size = data.length;
  }

  begin(): void {
    const { data, protocol } = this;
    if (protocol === Protocol.RNDV_GET && this.#size > 0)
      this.#exposed = this.parts.worker.domain.tryRegister(data, RkeyAccess.READ);
    this.parts.go(this);
  }

  giveUp(): void {
    if (this.#phase === 'ended' || this.#isGivenUp) return;
    this.#isGivenUp = true;
    if (this.#phase === 'announcing') {
      this.#end(UcsStatus.UCS_ERR_CANCELED);
    } else if (this.#phase === 'announced') {
      // The receiver may be reading it now, and has all of it then.
      this.#exposed?.redirect();
      this.parts.say(AmId.RNDV_CANCEL, Messages.RNDV_CANCEL, { head: { requestId: this.requestId } });
    } else if (this.#isWriting) {
      this.#borrowed?.redirect();
    } else {
      this.#withdraw();
    }
  }

  /** The receiver has it, or does not want it. */
  onAts(status: UcsStatus): PeerProblem | undefined {
    if (this.#phase !== 'announced') return lie(`request ${this.requestId} is answered, and its data was asked for`);
    this.#end(status);
    return undefined;
  }

  onRtr(asked: MessageOf<'RNDV_RTR'>): PeerProblem | undefined {
    const { size, offset } = asked.head;
    if (this.#phase !== 'announced') return lie(`the data of request ${this.requestId} is asked for twice`);
    if (offset !== 0 || size !== this.#size)
      return lie(`${size} bytes from ${offset} on are asked for, of a message of ${this.#size}`);
    this.#asked = asked;
    if (this.#isGivenUp) {
      this.#withdraw();
      return undefined;
    }
    const { transport, worker } = this.parts;
    const mayWrite = this.protocol !== Protocol.RNDV_AM && transport.capabilities.put.zcopy > 0;
    if (mayWrite && asked.rkey !== undefined) this.#borrowed = worker.domain.borrow(this.data);
    this.#phase = this.#borrowed === undefined ? 'sending' : 'writing';
    this.#noteAsked(worker.counters);
    this.parts.go(this);
    return undefined;
  }

  onEnded(status: UcsStatus): void {
    this.#end(status);
  }

  retry(): UcsStatus {
    switch (this.#phase) {
      case 'announcing': {
        const status = this.parts.transport.amBcopy(AmId.RNDV_RTS, this);
        if (status === UcsStatus.UCS_OK) this.#phase = 'announced';
        return this.#unlessOver(status);
      }
      case 'writing':
        return this.#unlessOver(this.#write());
      case 'sending':
        return this.#unlessOver(this.#send());
      default:
        return UcsStatus.UCS_OK;
    }
  }

  onComplete(status: UcsStatus): void {
    this.#isWriting = false;
    if (this.#phase === 'ended') this.#release();
    else if (status !== UcsStatus.UCS_OK) this.#end(status);
    else if (this.#isGivenUp && this.#movedBytes < this.#size) this.#withdraw();
    else this.parts.go(this);
  }

  pack(into: Uint8Array): number {
    const { requestId } = this;
    if (this.#phase === 'announcing') {
      const { header, opcode, userHeader } = this.head;
      const { epId } = this.parts;
      const [address, size] = [this.#exposed?.address ?? 0n, this.#size];
      const head = { header, epId, requestId, address, size, opcode };
      return Messages.RNDV_RTS.encode(into, { head, rkey: this.#exposed?.key, userHeader });
    }
    const offset = this.#movedBytes;
    const at = Heads.RNDV_DATA.write(viewOf(into), 0, { requestId: this.#receiveId, offset });
    const part = partOf(this.data, offset, Math.min(offset + into.length - at, this.#size));
    into.set(part, at);
    this.#movedBytes += part.length;
    return at + part.length;
  }

  get #receiveId(): number {
    return this.#asked?.head.receiveRequestId ?? 0;
  }

  #write(): UcsStatus {
    const length = this.#size;
    const { transport } = this.parts;
    const [memory, asked] = [this.#borrowed, this.#asked];
    while (this.#movedBytes < length && memory !== undefined && asked?.rkey !== undefined) {
      const offset = this.#movedBytes;
      const place = { memory, offset, length: Math.min(length - offset, transport.capabilities.put.zcopy) };
      const to = { rkey: asked.rkey.rkey, address: asked.head.address + BigInt(offset) };
      const status = transport.putZcopy(place, to, this);
      if (status === UcsStatus.UCS_OK || status === UcsStatus.UCS_INPROGRESS) this.#movedBytes += place.length;
      this.#isWriting = status === UcsStatus.UCS_INPROGRESS;
      if (status !== UcsStatus.UCS_OK) return status;
    }
    this.#tell(UcsStatus.UCS_OK);
    this.#end(UcsStatus.UCS_OK);
    return UcsStatus.UCS_OK;
  }

  #send(): UcsStatus {
    while (this.#movedBytes < this.#size) {
      const status = this.parts.transport.amBcopy(AmId.RNDV_DATA, this);
      if (status !== UcsStatus.UCS_OK) return status;
    }
    this.#end(UcsStatus.UCS_OK);
    return UcsStatus.UCS_OK;
  }

  /** The receiver waits for data that does not come. */
  #withdraw(): void {
    this.#tell(UcsStatus.UCS_ERR_CANCELED);
    this.#end(UcsStatus.UCS_ERR_CANCELED);
  }

  #tell(status: UcsStatus): void {
    const head = { requestId: this.#receiveId, status };
    this.parts.say(AmId.RNDV_ATP, Messages.RNDV_ATP, { head, size: undefined });
  }

  #unlessOver(status: UcsStatus): UcsStatus {
    const isOver = status < 0 && status !== UcsStatus.UCS_ERR_NO_RESOURCE;
    if (isOver) this.#end(status);
    return status;
  }

  #end(status: UcsStatus): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'ended';
    if (this.#isWriting) this.#borrowed?.redirect();
    else this.#release();
    this.#exposed?.deregister();
    this.#exposed = undefined;
    this.onForgotten(this);
    if (status === UcsStatus.UCS_OK) this.parts.worker.counters.txRndvBytes += this.#size;
    if (this.parts.isDebug) this.#say(`sent, with ${ucsStatusName(status) ?? status}`);
    this.onDone(status);
  }

  #noteAsked(counters: Counters): void {
    const isWriting = this.#phase === 'writing';
    if (isWriting) counters.rndvPutZcopy += 1;
    else counters.rndvAm += 1;
    if (this.parts.isDebug) this.#say(`asked for, and ${isWriting ? 'written' : 'sent in parts'}`);
  }

  #say(text: string): void {
    this.parts.debug(`rendezvous ${this.requestId}: ${text}`);
  }

  #release(): void {
    this.#borrowed?.deregister();
    this.#borrowed = undefined;
  }
}
