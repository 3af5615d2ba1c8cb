import { type ErrnoName } from '../../device/ibta/index.js';
import { VerbsError } from '../../api/verbs/index.js';

/** What is known of a request that was not answered: nothing, or that it was never sent. */
export type Outcome = 'unknown' | 'not sent';

/**
 * A request was not carried out, or nobody knows whether it was: {@link outcome} says which. ENOSPC, EMSGSIZE, EINVAL and EOVERFLOW are what the store says,
 * ECONNRESET and ETIMEDOUT that the server is gone, ECANCELED that this program has closed the client, ENOTCONN that it had before.
 */
export class KvError extends VerbsError {
  override readonly name: string = 'KvError';
  /** `refused`: the store has answered, and changed nothing. */
  readonly outcome: Outcome | 'refused';

  constructor(
    call: string,
    errno: ErrnoName,
    /** What has happened: the message without the rest. */
    readonly reason: string,
    outcome: Outcome | 'refused',
    { advice = '', ...options }: ErrorOptions & { readonly advice?: string | undefined } = {},
  ) {
    super(
      call,
      { errno, message: outcome === 'unknown' ? `${reason}; whether it was carried out is not known` : reason, advice },
      options,
    );
    this.outcome = outcome;
  }
}

/** A call whose `timeoutMs` are over. */
export function tooLate(call: string, timeoutMs: number, outcome: Outcome): KvError {
  return new KvError(call, 'ETIMEDOUT', `not done within ${timeoutMs} ms`, outcome);
}

/**
 * The server is another than the one that the client had connected to: its program began anew. What the one before held may be gone, and nobody
 * knows what became of requests that were under way. A new client begins with what there is now.
 */
export class EpochError extends KvError {
  override readonly name = 'EpochError';

  /** @param before the epoch of the client. @param epoch that of the server now */
  constructor(
    call: string,
    readonly before: number,
    readonly epoch: number,
    outcome: Outcome,
  ) {
    const message = `the server began anew (epoch ${before} is over, this is ${epoch}), and may have lost what it held`;
    super(call, 'ECONNRESET', message, outcome, { advice: 'Connect again' });
  }
}

/**
 * Of several keys some calls have failed: {@link failures} says which, and why. The others were carried out. `outcome` is the worst of theirs: `unknown`, then `refused`,
 * then `not sent`; `code` and `cause` are those of the first.
 */
export class KvManyError extends KvError {
  override readonly name = 'KvManyError';

  /** @param failures why each has failed, by its place among the keys */
  constructor(
    call: string,
    of: number,
    readonly failures: ReadonlyMap<number, unknown>,
  ) {
    const [first] = failures.values();
    const errno = first instanceof VerbsError ? first.errno : 'EIO';
    const reason = first instanceof KvError ? first.reason : String(first);
    super(call, errno, `${failures.size} of ${of} failed, the first because ${reason}`, worstOf(failures.values()), {
      cause: first,
    });
  }
}

const FROM_WORST = ['unknown', 'refused', 'not sent'] as const;

/** What came of a request whose failure is not the store's may be anything. */
function worstOf(failures: Iterable<unknown>): KvError['outcome'] {
  const outcomes = new Set(Array.from(failures, (error) => (error instanceof KvError ? error.outcome : 'unknown')));
  return FROM_WORST.find((outcome) => outcomes.has(outcome)) ?? 'unknown';
}
