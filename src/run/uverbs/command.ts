import type { Struct, Writable } from '../../device/wire/index.js';
import type { EncodedOutcome, GuestContext } from './guest-context.js';

/** The program that gives a command, as far as commands need it. */
export interface Caller {
  readonly tid: number;
  /** Gives it a descriptor. @returns its number there. @throws Refusal EMFILE when it can have no more */
  giveFd(fd: number): number;
  /** To be called before an effect that {@link write} reports. @throws Refusal EFAULT when so much cannot be written there */
  requireWritable(address: bigint, lengthBytes: number): void;
  /** Writes into its memory. @throws Refusal EFAULT when that is not there */
  write(address: bigint, bytes: Uint8Array): void;
}

/** What a command has come to. */
export interface Outcome<A, D> {
  readonly answer?: Writable<A>;
  /** The part that rxe's provider reads. */
  readonly driver?: Writable<D>;
  /** Ends what was made, where the program cannot be told of it. */
  readonly undo?: () => void;
}

/** A command of the write ABI: how its request is read, what is done, and how its answer is written. */
interface CommandParts<Q, R, A, D> {
  /** As in `IB_USER_VERBS_CMD_`. */
  readonly name: string;
  readonly number: number;
  /** One of those that begin by `IB_USER_VERBS_EX_CMD_`. */
  readonly extended?: true;
  /** It only asks, or what it does can be done twice: where a signal takes the call back, it is carried out again. */
  readonly repeatable?: true;
  readonly request: Struct<Q>;
  /** Which object a refusal is about, to be put behind the call: ` of QP 0x12`. */
  readonly subject?: (file: GuestContext, request: Q) => string;
  readonly driverRequest?: Struct<R>;
  readonly answer?: Struct<A>;
  readonly driver?: Struct<D>;
  /** @throws VerbsError, CommandError, Refusal, SystemCallError: the program is told the errno, and nothing has changed */
  readonly act: (file: GuestContext, request: Q, caller: Caller, driver: R) => Outcome<A, D>;
}

/** The same, whatever its structures are. */
export interface Command {
  readonly name: string;
  /** The C function that comes to it. */
  readonly call: string;
  readonly number: number;
  readonly extended: boolean;
  readonly repeatable: boolean;
  /** What the request and the room for the answer have at least; 0 where programs may be older than the structures. */
  readonly requestBytes: number;
  readonly answerBytes: number;
  /** What is written at most: the answer, and the part that rxe's provider reads. */
  readonly outputBytes: { readonly answer: number; readonly driver: number };
  /** As {@link CommandParts.subject}. */
  subject(file: GuestContext, request: Uint8Array): string;
  run(file: GuestContext, request: Uint8Array, driver: Uint8Array, caller: Caller): EncodedOutcome;
}

const NOTHING = new Uint8Array(0);
/** Where an extended answer says how long it is: programs may be older, and ask for less. */
const RESPONSE_LENGTH = 'responseLength';

/** A command that is carried out or refused, and has nothing to tell. */
export function order<Q, R, A>({
  act,
  ...parts
}: Omit<CommandParts<Q, R, A, unknown>, 'act'> & {
  readonly act: (file: GuestContext, request: Q, caller: Caller, driver: R) => void;
}): Command {
  return command({
    ...parts,
    act: (...given) => {
      act(...given);
      return {};
    },
  });
}

const CALLS: Readonly<Partial<Record<string, string>>> = {
  GET_CONTEXT: 'ibv_open_device',
  CREATE_XSRQ: 'ibv_create_srq_ex',
  MODIFY_QP_EX: 'ibv_modify_qp',
};

function callOf(name: string): string {
  return CALLS[name] ?? `ibv_${name.toLowerCase()}`;
}

export function command<Q, R, A, D>(parts: CommandParts<Q, R, A, D>): Command {
  const {
    name,
    number,
    extended = false,
    repeatable = false,
    request,
    driverRequest,
    answer,
    driver,
    act,
    subject,
  } = parts;
  return {
    name,
    call: callOf(name),
    subject: (file, bytes) => subject?.(file, request.readPadded(bytes)) ?? '',
    number,
    extended,
    repeatable,
    requestBytes: extended ? 0 : request.bytes,
    answerBytes: extended ? 0 : (answer?.bytes ?? 0),
    outputBytes: { answer: answer?.bytes ?? 0, driver: driver?.bytes ?? 0 },
    run: (file, bytes, driverBytes, caller) => {
      // Where there is no structure there are no fields either.
      const asked = driverRequest?.readPadded(driverBytes) ?? ({} as R);
      const outcome = act(file, request.readPadded(bytes), caller, asked);
      const sized = extended && answer !== undefined ? { [RESPONSE_LENGTH]: answer.bytes } : {};
      return {
        answer: answer?.encodePadded({ ...outcome.answer, ...sized } as Writable<A>) ?? NOTHING,
        driver: driver?.encodePadded(outcome.driver ?? {}) ?? NOTHING,
        undo: outcome.undo,
      };
    },
  };
}
