import type { Lease } from '../../../core/index.js';
import {
  encodeUdControl,
  MAX_UD_CONTROL_BYTES,
  NO_UD_ENDPOINT,
  UcsStatus,
  UD_HEADER_BYTES,
  UdControlType,
  UdFlags,
  udWordAt,
  writeUdHeader,
} from '../../wire/index.js';
import type { Completion, LocalPlace } from '../endpoint.js';
import type { Addressee } from './addressee.js';
import type { Carrier } from './carrier.js';
import type { UdCounters } from './counters.js';
import { Datagram, Datagrams } from './datagram.js';
import { DEAD, IDLE, type UdOutput, UdProtocol } from './protocol.js';
import { psnPlus } from './windows.js';

export interface ReliableChannelParts {
  readonly carrier: Carrier;
  readonly counters: UdCounters;
  /** Datagrams that may be under way to a peer. */
  readonly window: number;
  /** ms for which a peer may be silent. */
  readonly timeoutMs: number;
}

export interface ReliableChannelListener {
  /** The peer has been silent for too long. */
  onDead(): void;
  /** {@link ReliableChannel.progress} is due. */
  onProgress(): void;
}

/** Reliable datagrams to one peer: the protocol's state machine, the datagrams that may be sent again, and the timers. */
export class ReliableChannel implements UdOutput {
  readonly protocol: UdProtocol<Uint8Array>;
  /** The peer's endpoint, by its own number. */
  peer: number = NO_UD_ENDPOINT;
  readonly #datagrams: Datagrams;
  readonly #bare = new Uint8Array(UD_HEADER_BYTES);
  readonly #tick = (): void => this.#onTick();
  readonly #progress = (): void => {
    this.#isProgressDue = false;
    this.listener.onProgress();
  };
  #isProgressDue = false;
  #stopTimer: (() => void) | undefined;

  constructor(
    private readonly parts: ReliableChannelParts,
    private readonly to: Addressee,
    private readonly listener: ReliableChannelListener,
  ) {
    this.protocol = new UdProtocol(parts.window, parts.timeoutMs);
    this.#datagrams = new Datagrams(parts.window);
  }

  /**
   * Begins a datagram of the lease's, whose header is not written yet.
   *
   * @param bytes of the lease, behind the header
   * @returns false when nothing goes any more
   */
  begin(word: number, lease: Lease, bytes: number, payload?: LocalPlace, completion?: Completion): boolean {
    const { protocol } = this;
    const datagram = new Datagram(this.to, lease, UD_HEADER_BYTES + bytes, payload, completion);
    const psn = protocol.begin();
    writeUdHeader(lease.bytes, word | protocol.flagsOfNew(), psn, protocol.receives.last);
    if (!this.parts.carrier.post(datagram)) {
      lease.release();
      return false;
    }
    protocol.acknowledgedBeside();
    this.#datagrams.set(psn, datagram);
    this.#startTimer();
    return true;
  }

  /** So many are acknowledged, from behind a PSN on. @returns how many of them are active messages */
  acknowledged(before: number, count: number): number {
    let messages = 0;
    for (let i = 1; i <= count; i += 1) {
      const datagram = this.#datagrams.take(psnPlus(before, i));
      if (datagram === undefined) continue;
      if ((udWordAt(datagram.lease.bytes, 0) & UdFlags.AM) !== 0) messages += 1;
      datagram.end(UcsStatus.UCS_OK);
    }
    if (this.protocol.isSlow) {
      this.#stopTimer?.();
      this.#stopTimer = this.#later(this.protocol.start());
    }
    return messages;
  }

  /** Sends what is due. @returns false when there was no room for all */
  progress(): boolean {
    return this.protocol.progress(this);
  }

  /** Has {@link ReliableChannelListener.onProgress} be called once all has been looked at that has come. */
  progressSoon(): void {
    if (this.#isProgressDue) return;
    this.#isProgressDue = true;
    this.parts.carrier.engine.afterPass(this.#progress);
  }

  /** Has the peer show that it lives. */
  probe(): void {
    this.protocol.probe();
    this.#startTimer();
    this.progressSoon();
  }

  /** Tells the peer, unreliably, that an endpoint has ended. @param endpoint by its number here */
  sayGone(endpoint: number): void {
    const { carrier } = this.parts;
    if (!carrier.hasReserve) return;
    const bytes = new Uint8Array(UD_HEADER_BYTES + MAX_UD_CONTROL_BYTES);
    const { sends, receives } = this.protocol;
    writeUdHeader(bytes, this.peer | UdFlags.CTL, sends.last, receives.last);
    const body = encodeUdControl(bytes.subarray(UD_HEADER_BYTES), { type: UdControlType.GONE, endpoint });
    carrier.postCopy(this.to, bytes.subarray(0, UD_HEADER_BYTES + body));
  }

  /** Nothing goes any more, and what is under way has come to this. */
  end(status: UcsStatus): void {
    this.#stopTimer?.();
    const { acked, underWay } = this.protocol.sends;
    for (let i = 1; i <= underWay; i += 1) this.#datagrams.take(psnPlus(acked, i))?.end(status);
  }

  /** @internal As the machine asks. */
  resend(psn: number, flags: number): boolean {
    const { carrier, counters } = this.parts;
    const datagram = this.#datagrams.get(psn);
    // While the adapter has it, it is on its way anyway.
    if (datagram === undefined || datagram.isPosted) return true;
    if (!carrier.hasReserve) return false;
    const { bytes } = datagram.lease;
    writeUdHeader(bytes, (udWordAt(bytes, 0) & ~UdFlags.ACK_REQ) | flags, psn, this.protocol.receives.last);
    counters.resent += 1;
    carrier.post(datagram);
    return true;
  }

  /** @internal As the machine asks. */
  sendBare(flags: number): boolean {
    const { carrier } = this.parts;
    // There is nobody yet to whom it could be said.
    if (this.peer === NO_UD_ENDPOINT) return true;
    if (!carrier.hasReserve) return false;
    const { sends, receives } = this.protocol;
    writeUdHeader(this.#bare, this.peer | flags, sends.last, receives.last);
    carrier.postCopy(this.to, this.#bare);
    return true;
  }

  #startTimer(): void {
    this.#stopTimer ??= this.#later(this.protocol.start());
  }

  #later(ms: number): () => void {
    return this.parts.carrier.engine.timer(ms, this.#tick);
  }

  #onTick(): void {
    this.#stopTimer = undefined;
    const next = this.protocol.tick();
    if (next === IDLE) return;
    if (next === DEAD) {
      this.listener.onDead();
      return;
    }
    this.#stopTimer = this.#later(next);
    this.listener.onProgress();
  }
}
