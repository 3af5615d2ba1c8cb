import type { Sim } from '../../../../sim/index.js';
import { VerbsError } from '../../../../entry/index.js';
import { RsocketError, type StreamSocket } from '../../index.js';
import { check, SimulationFailure } from '../../../../../test/sim/failure.js';
import type { Direction } from './direction.js';
import type { SidePlan, Step } from './plan.js';

/** With what a stream may end whose peer keeps to the protocol. */
const ERRNOS = ['ECONNRESET', 'ETIMEDOUT', 'ENODEV'];
/** What `write` says of a stream that has ended. */
const WRITE_ERRNOS = ['EPIPE', ...ERRNOS];
/** How much later than `lingerMs` after `close` it may end: its timers are late by no more. */
const LATE_US = 100_000;

export interface SideParts {
  readonly sim: Sim;
  readonly name: string;
  readonly plan: SidePlan;
  readonly outgoing: Direction;
  readonly incoming: Direction;
  /** Bytes that the peer is to write. */
  readonly expected: number;
  /** Settles when those that stall go on. */
  readonly released: Promise<void>;
  /** Told what proves the package wrong. */
  readonly onFault: (error: Error) => void;
}

/**
 * The owner of one end of a stream, which knows nothing but what it is told: it reads only after `readable`, and writes on only after
 * `writable`.
 */
export class Side {
  /** This end has said that it reads no more, so that what the peer writes may be lost. */
  hasEndedReading = false;
  /** It went, and did not wait for what it has written. */
  isAbrupt = false;
  /** Its host has crashed. */
  isGone = false;
  isClosed = false;
  error: Error | undefined;
  /** It has read all that came, and nothing more will. */
  hasReadAll = false;
  readonly ended: Promise<void>;
  readonly #parts: SideParts;
  #end: () => void = () => undefined;
  #isInCall = false;
  #isReadable = false;
  #isWritable = false;
  #isDrained = true;
  #closeByUs = Infinity;
  #waiting: (() => void)[] = [];

  constructor(
    private readonly stream: StreamSocket,
    parts: SideParts,
  ) {
    this.#parts = parts;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    stream.events = {
      readable: () => this.#told('readable', () => (this.#isReadable = true)),
      writable: () => this.#told('writable', () => (this.#isWritable = true)),
      drained: () => this.#told('drained', () => this.#onDrained()),
      closed: (error) => this.#told('closed', () => this.#onClosed(error)),
    };
    if (parts.plan.keepAliveSeconds > 0) this.#call(() => stream.setKeepAlive(parts.plan.keepAliveSeconds));
    Promise.all([this.#run(), this.#read()])
      .then(() => this.#finish())
      .catch(parts.onFault);
  }

  describe(): string {
    const { name } = this.#parts;
    const { readableBytes, unacknowledgedBytes, isReadEnded, isWriteEnded } = this.stream;
    const state = `${readableBytes} bytes to read, ${unacknowledgedBytes} not acknowledged, ${isReadEnded ? 'reads no more' : 'reads'}, ${isWriteEnded ? 'writes no more' : 'writes'}`;
    return `${name} ${this.isGone ? 'is gone' : this.isClosed ? `has closed (${this.error?.message ?? 'well'})` : `is open: ${state}; stall: ${this.stream.explainStall() ?? 'none'}`}`;
  }

  /** The peer has been gone for long. @returns why this end should have noticed */
  shouldKnow(): string | undefined {
    const { unacknowledgedBytes } = this.stream;
    if (unacknowledgedBytes > 0) return `${unacknowledgedBytes} bytes are not acknowledged`;
    return this.#parts.plan.keepAliveSeconds > 0 ? 'it has sent keepalives' : undefined;
  }

  close(lingerMs = 1000): void {
    if (this.isClosed) return;
    this.#close(lingerMs);
  }

  async #run(): Promise<void> {
    for (const step of this.#parts.plan.steps) await this.#do(step);
    // Who ends by what it has agreed on ends by itself; nothing else is said.
    await this.#until(() => this.isClosed);
    this.#mayNotWrite();
  }

  async #do(step: Step): Promise<void> {
    const { sim, incoming, expected } = this.#parts;
    switch (step.does) {
      case 'write':
        return this.#write(step.bytes, step.piece);
      case 'pause':
        return sim.sleep(step.us);
      case 'drain':
        return this.#until(() => this.#isDrained || this.isClosed);
      case 'hear':
        return this.#until(() => this.hasReadAll || this.isClosed);
      case 'hear all':
        return this.#until(() => incoming.read === expected || this.hasReadAll || this.isClosed);
      case 'outlast':
        while (incoming.taken < expected && !this.isClosed && !this.isGone) await sim.sleep(5000);
        return undefined;
      case 'shutdown':
        if (step.direction !== 'write') this.hasEndedReading = true;
        this.#call(() => this.stream.shutdown(step.direction));
        if (step.direction !== 'read') this.#mayNotWrite();
        return undefined;
      case 'close':
        this.#close(step.lingerMs);
        this.#mayNotWrite();
        return undefined;
    }
  }

  async #write(bytes: number, piece: number): Promise<void> {
    const { stream } = this;
    const { outgoing, name } = this.#parts;
    for (let left = bytes; left > 0;) {
      if (this.isClosed || stream.isWriteEnded) {
        this.#mayNotWrite();
        return;
      }
      const chunk = outgoing.next(Math.min(left, piece));
      this.#isWritable = false;
      const taken = this.#call(() => stream.write(chunk));
      if (taken > 0) this.#isDrained = stream.unacknowledgedBytes === 0;
      outgoing.taken += taken;
      left -= taken;
      check(stream.bytesWritten === outgoing.taken, () => `${name}: bytesWritten is ${stream.bytesWritten}`);
      if (taken === chunk.length) continue;
      check(
        stream.explainStall() !== undefined,
        () => `${name}: ${taken} of ${chunk.length} bytes were taken, and nothing stalls`,
      );
      await this.#until(() => this.#isWritable || this.isClosed);
    }
  }

  async #read(): Promise<void> {
    const { plan, sim, released } = this.#parts;
    const { stream } = this;
    if (plan.reading.stalls) await Promise.race([released, this.#until(() => this.isClosed)]);
    for (;;) {
      if (stream.readableBytes > 0) {
        if (plan.reading.how === 'read') this.#readPiece();
        else await this.#peekPiece();
        if (plan.reading.workUs > 0) await sim.sleep(plan.reading.workUs);
      } else if (stream.isReadEnded || this.isClosed) break;
      else {
        this.#isReadable = false;
        await this.#until(() => this.#isReadable || this.isClosed);
      }
    }
    this.hasReadAll = true;
    this.#wake();
  }

  #readPiece(): void {
    const into = new Uint8Array(this.#parts.plan.reading.piece);
    const { stream } = this;
    const there = stream.readableBytes;
    const count = this.#call(() => stream.read(into));
    check(count === Math.min(there, into.length), () => `${this.#parts.name}: read ${count} bytes of ${there}`);
    this.#hasRead(into.subarray(0, count));
  }

  async #peekPiece(): Promise<void> {
    const { plan, sim, name } = this.#parts;
    const { stream } = this;
    const piece = this.#call(() => stream.peek()).subarray(0, plan.reading.piece);
    check(piece.length > 0, () => `${name}: peek gives nothing, and ${stream.readableBytes} bytes are there`);
    // It stays in place while the program works on it, and more comes.
    if (plan.reading.workUs > 0) await sim.sleep(plan.reading.workUs);
    // This end may have said meanwhile that it reads no more.
    if (stream.readableBytes < piece.length) return;
    const bytes = piece.slice();
    this.#call(() => stream.consume(bytes.length));
    this.#hasRead(bytes);
  }

  #hasRead(bytes: Uint8Array): void {
    const { incoming, name } = this.#parts;
    incoming.reads(bytes);
    check(this.stream.bytesRead === incoming.read, () => `${name}: bytesRead is ${this.stream.bytesRead}`);
    this.#wake();
  }

  #close(lingerMs: number): void {
    const { sim } = this.#parts;
    this.hasEndedReading = true;
    if (lingerMs < 5000) this.isAbrupt = true;
    if (!this.isClosed) this.#closeByUs = Math.min(this.#closeByUs, sim.nowUs + 1000 * lingerMs + LATE_US);
    this.#call(() => this.stream.close(lingerMs));
  }

  #mayNotWrite(): void {
    const { name } = this.#parts;
    let problem: unknown;
    try {
      this.#call(() => this.stream.write(Uint8Array.of(1)));
    } catch (error) {
      problem = error;
    }
    const isRefused = problem instanceof RsocketError && WRITE_ERRNOS.includes(problem.errno);
    check(isRefused, () => `${name}: a write after the end ended with ${String(problem)}`);
  }

  #onDrained(): void {
    const { unacknowledgedBytes } = this.stream;
    check(
      unacknowledgedBytes === 0,
      () => `${this.#parts.name}: drained, and ${unacknowledgedBytes} bytes are under way`,
    );
    this.#isDrained = true;
  }

  #onClosed(error: Error | undefined): void {
    const { name, sim } = this.#parts;
    this.isClosed = true;
    this.error = error;
    const isOrdinary = error === undefined || (error instanceof VerbsError && ERRNOS.includes(error.errno));
    check(isOrdinary, () => `${name}: it has ended with ${String(error)}`);
    check(sim.nowUs <= this.#closeByUs, () => `${name}: it has closed ${sim.nowUs - this.#closeByUs} µs too late`);
    check(
      error !== undefined || this.isAbrupt || this.#isDrained,
      () => `${name}: it has ended well, and not all that was written was acknowledged`,
    );
  }

  #finish(): void {
    const { name } = this.#parts;
    const { readableBytes } = this.stream;
    check(readableBytes === 0, () => `${name}: ${readableBytes} bytes came after nothing more was to come`);
    this.#end();
  }

  #told(event: string, hear: () => void): void {
    const { name, onFault } = this.#parts;
    if (this.isGone) return;
    try {
      check(!this.#isInCall, () => `${name}: ${event} was told from within a call`);
      check(!this.isClosed, () => `${name}: ${event} was told after closed`);
      hear();
    } catch (error) {
      onFault(error instanceof Error ? error : new SimulationFailure(String(error)));
    }
    this.#wake();
  }

  #call<T>(call: () => T): T {
    this.#isInCall = true;
    try {
      return call();
    } finally {
      this.#isInCall = false;
    }
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async #until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}
