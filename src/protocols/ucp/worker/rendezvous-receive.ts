import { type MessageSource, type PeerProblem, putInto } from '../protocol/index.js';
import type { Completion, Memory, Packer, Waiting } from '../uct/index.js';
import { AmId, type MessageOf, Messages, RkeyAccess, UcsStatus, ucsStatusName } from '../wire/index.js';
import type { EndpointParts } from './endpoint-parts.js';
import { lie } from './errors.js';

type Phase =
  | 'announced'
  /** It is about to be fetched, as soon as there is room. */
  | 'starting'
  | 'reading'
  | 'asking'
  | 'asked'
  | 'ended';

const NOTHING: Uint8Array = new Uint8Array(0);

/** A message that a peer has announced by `RNDV_RTS`, and that is fetched once somebody wants it: read from where it lies, or asked for. */
export class RendezvousReceive implements MessageSource, Waiting, Packer, Completion {
  /** How this end names it when it asks. */
  readonly receiveId: number;
  /** Is told that it will not come, unless it was wanted before. */
  onWithdrawn: (status: UcsStatus) => void = () => undefined;
  #phase: Phase = 'announced';
  #into = NOTHING;
  #onEnded: (status: UcsStatus) => void = () => undefined;
  #memory: Memory | undefined;
  #isReading = false;
  #isCanceled = false;
  #movedBytes = 0;

  /** @param onForgotten the peer says nothing of it any more */
  constructor(
    private readonly parts: EndpointParts,
    readonly rts: MessageOf<'RNDV_RTS'>,
    private readonly mayWrite: boolean,
    private readonly onForgotten: (receive: RendezvousReceive) => void,
  ) {
    this.receiveId = parts.worker.nextNumber();
  }

  get sendId(): number {
    return this.rts.head.requestId;
  }

  /** Bytes of it. */
  get size(): number {
    return this.rts.head.size;
  }

  fetch(into: Uint8Array, onEnded: (status: UcsStatus) => void): void {
    if (this.#phase === 'ended') {
      onEnded(UcsStatus.UCS_ERR_CANCELED);
      return;
    }
    this.#phase = 'starting';
    this.#into = into;
    this.#onEnded = onEnded;
    this.parts.go(this);
  }

  cancel(): void {
    if (this.#phase === 'ended') return;
    this.#isCanceled = true;
    if (this.#isReading || this.#phase === 'asked') this.#memory?.redirect();
    else this.#refuse(UcsStatus.UCS_ERR_CANCELED);
    this.#into = NOTHING;
  }

  discard(): void {
    // The receiver's mistake, of which the sender learns nothing: as in UCX.
    this.#refuse(UcsStatus.UCS_OK);
  }

  /** The sender has given it up. What was begun goes on: it has all of it kept until then. */
  onCancel(): void {
    if (this.#phase === 'announced') this.#refuse(UcsStatus.UCS_ERR_CANCELED);
  }

  /** The next bytes have come. */
  onData(offset: number, payload: Uint8Array): PeerProblem | undefined {
    const { size } = this;
    if (this.#phase !== 'asked') return lie(`data comes of message ${this.sendId}, which was not asked for`);
    if (offset !== this.#movedBytes) return lie(`data comes from ${offset} on, and not from ${this.#movedBytes}`);
    if (offset + payload.length > size) return lie(`data comes beyond the ${size} bytes of message ${this.sendId}`);
    if (!this.#isCanceled) putInto(this.#into, payload, offset);
    this.#movedBytes += payload.length;
    if (this.#movedBytes === size) this.#end(UcsStatus.UCS_OK);
    return undefined;
  }

  /** The sender has written all, or will not. */
  onAtp(status: UcsStatus, size: number): PeerProblem | undefined {
    if (this.#phase !== 'asked') return lie(`message ${this.sendId} was written, and was not asked for`);
    if (status === UcsStatus.UCS_OK && (this.#memory === undefined || this.#movedBytes > 0 || size !== this.size))
      return lie(`all ${size} bytes of message ${this.sendId} were written, it says, and cannot have been`);
    this.#end(status);
    return undefined;
  }

  onFailed(status: UcsStatus): void {
    this.#end(status);
  }

  retry(): UcsStatus {
    if (this.#phase === 'starting') this.#start();
    if (this.#phase === 'reading') return this.#read();
    return this.#phase === 'asking' ? this.#ask() : UcsStatus.UCS_OK;
  }

  onComplete(status: UcsStatus): void {
    this.#isReading = false;
    if (this.#phase === 'ended') {
      this.#release();
    } else if (this.#isCanceled) {
      this.#refuse(UcsStatus.UCS_ERR_CANCELED);
    } else if (status === UcsStatus.UCS_OK) {
      this.#movedBytes += this.#nextBytes;
      this.parts.go(this);
    } else {
      this.#end(status);
    }
  }

  pack(into: Uint8Array): number {
    const { sendId: sendRequestId, receiveId: receiveRequestId, size } = this;
    const head = { sendRequestId, receiveRequestId, address: this.#memory?.address ?? 0n, size, offset: 0 };
    return Messages.RNDV_RTR.encode(into, { head, rkey: this.#memory?.key, userHeader: NOTHING });
  }

  get #nextBytes(): number {
    return Math.min(this.size - this.#movedBytes, this.parts.transport.capabilities.get.zcopy);
  }

  #start(): void {
    const { domain } = this.parts.worker;
    const { get, put } = this.parts.transport.capabilities;
    const isReadable = this.size === 0 || (this.rts.rkey !== undefined && get.zcopy > 0);
    if (isReadable && this.size > 0) this.#memory = domain.borrow(this.#into);
    if (this.size === 0 || this.#memory !== undefined) {
      this.#phase = 'reading';
      if (this.size > 0) this.parts.worker.counters.rndvGetZcopy += 1;
      if (this.parts.isDebug) this.#say('wanted, and read');
      return;
    }
    if (this.mayWrite && put.zcopy > 0) this.#memory = domain.tryRegister(this.#into, RkeyAccess.WRITE);
    this.#phase = 'asking';
    if (this.parts.isDebug) this.#say('wanted, and asked for');
  }

  #read(): UcsStatus {
    const { rts, size } = this;
    while (this.#movedBytes < size) {
      const [memory, offset, length] = [this.#memory, this.#movedBytes, this.#nextBytes];
      if (memory === undefined || rts.rkey === undefined) break;
      const from = { rkey: rts.rkey.rkey, address: rts.head.address + BigInt(offset) };
      const status = this.parts.transport.getZcopy({ memory, offset, length }, from, this);
      if (status === UcsStatus.UCS_OK) {
        this.#movedBytes += length;
        continue;
      }
      this.#isReading = status === UcsStatus.UCS_INPROGRESS;
      if (!this.#isReading && status !== UcsStatus.UCS_ERR_NO_RESOURCE) this.#refuse(status);
      return status;
    }
    this.#refuse(UcsStatus.UCS_OK);
    return UcsStatus.UCS_OK;
  }

  #ask(): UcsStatus {
    const status = this.parts.transport.amBcopy(AmId.RNDV_RTR, this);
    if (status === UcsStatus.UCS_OK) this.#phase = 'asked';
    else if (status !== UcsStatus.UCS_ERR_NO_RESOURCE) this.#end(status);
    return status;
  }

  /** The sender may have its memory back. */
  #refuse(status: UcsStatus): void {
    const head = { requestId: this.sendId, status };
    this.parts.say(AmId.RNDV_ATS, Messages.RNDV_ATS, { head, size: undefined });
    this.#end(status);
  }

  #end(status: UcsStatus): void {
    if (this.#phase === 'ended') return;
    const wasWanted = this.#phase !== 'announced';
    this.#phase = 'ended';
    if (wasWanted && status === UcsStatus.UCS_OK) this.parts.worker.counters.rxRndvBytes += this.size;
    if (this.parts.isDebug)
      this.#say(`${wasWanted ? 'received' : 'not wanted'}, with ${ucsStatusName(status) ?? status}`);
    if (this.#isReading) this.#memory?.redirect();
    else this.#release();
    this.#into = NOTHING;
    this.onForgotten(this);
    if (!wasWanted) this.onWithdrawn(status);
    else if (!this.#isCanceled) this.#onEnded(status);
  }

  #say(text: string): void {
    this.parts.debug(`rendezvous ${this.receiveId}: ${text}`);
  }

  #release(): void {
    this.#memory?.deregister();
    this.#memory = undefined;
  }
}
