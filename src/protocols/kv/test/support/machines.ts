import { SeededRandom } from '../../../../device/link/index.js';
import {
  ClientWindow,
  type Executor,
  LOSSY,
  NOT_SENT,
  type Outstanding,
  ServerMachine,
  type Session,
  Sessions,
} from '../../protocol/index.js';
import {
  type Answered,
  type Asked,
  encodeRequest,
  isSameSession,
  Operation,
  requestBytes,
  type RequestView,
  ResponseView,
  Status,
} from '../../wire/index.js';

export const EPOCH = 0x77;
export const SLOT_BYTES = 512;
const NO_BYTES: Uint8Array = new Uint8Array(0);

/** A store of numbers that counts how often each was carried out. */
export class Counting implements Executor {
  sum = 0n;
  executed = 0;
  readonly maxValueBytes = 1 << 20;

  execute({ operation, operand }: RequestView): Answered {
    this.executed += 1;
    if (operation === Operation.INCR) this.sum += operand;
    const value = new TextEncoder().encode(String(this.sum));
    return { status: Status.OK, version: this.sum, value, valueBytes: value.length };
  }
}

export class TestCall implements Outstanding {
  slot = NOT_SENT.slot;
  place = 0;
  sequence = 0;
  sentUs = 0;
  dueUs = 0;
  repeats = 0;
  readonly namesMemory = false;
  answers: bigint[] = [];
  readonly asked: Asked;

  constructor(operation: Operation = Operation.INCR, operand = 1n) {
    const key = operation === Operation.NOOP ? NO_BYTES : Uint8Array.of(1);
    this.asked = { operation, key, value: NO_BYTES, remote: undefined, ttlMs: 0, operand };
  }
}

export function encodeFor(session: Session, operation: Operation, slot: number, sequence: number): Uint8Array {
  return requestOf(session, slot, sequence, new TestCall(operation).asked);
}

/** What a server answers to a message at once: each message of it. */
export function answersTo(server: ServerMachine, session: Session, message: Uint8Array): Uint8Array[] {
  const answers: Uint8Array[] = [];
  const { way } = session;
  session.way = {
    send: (answer) => void answers.push(answer.slice()),
    move: (transfer) => way?.move(transfer) === true,
  };
  server.onMessage(session, message, 1);
  session.way = way;
  return answers;
}

function requestOf(session: Session, slot: number, sequence: number, asked: Asked): Uint8Array {
  const bytes = new Uint8Array(requestBytes(asked));
  encodeRequest(bytes, { session: session.id, epoch: EPOCH, slot, sequence }, asked);
  return bytes;
}

export interface Mischief {
  readonly seed: number;
  readonly loss: number;
  readonly duplication: number;
  /** Up to so long a message takes, which reorders them. */
  readonly delayUs: number;
}

interface Flying {
  readonly atUs: number;
  readonly toServer: boolean;
  readonly bytes: Uint8Array;
}

/** One client and one server over a network that loses, doubles and reorders, in a time of its own. */
export class TwoMachines {
  readonly store = new Counting();
  readonly server = new ServerMachine(EPOCH, this.store, SLOT_BYTES);
  readonly sessions: Sessions;
  readonly session: Session;
  readonly window: ClientWindow<TestCall>;
  readonly answered: TestCall[] = [];
  readonly #random: SeededRandom;
  readonly #view = new ResponseView();
  #flying: Flying[] = [];
  nowUs = 1;

  constructor(
    readonly mischief: Mischief,
    { window = 4, before = 0 } = {},
  ) {
    this.#random = new SeededRandom(mischief.seed);
    this.sessions = new Sessions({ maxSessions: 2, maxSilenceUs: 1e9 }, () => this.#random.u32());
    const session = this.sessions.open(window, this.nowUs);
    if (session === undefined) throw new Error('no room for the first session');
    this.session = session;
    session.way = { send: (answer) => this.#send(false, answer), move: () => false };
    this.window = new ClientWindow(window, LOSSY, before);
  }

  /** Goes on until all requests are answered, or none can be any more. */
  run(): void {
    for (let step = 0; step < 1e6; step += 1) {
      this.transmit();
      if (this.window.busy === 0 && this.window.waiting === 0) return;
      this.#advance();
    }
    throw new Error('it does not end');
  }

  /** Delivers all that is still under way. */
  settle(): void {
    while (this.#flying.length > 0) this.#advance();
  }

  transmit(): void {
    for (let call = this.window.next(this.nowUs); call !== undefined; call = this.window.next(this.nowUs))
      this.#send(true, this.bytesOf(call));
  }

  bytesOf({ slot, sequence, asked }: TestCall): Uint8Array {
    return requestOf(this.session, slot, sequence, asked);
  }

  #send(toServer: boolean, bytes: Uint8Array): void {
    const random = this.#random;
    const { loss, duplication, delayUs } = this.mischief;
    const copies = random.chance(loss) ? 0 : random.chance(duplication) ? 2 : 1;
    for (let i = 0; i < copies; i += 1)
      this.#flying.push({ atUs: this.nowUs + random.between(1, delayUs), toServer, bytes: bytes.slice() });
  }

  #advance(): void {
    this.#flying.sort((a, b) => b.atUs - a.atUs);
    const next = this.#flying.at(-1);
    const dueUs = this.window.dueUs;
    if (next === undefined || dueUs < next.atUs) {
      this.nowUs = Math.max(this.nowUs, dueUs);
      return;
    }
    this.#flying.pop();
    this.nowUs = next.atUs;
    if (next.toServer) this.server.onMessage(this.session, next.bytes, this.nowUs);
    else this.#onAnswer(next.bytes);
  }

  #onAnswer(bytes: Uint8Array): void {
    const view = this.#view;
    if (view.look(bytes) !== undefined || !isSameSession(view.session, this.session.id)) throw new Error('no answer');
    const call = this.window.answered(view.slot, view.sequence, this.nowUs);
    if (call === undefined) return;
    call.answers.push(view.version);
    this.answered.push(call);
  }
}
