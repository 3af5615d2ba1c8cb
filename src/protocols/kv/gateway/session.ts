import {
  type Caller,
  type Command,
  CommandError,
  COMMANDS,
  fitsArity,
  keysOf,
  shown,
  wordOf,
} from './commands/index.js';
import type { ClientMemory, Keeper } from './client-memory.js';
import { ErrorReply, type Protocol, type Reply, replyBytes } from './resp/reply.js';
import type { ReplyWriter } from './resp/reply-writer.js';
import { ProtocolFault, type Request, type RequestLimits, RequestReader } from './resp/request-reader.js';
import type { ErrnoName } from '../../../device/ibta/index.js';
import { warnOf } from '../../../api/runtime/index.js';
import { VerbsError } from '../../../api/verbs/index.js';
import { KvError } from '../errors.js';
import { textOf } from './commands/arguments.js';

/**
 * The commands of one connection whose keys others of it have as well, one after the other; all others go side by side. For stores that carry out
 * requests in another order than that in which they were asked.
 */
class KeyOrder {
  /** The last command of each key. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** Begins with an action when all others of these keys have ended. It never rejects unless the action does. */
  run<T>(keys: readonly Uint8Array[], action: () => Promise<T>): Promise<T> {
    const names = keys.map(textOf);
    const before = names.flatMap((name) => this.#last.get(name) ?? []);
    const done = before.length === 0 ? action() : Promise.allSettled(before).then(action);
    for (const name of names) this.#last.set(name, done);
    const leave = (): void => {
      for (const name of names) if (this.#last.get(name) === done) this.#last.delete(name);
    };
    done.then(leave, leave);
    return done;
  }
}

/** How Redis words what the store refuses: programs look at these texts, or at their first words. */
const REFUSALS: Readonly<Partial<Record<ErrnoName, string>>> = {
  ENOSPC: 'OOM command not allowed: the store is full',
  EOVERFLOW: 'ERR increment or decrement would overflow',
};
const NO_NUMBER = 'ERR value is not an integer or out of range';

/** What a client is told of a command that failed. */
function replyOf(error: unknown): ErrorReply {
  if (error instanceof CommandError) return error.reply;
  if (error instanceof KvError && error.outcome === 'refused')
    return new ErrorReply(REFUSALS[error.errno] ?? (error.errno === 'EINVAL' ? NO_NUMBER : lineOf(error.reason)));
  if (error instanceof VerbsError) return new ErrorReply(lineOf(error.message));
  // Ours to mend.
  warnOf(error);
  return new ErrorReply('ERR internal error');
}

function lineOf(message: string): string {
  return `ERR ${message.replaceAll(/[\r\n]+/g, ' ')}`;
}

export interface Wire {
  /** Bytes that were written and the client has not taken yet. */
  readonly unsentBytes: number;
  write(bytes: Uint8Array): void;
  setReading(isReading: boolean): void;
  /** Ends it, once all that was written is sent. */
  end(): void;
  /** Ends it at once. */
  destroy(): void;
}

/** What one client may have of a gateway. */
export interface SessionLimits extends RequestLimits {
  /** Commands that are under way or whose answers wait for those before: keys, where a command has several. */
  readonly maxUnderWay: number;
  /** Nothing is begun while as many bytes of answers are not sent. */
  readonly maxUnsentBytes: number;
}

interface Turn {
  reply: Reply;
  protocol: Protocol;
  isAnswered: boolean;
  readonly reads: Request;
  /** For how many commands it counts. */
  readonly weight: number;
}

/** With what pages of a browser begin, whose programs could otherwise send commands to whatever listens on this machine. */
const FOREIGN = new Set(['POST', 'HOST:']);

/** One connection: its requests are begun in their order, and answered in that order. */
export class Session implements Keeper {
  readonly #reader: RequestReader;
  /** Commands that are not answered: from `#first` on. */
  #turns: Turn[] = [];
  #first = 0;
  #underWay = 0;
  /** Of answers that wait for those before. */
  #answeredBytes = 0;
  /** A command of several steps is under way. */
  #isAlone = false;
  /** The next command, which waits for those before it. */
  #stalled: Request | undefined;
  /** The client sends no more. */
  #isLast = false;
  /** No more is begun. */
  #isEnding = false;
  #isClosed = false;
  #isFlushing = false;
  #isReading = true;
  /** Between MULTI, which was refused, and what would end it. */
  #isInTransaction = false;
  /** MULTI was the last request so far: its client may be one that waits for the answer. */
  #isMultiLast = false;
  readonly #caller: Caller;
  readonly #order: KeyOrder | undefined;

  /** @param writer may be that of others: it is empty between calls */
  constructor(
    caller: Omit<Caller, 'quit' | 'protocol'>,
    private readonly wire: Wire,
    private readonly limits: SessionLimits,
    private readonly writer: ReplyWriter,
    private readonly memory: ClientMemory,
  ) {
    this.#reader = new RequestReader(limits);
    this.#caller = { ...caller, protocol: 2, quit: () => (this.#isEnding = true) };
    this.#order = caller.store.keepsOrder ? undefined : new KeyOrder();
  }

  onBytes(bytes: Uint8Array): void {
    if (this.#isEnding) return;
    // A client that has waited for the answer to MULTI knows that there is no transaction, and sends no EXEC.
    if (this.#isMultiLast && this.#reader.buffered === 0) this.#isInTransaction = false;
    this.#isMultiLast = false;
    this.#reader.push(bytes);
    this.#goOn();
  }

  onSent(): void {
    this.#goOn();
  }

  /** The client sends no more: it is answered what it has asked. */
  onEnd(): void {
    this.#isLast = true;
    this.#goOn();
  }

  onClosed(): void {
    this.#isEnding = true;
    this.#isClosed = true;
    this.#turns = [];
    this.#first = 0;
    this.#answeredBytes = 0;
  }

  /** There is no room for what is kept for this client, which is more than for any other. */
  evict(): void {
    this.#caller.gateway.totals.evicted += 1;
    this.onClosed();
    this.wire.destroy();
  }

  #goOn(): void {
    do {
      this.#beginAll();
      this.#flush();
    } while (this.#hasRoom && this.#reader.hasMore && !this.#isEnding);
    this.#setReading(this.#hasRoom || !this.#reader.hasMore);
    this.memory.keeps(this, this.#reader.buffered + this.#answeredBytes + this.wire.unsentBytes);
  }

  get #hasRoom(): boolean {
    const { maxUnderWay, maxUnsentBytes } = this.limits;
    if (this.#isAlone || this.#stalled !== undefined) return false;
    return this.#underWay < maxUnderWay && this.wire.unsentBytes < maxUnsentBytes;
  }

  #setReading(isReading: boolean): void {
    if (this.#isReading === isReading || this.#isClosed) return;
    this.#isReading = isReading;
    this.wire.setReading(isReading);
  }

  #beginAll(): void {
    const stalled = this.#stalled;
    if (stalled !== undefined && !this.#begin(stalled)) return;
    this.#stalled = undefined;
    while (this.#hasRoom && !this.#isEnding) {
      const request = this.#reader.next();
      if (request === undefined) return;
      if (request instanceof ProtocolFault) this.#onFault(request);
      else if (!this.#begin(request)) this.#stalled = request;
    }
  }

  #onFault({ text }: ProtocolFault): void {
    this.#caller.gateway.totals.faults += 1;
    this.#isEnding = true;
    this.#answerAtOnce(new ErrorReply(`ERR Protocol error: ${text}`));
  }

  /** @returns whether it was begun: it may have to wait for those before it */
  #begin(request: Request): boolean {
    const name = wordOf(request[0]);
    const refusal = this.#transactionRefusal(name);
    if (refusal !== undefined) {
      this.#answerAtOnce(refusal);
      return true;
    }
    const command = COMMANDS.get(name);
    if (command === undefined && FOREIGN.has(name)) {
      this.onClosed();
      this.wire.destroy();
      return true;
    }
    const isFit = command !== undefined && fitsArity(command, request.length);
    if (isFit && this.#mustWait(command, request)) return false;
    this.#caller.gateway.totals.commands += 1;
    const keys = isFit ? keysOf(command, request) : NO_KEYS;
    const reads = isFit && command.flags.includes('readonly') ? keys : NO_KEYS;
    const { protocol } = this.#caller;
    const turn: Turn = { reply: undefined, protocol, isAnswered: false, reads, weight: Math.max(1, keys.length) };
    this.#add(turn);
    if (isFit) {
      this.#run(command, request, turn);
      // HELLO is itself answered in the version that it asks for.
      turn.protocol = this.#caller.protocol;
    } else this.#answer(turn, command === undefined ? unknown(request) : misfit(command));
    return true;
  }

  /** There are no transactions. Who begins one all the same means what follows, up to its end, to be done all together or not at all: so it is not. */
  #transactionRefusal(name: string): ErrorReply | undefined {
    this.#isMultiLast = name === 'MULTI' && !this.#isInTransaction;
    if (!this.#isInTransaction) {
      this.#isInTransaction = name === 'MULTI';
      return this.#isInTransaction ? NO_TRANSACTIONS : WITHOUT_MULTI[name];
    }
    if (name === 'QUIT' || name === 'RESET') {
      this.#isInTransaction = false;
      return undefined;
    }
    this.#isInTransaction = name !== 'EXEC' && name !== 'DISCARD';
    return this.#isInTransaction ? NOT_DONE : DISCARDED;
  }

  /** A long value is read in two steps: what changes it meanwhile would be seen by a command that was asked before. */
  #mustWait(command: Command, request: Request): boolean {
    if (this.#first === this.#turns.length || !command.flags.includes('write')) return false;
    const keys = keysOf(command, request);
    const isRead = (key?: Uint8Array): boolean =>
      this.#turns.some(({ isAnswered, reads }) => !isAnswered && reads.some((other) => !key || isSame(key, other)));
    // To compare all of many with all of many would hold everybody up.
    return keys.length === 1 ? isRead(keys[0]) : isRead();
  }

  #run(command: Command, request: Request, turn: Turn): void {
    try {
      const reply = this.#replyTo(command, request);
      if (!(reply instanceof Promise)) {
        this.#answer(turn, reply);
        return;
      }
      const isAlone = command.isComposed?.(request) === true || request.some(isLong);
      if (isAlone) this.#isAlone = true;
      const answer = (given: Reply): void => {
        this.#answer(turn, given);
        if (isAlone) this.#isAlone = false;
        this.#flushSoon();
      };
      reply.then(answer, (error: unknown) => answer(replyOf(error)));
    } catch (error) {
      this.#answer(turn, replyOf(error));
    }
  }

  #replyTo(command: Command, request: Request): Reply | Promise<Reply> {
    const order = this.#order;
    const keys = order === undefined ? [] : keysOf(command, request);
    if (order === undefined || keys.length === 0) return command.run(request, this.#caller);
    return order.run(keys, async () => command.run(request, this.#caller));
  }

  #answerAtOnce(reply: Reply): void {
    const { protocol } = this.#caller;
    const turn: Turn = { reply: undefined, protocol, isAnswered: false, reads: NO_KEYS, weight: 1 };
    this.#add(turn);
    this.#answer(turn, reply);
  }

  #add(turn: Turn): void {
    this.#turns.push(turn);
    this.#underWay += turn.weight;
  }

  #answer(turn: Turn, reply: Reply): void {
    turn.reply = reply;
    turn.isAnswered = true;
    if (!this.#isClosed) this.#answeredBytes += replyBytes(reply);
  }

  /** Others that are answered at the same time are written together with it. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => {
      this.#isFlushing = false;
      if (this.#isClosed) return;
      this.#goOn();
    });
  }

  #flush(): void {
    if (this.#isClosed) return;
    const { writer } = this;
    let first = this.#first;
    for (; first < this.#turns.length && this.#turns[first].isAnswered; first += 1) {
      const { reply, protocol, weight } = this.#turns[first];
      this.#underWay -= weight;
      this.#answeredBytes -= replyBytes(reply);
      writer.write(reply, protocol);
    }
    if (first === this.#turns.length) {
      this.#turns.length = first = 0;
    } else if (first > this.limits.maxUnderWay) {
      this.#turns.splice(0, first);
      first = 0;
    }
    this.#first = first;
    if (writer.length > 0) this.wire.write(writer.take());
    const isOver = this.#isEnding || (this.#isLast && !this.#reader.hasMore);
    if (isOver && this.#turns.length === 0) {
      this.onClosed();
      this.wire.end();
    }
  }
}

/** Longer values are fetched by the store in a step of their own. */
const LONG_BYTES = 1024;
const NO_KEYS: Request = [];
const NO_TRANSACTIONS = new ErrorReply('ERR there are no transactions here; nothing is done up to EXEC or DISCARD');
const NOT_DONE = new ErrorReply('ERR not done: it is part of a transaction, which was refused, up to EXEC or DISCARD');
const WITHOUT_MULTI: Readonly<Record<string, ErrorReply | undefined>> = {
  EXEC: new ErrorReply('ERR EXEC without MULTI'),
  DISCARD: new ErrorReply('ERR DISCARD without MULTI'),
};
const DISCARDED = new ErrorReply('EXECABORT Transaction discarded because of previous errors.');

function isLong({ length }: Uint8Array): boolean {
  return length >= LONG_BYTES;
}

function isSame(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}

function unknown([name]: Request): ErrorReply {
  return new ErrorReply(`ERR unknown command '${shown(name)}'`);
}

function misfit({ name }: Command): ErrorReply {
  return new ErrorReply(`ERR wrong number of arguments for '${name}' command`);
}
