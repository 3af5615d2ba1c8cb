import { Callbacks } from '../../../api/runtime/index.js';
import { PeerProbes, type Engine } from '../../core/index.js';
import type { PeerProblem, SizeRange } from '../protocol/index.js';
import type { AmHandlers, Endpoint as Transport, MemoryDomain, Packer, Waiting } from '../uct/index.js';
import { type AmId, type Format, UcsStatus, ucsStatusName } from '../wire/index.js';
import { UcpError } from './errors.js';
import type { Log } from './log.js';
import type { Counters } from './statistics.js';
import type { Wakeup } from './wakeup.js';

/** A message that ends have for each other, with no data of programs. What it says is packed when there is room for it. */
class ControlMessage<M> implements Waiting, Packer {
  /** @param onLeft it was handed over, or never will be */
  constructor(
    private readonly parts: { readonly transport: Transport },
    private readonly id: AmId,
    private readonly format: Format<M>,
    private readonly message: M,
    private readonly onLeft: () => void,
  ) {}

  retry(): UcsStatus {
    const status = this.parts.transport.amBcopy(this.id, this);
    if (status !== UcsStatus.UCS_ERR_NO_RESOURCE) this.onLeft();
    return status;
  }

  pack(into: Uint8Array): number {
    return this.format.encode(into, this.message);
  }
}

/** Answers that a peer may cause while it takes none. */
const MAX_ANSWERS = 65_536;

export interface WorkerParts {
  readonly engine: Engine;
  readonly domain: MemoryDomain;
  /** Numbers of messages and requests, of which each endpoint uses some. The first is 1. */
  nextNumber(): number;
  /** How long a peer may be silent of which something is expected; Infinity for ever. */
  readonly keepAliveMs: number;
  readonly wakeup: Pick<Wakeup<unknown>, 'note'>;
  readonly counters: Counters;
  readonly log: Log;
}

/** A family of calls at one endpoint: those of tags, of active messages, of memory. */
export interface Family {
  /** Whether something is expected of the peer, so that it has to be seen whether it is still there. */
  readonly isWaiting: boolean;
  /** Nothing goes or comes any more: whatever is under way ends with the status, and touches no memory from now on. Called once. */
  onEnded(status: UcsStatus): void;
}

/** What the families of calls at one endpoint share. Its transport may come later: messages may come before. */
export class EndpointParts {
  readonly #families: Family[] = [];
  /** Who has something to send before the transport is there. */
  #early: Waiting[] = [];
  #transport: (Transport & { close(): void }) | undefined;
  #problem: PeerProblem | undefined;
  #answers = 0;
  #awaitingRoom = 0;
  readonly #onAnswered = (): void => void (this.#answers -= 1);
  #stopWatching: (() => void) | undefined;
  readonly #probes: PeerProbes;
  #hasEnded = false;
  #isClosed = false;
  #onError: ((error: UcpError) => void) | undefined;
  #isErrorTold = false;
  /** Calls the error handler in the async context in which the endpoint was made. */
  readonly #callbacks = new Callbacks();

  readonly epId: number;

  /** @param onClosed is told when it was closed */
  constructor(
    readonly worker: WorkerParts,
    private readonly handlers: AmHandlers,
    private readonly onClosed: () => void,
  ) {
    this.epId = worker.nextNumber();
    const isWaiting = (): boolean => this.#isWaiting;
    this.#probes = new PeerProbes(worker.engine, {
      get awaitsPeer() {
        return isWaiting();
      },
      probe: () => this.#transport?.check(),
    });
  }

  /** Why nothing goes or comes any more; undefined while it does. */
  get failure(): UcsStatus | undefined {
    return this.#problem?.status ?? this.#transport?.failure;
  }

  /** The same as an error of a call. */
  failureOf(call: string): UcpError | undefined {
    if (this.#problem !== undefined) return new UcpError(call, this.#problem.status, this.#problem.text);
    return this.failure === undefined ? undefined : new UcpError(call, this.failure);
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Says something of the endpoint to whoever reads the log at `info`. */
  info(text: string): void {
    this.worker.log.info(`endpoint ${this.epId}: ${text}`);
  }

  /** The same at `debug`. Who asks often looks at {@link isDebug} first. */
  debug(text: string): void {
    this.worker.log.debug(`endpoint ${this.epId}: ${text}`);
  }

  /** Says by which protocols messages go to tags. */
  protoInfo(ranges: readonly SizeRange[]): void {
    for (const { protocol, from, to, why } of ranges) {
      const bounds = to === Infinity ? `${from}..inf` : `${from}..${to}`;
      this.worker.log.protoInfo(`endpoint ${this.epId}: tag_send ${bounds} ${protocol}: ${why}`);
    }
  }

  /** Whether there is any use in {@link debug}. */
  get isDebug(): boolean {
    return this.worker.log.isDebug;
  }

  /** As `UcpEndpoint.setErrorHandler`. */
  setErrorHandler(handler: ((error: UcpError) => void) | undefined): void {
    this.#onError = handler;
    if (this.#hasEnded) this.#tellError();
  }

  /** To be asked for by those that {@link go} calls, and by calls of the program: not by a handler. */
  get transport(): Transport {
    if (this.#transport === undefined) throw new Error('verbena: internal error: an endpoint has no transport yet');
    return this.#transport;
  }

  /** @returns the same */
  add<F extends Family>(family: F): F {
    this.#families.push(family);
    return family;
  }

  /** Says who takes a message. @param on returns what is wrong with it, which ends the endpoint */
  take<M>(id: AmId, format: Format<M>, on: (message: M) => PeerProblem | undefined): void {
    this.takeBytes(id, (bytes) => {
      const message = format.decode(bytes);
      return typeof message === 'string' ? { status: UcsStatus.UCS_ERR_IO_ERROR, text: message } : on(message);
    });
  }

  /** The same of a message that its taker decodes: of one that comes often. */
  takeBytes(id: AmId, on: (bytes: Uint8Array) => PeerProblem | undefined): void {
    this.handlers.set(id, (bytes) => {
      if (this.#problem !== undefined) return;
      const problem = on(bytes);
      if (problem !== undefined) this.distrust(problem);
      this.worker.wakeup.note();
    });
  }

  /** Has something sent, now or as soon as there is room, in the order of the calls. */
  go(waiting: Waiting): void {
    if (this.#transport === undefined) this.#early.push(waiting);
    else if (waiting.retry() === UcsStatus.UCS_ERR_NO_RESOURCE) this.awaitRoom(waiting);
  }

  /** Has something tried again once there is room, which a peer that is gone never makes. */
  awaitRoom(waiting: Waiting): void {
    this.#awaitingRoom += 1;
    this.worker.counters.pending += 1;
    this.transport.pendingAdd({
      retry: () => {
        const status = waiting.retry();
        if (status !== UcsStatus.UCS_ERR_NO_RESOURCE) this.#awaitingRoom -= 1;
        return status;
      },
    });
    this.watch();
  }

  /** Sends a message without data of programs. A peer for which too many wait loses its endpoint. */
  say<M>(id: AmId, format: Format<M>, message: M): void {
    if (this.failure !== undefined) return;
    this.#answers += 1;
    if (this.#answers > MAX_ANSWERS) {
      const text = `${MAX_ANSWERS} answers wait for the peer, which takes none`;
      this.distrust({ status: UcsStatus.UCS_ERR_EXCEEDS_LIMIT, text });
    } else {
      this.go(new ControlMessage(this, id, format, message, this.#onAnswered));
      if (this.#answers > 0) this.watch();
    }
  }

  /** Something is expected of the peer: from now on it is seen whether it is still there. */
  watch(): void {
    const { engine, keepAliveMs } = this.worker;
    if (keepAliveMs === Infinity || this.#hasEnded) return;
    this.#probes.start();
    if (this.#stopWatching !== undefined) return;
    this.#stopWatching = engine.timer(keepAliveMs, () => {
      this.#stopWatching = undefined;
      if (!this.#isWaiting) return;
      this.#transport?.check();
      this.watch();
    });
  }

  begin(transport: Transport & { close(): void }): void {
    this.#transport = transport;
    const early = this.#early;
    this.#early = [];
    for (const waiting of early) this.go(waiting);
    if (transport.failure !== undefined) this.ended(transport.failure);
    if (this.#problem !== undefined) this.worker.engine.nextTurn(() => this.close());
    this.worker.wakeup.note();
  }

  /** What came from the peer is wrong: nothing of it counts any more. */
  distrust(problem: PeerProblem): void {
    if (this.#problem !== undefined) return;
    this.#problem = problem;
    this.debug(`nothing of the peer counts any more: ${problem.text}`);
    this.worker.engine.nextTurn(() => this.close());
  }

  ended(status: UcsStatus): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#stopWatching?.();
    this.#probes.end();
    this.#noteFailure(this.#problem?.status ?? status);
    for (const family of this.#families) family.onEnded(this.#problem?.status ?? status);
    this.worker.wakeup.note();
    this.#tellError();
  }

  /** Idempotent; and before the transport is there, in vain. */
  close(): void {
    if (this.#isClosed || this.#transport === undefined) return;
    this.#isClosed = true;
    this.#transport.close();
    this.ended(UcsStatus.UCS_ERR_CANCELED);
    this.worker.counters.epClosures += 1;
    this.info('closed');
    this.onClosed();
  }

  /** Not that this end has closed it, nor that it was never there. */
  #noteFailure(status: UcsStatus): void {
    if (this.#transport === undefined || status === UcsStatus.UCS_ERR_CANCELED) return;
    this.worker.counters.epFailures += 1;
    const why = this.#problem === undefined ? '' : `: ${this.#problem.text}`;
    this.info(`failed with ${ucsStatusName(status) ?? status}${why}`);
  }

  /** Once, unless this end has closed it. */
  #tellError(): void {
    this.#callbacks.call(() => {
      const error = this.failureOf('endpoint');
      if (this.#isErrorTold || this.#onError === undefined) return;
      if (error === undefined || error.status === UcsStatus.UCS_ERR_CANCELED) return;
      this.#isErrorTold = true;
      this.#onError(error);
    });
  }

  /** Whether something is expected of the peer. */
  get #isWaiting(): boolean {
    return this.#answers > 0 || this.#awaitingRoom > 0 || this.#families.some(({ isWaiting }) => isWaiting);
  }
}
