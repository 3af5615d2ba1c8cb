import { VerbsError } from '../../../api/verbs/index.js';
import { Limit } from './limit.js';

const MOST_CHARACTERS = 200;
/** What would begin another line, move the cursor, or turn the direction of what follows. */
const HIDDEN = /[\p{C}\p{Zl}\p{Zp}]/gu;

/** What a stranger has written, as a part of a line for people. */
export function visible(text: string): string {
  return text.slice(0, MOST_CHARACTERS).replace(HIDDEN, '?');
}

/** How long etcd may take for an answer. */
export const ANSWER_MS = 2000;
/** Of an answer: 2048 entries of servers have less than a quarter. */
const MOST_BYTES = 4 << 20;

/** What etcd has answered: objects of its JSON gateway, in which numbers of 64 bits are texts, and what is zero is left out. */
export type Answer = Readonly<Record<string, unknown>>;

/**
 * Asks etcd by its JSON gateway (etcd's documentation, "gRPC gateway"): each call is a POST. Of several members of one etcd it asks the one that has answered last, and
 * another when that does not.
 */
export class EtcdClient {
  #current = 0;

  constructor(
    private readonly call: string,
    private readonly endpoints: readonly string[],
  ) {}

  /**
   * @param path below `/v3/`
   * @param answerMs how long each member may take
   * @throws (the promise rejects) VerbsError ECONNREFUSED when nobody answers, EPROTO when that is not etcd, EMSGSIZE for an answer that is too long, EIO with what etcd says;
   *   the signal's reason
   */
  async ask(path: string, body: object, signal: AbortSignal, answerMs = ANSWER_MS): Promise<Answer> {
    let failure: unknown;
    for (let turn = 0; turn < this.endpoints.length; turn += 1) {
      using limit = new Limit(signal, answerMs);
      try {
        const response = await this.#post(path, body, limit.signal);
        let text = '';
        for await (const piece of this.#textOf(response)) text += piece;
        return this.#answerIn(text, response.ok ? '' : `: it answers with HTTP status ${response.status}`);
      } catch (error) {
        signal.throwIfAborted();
        failure ??= error;
        this.#current += 1;
      }
    }
    throw this.#failureOf(failure);
  }

  /** An answer that goes on: an object a line. @throws as {@link ask} */
  async *follow(path: string, body: object, signal: AbortSignal): AsyncGenerator<Answer> {
    let rest = '';
    try {
      const response = await this.#post(path, body, signal);
      for await (const piece of this.#textOf(response)) {
        const lines = (rest + piece).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) if (line !== '') yield this.#answerIn(line);
      }
    } catch (error) {
      signal.throwIfAborted();
      this.#current += 1;
      throw this.#failureOf(error);
    }
  }

  get #endpoint(): string {
    return this.endpoints[this.#current % this.endpoints.length];
  }

  #post(path: string, body: object, signal: AbortSignal): Promise<Response> {
    // etcd sends nobody elsewhere: what is written to it would be told to strangers.
    const redirect = 'manual';
    return fetch(`${this.#endpoint}/v3/${path}`, { method: 'POST', body: JSON.stringify(body), signal, redirect });
  }

  async *#textOf({ body }: Response): AsyncGenerator<string> {
    if (body === null) return;
    const decoder = new TextDecoder();
    let bytes = 0;
    // The types of Node's streams do not say what they carry; of a response it is bytes.
    for await (const piece of body as AsyncIterable<Uint8Array>) {
      bytes += piece.length;
      if (bytes > MOST_BYTES) throw this.#tooLong();
      yield decoder.decode(piece, { stream: true });
    }
  }

  /** @param problem what is wrong with the answer, unless it says so itself */
  #answerIn(text: string, problem = ''): Answer {
    const answer = objectIn(text);
    const error = answer?.['error'];
    if (answer === undefined || (error === undefined && problem !== '')) throw this.#foreign(problem);
    if (error === undefined) return answer;
    const told = isObject(error) ? error['message'] : error;
    const message = typeof told === 'string' ? visible(told) : 'something went wrong';
    throw new VerbsError(this.call, { errno: 'EIO', message: `etcd says: ${message}`, advice: '' });
  }

  #foreign(problem: string): VerbsError {
    const message = `what answers at ${this.#endpoint} is not etcd${problem}`;
    return new VerbsError(this.call, {
      errno: 'EPROTO',
      message,
      advice: 'Give the client URL of an etcd 3.4 or newer',
    });
  }

  #tooLong(): VerbsError {
    const message = `what answers at ${this.#endpoint} says more than ${MOST_BYTES} bytes`;
    const advice = 'Is that etcd, and are there only servers below the key of the cluster?';
    return new VerbsError(this.call, { errno: 'EMSGSIZE', message, advice });
  }

  #failureOf(error: unknown): VerbsError {
    if (error instanceof VerbsError) return error;
    const message = `no etcd answers at ${this.endpoints.join(', ')}: ${reasonOf(error)}`;
    return new VerbsError(
      this.call,
      { errno: 'ECONNREFUSED', message, advice: 'Is it running there?' },
      { cause: error },
    );
  }
}

/** `fetch` says that it has failed, and its cause why. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message || cause.name : String(cause);
}

export function isObject(value: unknown): value is Answer {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object that a text of JSON has; undefined when it has none. */
export function objectIn(text: string): Answer | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
