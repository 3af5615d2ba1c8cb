import type { PeerProblem, Protocol, RndvScheme } from '../protocol/index.js';
import { AmId, type MessageOf, Messages, UcsStatus } from '../wire/index.js';
import type { EndpointParts, Family } from './endpoint-parts.js';
import { lie } from './errors.js';
import { RendezvousReceive } from './rendezvous-receive.js';
import { type RendezvousHead, RendezvousSend } from './rendezvous-send.js';

/** Takes a message that is announced, which it may fetch. @returns what is wrong with it, which ends the endpoint */
export type RtsTaker = (receive: RendezvousReceive) => PeerProblem | undefined;

/** All messages of an endpoint that go when their receiver wants them, whichever family's they are. */
export class Rendezvous implements Family {
  readonly #sends = new Map<number, RendezvousSend>();
  /** By the peer's numbers. */
  readonly #announced = new Map<number, RendezvousReceive>();
  /** The same, by ours. */
  readonly #receives = new Map<number, RendezvousReceive>();
  readonly #takers = new Map<number, RtsTaker>();
  readonly #onSendEnded = (send: RendezvousSend): void => void this.#sends.delete(send.requestId);
  readonly #onReceiveEnded = (receive: RendezvousReceive): void => {
    this.#announced.delete(receive.sendId);
    this.#receives.delete(receive.receiveId);
  };

  constructor(
    private readonly parts: EndpointParts,
    private readonly scheme: RndvScheme,
  ) {
    parts.take(AmId.RNDV_RTS, Messages.RNDV_RTS, (rts) => this.#onRts(rts));
    parts.take(AmId.RNDV_ATS, Messages.RNDV_ATS, ({ head: { requestId, status }, size }) => {
      const send = this.#sends.get(requestId);
      if (send === undefined) return lie(`request ${requestId} is answered, and there is none`);
      return problemOf(status, size) ?? send.onAts(status);
    });
    parts.take(AmId.RNDV_RTR, Messages.RNDV_RTR, (asked) => {
      const { sendRequestId } = asked.head;
      const send = this.#sends.get(sendRequestId);
      return send === undefined ? lie(`the data of request ${sendRequestId} is asked for`) : send.onRtr(asked);
    });
    parts.take(AmId.RNDV_DATA, Messages.RNDV_DATA, ({ head: { requestId, offset }, payload }) => {
      const receive = this.#receives.get(requestId);
      return receive === undefined ? lie(`data comes for request ${requestId}`) : receive.onData(offset, payload);
    });
    parts.take(AmId.RNDV_ATP, Messages.RNDV_ATP, ({ head: { requestId, status }, size }) => {
      const receive = this.#receives.get(requestId);
      if (receive === undefined) return lie(`data was written for request ${requestId}`);
      return problemOf(status, undefined) ?? receive.onAtp(status, size ?? receive.size);
    });
    // It may cross with the answer, so that there may be none of that number any more.
    parts.take(AmId.RNDV_CANCEL, Messages.RNDV_CANCEL, ({ head: { requestId } }) => {
      this.#announced.get(requestId)?.onCancel();
      return undefined;
    });
  }

  get isWaiting(): boolean {
    return this.#sends.size > 0 || this.#receives.size > 0;
  }

  /** Says who takes what is announced for a receiver. @param opcode of `RtsOpcode` */
  take(opcode: number, taker: RtsTaker): void {
    this.#takers.set(opcode, taker);
  }

  /** Announces a message. @param onDone as of {@link RendezvousSend} */
  send(
    data: Uint8Array,
    head: RendezvousHead,
    protocol: Protocol,
    onDone: (status: UcsStatus) => void,
  ): RendezvousSend {
    const send = new RendezvousSend(this.parts, data, head, protocol, onDone, this.#onSendEnded);
    this.#sends.set(send.requestId, send);
    this.parts.watch();
    if (this.parts.isDebug) this.parts.debug(`rendezvous ${send.requestId}: ${data.length} bytes go by ${protocol}`);
    send.begin();
    return send;
  }

  onEnded(status: UcsStatus): void {
    for (const send of [...this.#sends.values()]) send.onEnded(status);
    for (const receive of [...this.#receives.values()]) receive.onFailed(status);
  }

  #onRts(rts: MessageOf<'RNDV_RTS'>): PeerProblem | undefined {
    const { requestId, opcode } = rts.head;
    const taker = this.#takers.get(opcode);
    if (taker === undefined) return lie(`a message is announced for receivers of kind ${opcode}`);
    if (requestId === 0 || this.#announced.has(requestId)) return lie(`message ${requestId} is announced twice`);
    // What came lies in a buffer of the transport's.
    const kept = { ...rts, userHeader: rts.userHeader.slice() };
    const receive = new RendezvousReceive(this.parts, kept, this.scheme !== 'am', this.#onReceiveEnded);
    this.#announced.set(requestId, receive);
    this.#receives.set(receive.receiveId, receive);
    this.parts.watch();
    if (this.parts.isDebug)
      this.parts.debug(
        `rendezvous ${receive.receiveId}: ${receive.size} bytes are announced, as the peer's ${requestId}`,
      );
    return taker(receive);
  }
}

function problemOf(status: UcsStatus, size: number | undefined): PeerProblem | undefined {
  if (status > 0 || status === UcsStatus.UCS_ERR_NO_RESOURCE) return lie(`status ${status} is no answer`);
  return size === undefined ? undefined : lie(`${size} bytes were read, and it was to be all`);
}
