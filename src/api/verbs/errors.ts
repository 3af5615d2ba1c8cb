import { Errno, type ErrnoName } from '../../device/ibta/index.js';
import type { SendWr } from './objects/objects.js';
import type { RecvWr } from './objects/work-request.js';

/** Why a call cannot be made: what a check answers instead of undefined. */
export interface Problem {
  readonly errno: ErrnoName;
  /** What is wrong: a sentence without its full stop. */
  readonly message: string;
  /** What to do about it: a sentence without its full stop, or nothing. */
  readonly advice: string;
}

/** Makes a {@link Problem} with EINVAL, the commonest. */
export function invalid(message: string, advice = ''): Problem {
  return { errno: 'EINVAL', message, advice };
}

let readProblem: (error: VerbsError) => Problem;

/** What {@link VerbsError} was made of, for those who word the sentence in their own way. */
export function problemOf(error: VerbsError): Problem {
  return readProblem(error);
}

/** A verb that was refused. Unless the verb says otherwise, nothing has changed. */
export class VerbsError extends Error {
  override readonly name: string = 'VerbsError';
  /** `EINVAL`, `EBUSY` and so on. */
  readonly errno: ErrnoName;
  /** The same, under the name that Node's own errors use. */
  readonly code: ErrnoName;
  /** Linux's number of it: what the C call returns, or puts into `errno`. */
  readonly errnoNumber: number;
  /** The C name of what was called: `ibv_modify_qp`. */
  readonly call: string;
  /** What to do about it, or an empty string. */
  readonly advice: string;
  /** Private, or whatever prints an error would print it twice. */
  readonly #problem: Problem;

  static {
    readProblem = (error) => error.#problem;
  }

  constructor(call: string, problem: Problem, options?: ErrorOptions) {
    super(sentence(call, problem), options);
    this.#problem = problem;
    this.errno = problem.errno;
    this.code = problem.errno;
    this.errnoNumber = Errno[problem.errno];
    this.call = call;
    this.advice = problem.advice;
  }
}

/** A post that stopped at a request; those before it are posted. */
export class PostError extends VerbsError {
  override readonly name = 'PostError';
  /** The request that was refused, as `*bad_wr` is in C. */
  readonly badWr: SendWr | RecvWr;
  /** Its place in what was posted, from 0: as many requests were posted. */
  readonly index: number;

  constructor(call: string, problem: Problem, badWr: SendWr | RecvWr, index: number) {
    super(call, index === 0 ? problem : { ...problem, message: `request ${index}: ${problem.message}` });
    this.badWr = badWr;
    this.index = index;
  }
}

function sentence(call: string, { errno, message, advice }: Problem): string {
  // The sentence of another call, which has it already, may be the message.
  const what = message.includes(`(${errno})`) ? `${call}: ${message}` : `${call}: ${message} (${errno})`;
  return advice === '' ? what : `${what}. ${advice}`;
}

/** Throws a {@link VerbsError} when there is a problem. */
export function refuse(call: string, problem: Problem | undefined): void {
  if (problem !== undefined) throw new VerbsError(call, problem);
}
