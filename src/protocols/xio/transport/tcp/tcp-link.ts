import type { SocketAddress } from '../../../../api/rdmacm/index.js';
import { Microtask } from '../../../../api/runtime/index.js';
import { assert } from '../../../../device/ibta/index.js';
import { type Body, lengthOf } from '../../wire/index.js';
import {
  type Clock,
  type Exposure,
  type Held,
  type InUse,
  type Link,
  type LinkGrant,
  type LinkOptions,
  type LinkReceiver,
  XioError,
} from '../index.js';
import type { ByteStream, StreamFollower } from './byte-stream.js';
import { FrameReader, type FrameSink } from './frame-reader.js';
import { SendQueue } from './send-queue.js';
import { FrameKind, MAX_ALONG_BYTES, MAX_HEAD_BYTES } from './wire.js';

/** Nothing more is taken from the session while so much waits... */
const FULL_BYTES = 256 * 1024;
/** ...until there is only so much. */
const ROOM_BYTES = 128 * 1024;
/** Whoever is to get the rest of a closed link is given up when it has taken nothing for so long... */
const STALLED_MS = 5000;
/** ...or has not taken all of it after that. */
const MAX_CLOSING_MS = 30_000;

/** A link over a stream of bytes, on which both ends have said hello. */
export class TcpLink implements Link, StreamFollower, FrameSink {
  readonly scheme = 'tcp';
  readonly hasRemoteMemory = false;
  readonly maxHeadBytes = MAX_HEAD_BYTES;
  readonly localAddress: SocketAddress | undefined;
  readonly remoteAddress: SocketAddress | undefined;
  #heard = 0;
  #state: 'open' | 'closing' | 'ended' = 'open';
  /** Both are told from the event loop. */
  #receiver: LinkReceiver | undefined;
  #isDelivering = false;
  #isEndTold = false;
  #failure: Error | undefined;
  /** What has come before anybody wanted it. */
  #early: Uint8Array | undefined;
  #isFull = false;
  /** The system has not taken all that was written. */
  #isStalled = false;
  #isProbing = false;
  #isAnswering = false;
  #hasSaidEnd = false;
  /** Takes the time limit of closing back. */
  #forgetClosing: (() => void) | undefined;
  readonly #queue: SendQueue;
  readonly #reader: FrameReader;
  readonly #pumping = new Microtask(() => this.#pump());
  readonly #beginning = new Microtask(() => this.#begin());
  readonly #ending = new Microtask(() => this.#tellEnd());

  /**
   * @param peerMaxBodyBytes what the peer takes
   * @param early what has come behind its hello
   */
  constructor(
    private readonly stream: ByteStream,
    private readonly options: LinkOptions,
    private readonly peerMaxBodyBytes: number,
    readonly clock: Clock,
    early: Uint8Array,
  ) {
    this.localAddress = stream.localAddress;
    this.remoteAddress = stream.remoteAddress;
    this.#early = early;
    this.#queue = new SendQueue(stream);
    this.#reader = new FrameReader(options.maxBodyBytes, this);
    stream.setReading(false);
    stream.follow(this);
  }

  get heard(): number {
    return this.#heard;
  }

  get canSend(): boolean {
    return this.#state === 'open' && !this.#isFull;
  }

  get isReading(): boolean {
    return this.#state === 'open';
  }

  open(receiver: LinkReceiver): void {
    assert(this.#receiver === undefined, 'a link is opened once');
    this.#receiver = receiver;
    this.#beginning.queue();
  }

  send(head: Uint8Array, body: Body, target: Uint8Array | undefined, isApart = false): Held | undefined {
    assert(this.canSend, 'a link is given a message that it cannot send');
    assert(head.length <= this.maxHeadBytes, `a head of ${head.length} bytes is too long for a link`);
    const bodyBytes = lengthOf(body);
    const mostAlong = isApart ? 0 : Math.min(this.options.inlineBytes, MAX_ALONG_BYTES);
    const isAlong = bodyBytes <= mostAlong;
    if (bodyBytes > this.peerMaxBodyBytes) {
      this.#fail(new XioError('XIO_E_MSG_SIZE', `the peer takes no body of ${bodyBytes} bytes`));
      return undefined;
    }
    if (target !== undefined && !isAlong) {
      this.#fail(new XioError('XIO_E_MSG_INVALID', 'the peer wants a body written into its memory, which TCP cannot'));
      return undefined;
    }
    const held = this.#queue.add(isAlong ? FrameKind.ALONG : FrameKind.LANDED, head, body);
    this.#isFull = this.#queue.byteLength >= FULL_BYTES;
    this.#pumping.queue();
    return held;
  }

  expose(): Exposure | undefined {
    return undefined;
  }

  grant(): LinkGrant | undefined {
    return undefined;
  }

  move(): InUse | undefined {
    return undefined;
  }

  redirect(landing: Body): void {
    this.#reader.redirect(landing);
  }

  probe(): void {
    if (this.#state !== 'open' || this.#isProbing) return;
    this.#isProbing = true;
    this.#queue.addBare(FrameKind.PROBE);
    this.#pumping.queue();
  }

  ref(): void {
    this.stream.ref();
  }

  unref(): void {
    this.stream.unref();
  }

  close(): void {
    if (this.#state !== 'open') return;
    this.#state = 'closing';
    this.#reader.stop();
    this.#early = undefined;
    // What still comes is read, and dropped: a system that closes a connection with bytes unread resets it, and the peer would lose what was sent.
    this.stream.setReading(true);
    this.#limitClosing(this.clock.nowUs(), this.#heard);
    this.#pumping.queue();
  }

  abort(): void {
    if (this.#state === 'ended') return;
    this.stream.abort();
    this.#end(undefined);
  }

  /** @internal */
  onBytes(bytes: Uint8Array): void {
    this.#heard += 1;
    this.#isProbing = false;
    if (this.#state === 'open') this.#reader.push(bytes);
  }

  /** @internal */
  onSent(): void {
    if (this.#state === 'ended') return;
    // Its system has acknowledged what was in the way.
    if (this.#isStalled) this.#heard += 1;
    this.#pump();
  }

  /** @internal */
  onEnd(): void {
    if (this.#state === 'ended') return;
    const isCut = this.#state === 'open' && this.#reader.isWithinFrame;
    this.stream.close();
    this.#end(isCut ? new XioError('XIO_E_PARTIAL_MSG', 'the connection ended within a message') : undefined);
  }

  /** @internal */
  onClose(error: Error | undefined): void {
    if (this.#state === 'ended') return;
    const isKnown = this.#state === 'open' && error !== undefined;
    this.#end(isKnown ? failureOf(error) : undefined);
  }

  /** @internal */
  landing(head: Uint8Array, bodyBytes: number): Body | undefined {
    return this.#receiver?.landing(head, bodyBytes);
  }

  /** @internal */
  onFrame(head: Uint8Array, body: Body, isLanded: boolean): void {
    this.#receiver?.onMessage(head, body, isLanded, 0);
  }

  /** @internal */
  onProbe(): void {
    // A peer that only asks, and takes no answers, gets no more than one.
    if (this.#isAnswering) return;
    this.#isAnswering = true;
    this.#queue.addBare(FrameKind.ANSWER);
    this.#pumping.queue();
  }

  /** @internal */
  onFault(fault: 'invalid' | 'memory', text: string): void {
    this.#fail(new XioError(fault === 'invalid' ? 'XIO_E_MSG_INVALID' : 'XIO_E_NO_BUFS', text));
  }

  #begin(): void {
    this.#isDelivering = true;
    if (this.#state === 'ended') {
      this.#ending.queue();
      return;
    }
    const early = this.#early;
    this.#early = undefined;
    if (early !== undefined && early.length > 0) this.onBytes(early);
    if (this.#state === 'open') this.stream.setReading(true);
  }

  #pump(): void {
    if (this.#state === 'ended') return;
    if (!this.#queue.pump()) {
      this.#fail(new XioError('XIO_E_NO_USER_BUFS', 'the memory of a body that is on its way is gone'));
      return;
    }
    const { byteLength } = this.#queue;
    this.#isStalled = byteLength > 0;
    if (byteLength === 0) this.#isAnswering = false;
    if (this.#isFull && byteLength <= ROOM_BYTES) {
      this.#isFull = false;
      if (this.#isDelivering && this.canSend) this.#receiver?.onRoom();
    }
    if (this.#state === 'closing' && byteLength === 0) this.#sayEnd();
  }

  #sayEnd(): void {
    if (this.#hasSaidEnd) return;
    this.#hasSaidEnd = true;
    this.stream.end();
  }

  #limitClosing(begunUs: number, heard: number): void {
    this.#forgetClosing = this.clock.chore(STALLED_MS, () => {
      const isOver = this.clock.nowUs() - begunUs > MAX_CLOSING_MS * 1000;
      if (this.#hasSaidEnd) {
        // The system delivers the rest.
        this.stream.close();
        this.#end(undefined);
      } else if (isOver || this.#heard === heard) this.abort();
      else this.#limitClosing(begunUs, this.#heard);
    });
  }

  #fail(failure: XioError): void {
    if (this.#state === 'ended') return;
    this.stream.abort();
    this.#end(failure);
  }

  #end(failure: Error | undefined): void {
    this.#state = 'ended';
    this.#failure = failure;
    this.#early = undefined;
    this.#reader.stop();
    this.#queue.drop();
    this.#forgetClosing?.();
    if (this.#isDelivering) this.#ending.queue();
  }

  #tellEnd(): void {
    if (this.#isEndTold) return;
    this.#isEndTold = true;
    this.#receiver?.onEnd(this.#failure);
  }
}

function failureOf(error: Error): XioError {
  const isWrite = 'syscall' in error && error.syscall === 'write';
  return new XioError(isWrite ? 'XIO_E_WRITE_FAILED' : 'XIO_E_READ_FAILED', error.message, { cause: error });
}
