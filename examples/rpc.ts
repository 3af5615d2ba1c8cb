// Remote procedure calls: many at a time over one connection, answered as they finish, in any order.
//
//   node rpc.js serve                prints where it listens
//   node rpc.js call HOST:PORT       makes some calls
import { alloc, connect, type Connection, type ConnectionRequest, listen, SendFlags, WcStatus } from 'verbena';
import type { CmId, Mr } from 'verbena';

/** Of a message, and of how many each side can hold. A caller has no more calls under way, so no message is without room. */
const MESSAGE_BYTES = 1024;
const WINDOW = 16;

const PROCEDURES: Readonly<Partial<Record<string, (...args: readonly number[]) => unknown>>> = {
  add: (a, b) => a + b,
  later: (ms) => new Promise((resolve) => setTimeout(() => resolve(`after ${ms} ms`), ms)),
};

interface Call {
  readonly id: number;
  readonly procedure: string;
  readonly args: readonly number[];
}
interface Answer {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** Messages as JSON, over a window of buffers for each direction. */
class Wire {
  readonly #connection: Connection;
  readonly #inbox: Mr;
  readonly #outbox: Mr;
  readonly #free = Array.from({ length: WINDOW }, (_, slot) => slot);

  constructor(connection: Connection, inbox: Mr, outbox: Mr) {
    this.#connection = connection;
    this.#inbox = inbox;
    this.#outbox = outbox;
  }

  static readonly cap = { maxSendWr: WINDOW, maxRecvWr: WINDOW, maxSendSge: 1, maxRecvSge: 1 };

  /** Room for what comes in, before it can come. */
  static receiveInto(id: CmId, inbox: Mr): void {
    for (let slot = 0; slot < WINDOW; slot += 1)
      id.postRecv(BigInt(slot), inbox.sge(slot * MESSAGE_BYTES, MESSAGE_BYTES));
  }

  async send(message: Call | Answer): Promise<void> {
    const slot = this.#free.pop();
    const text = JSON.stringify(message);
    if (slot === undefined) throw new Error(`more than ${WINDOW} messages at a time`);
    if (Buffer.byteLength(text) > MESSAGE_BYTES) throw new Error(`a message of more than ${MESSAGE_BYTES} bytes`);
    const start = slot * MESSAGE_BYTES;
    const { written } = new TextEncoder().encodeInto(text, this.#outbox.bytes.subarray(start, start + MESSAGE_BYTES));
    this.#connection.postSend(BigInt(slot), this.#outbox.sge(start, written), SendFlags.SIGNALED);
    const { wrId } = await this.#connection.sendComp();
    this.#free.push(Number(wrId));
  }

  /** Messages, until the peer has gone. */
  async *messages(): AsyncGenerator<unknown, void, undefined> {
    for (;;) {
      const { status, wrId, byteLen } = await this.#connection.recvComp();
      if (status !== WcStatus.SUCCESS) return;
      const start = Number(wrId) * MESSAGE_BYTES;
      const text = Buffer.from(this.#inbox.bytes.slice(start, start + byteLen)).toString();
      // The bytes were copied out: the slot can take the next message.
      this.#connection.postRecv(wrId, this.#inbox.sge(start, MESSAGE_BYTES));
      yield JSON.parse(text);
    }
  }
}

async function run({ id, procedure, args }: Call): Promise<Answer> {
  try {
    const called = PROCEDURES[procedure];
    if (called === undefined) throw new Error(`no procedure ${procedure}`);
    return { id, result: await called(...args) };
  } catch (error) {
    return { id, error: String(error) };
  }
}

async function answer(request: ConnectionRequest): Promise<void> {
  using inbox = request.id.regMsgs(alloc(WINDOW * MESSAGE_BYTES));
  const prepare = (id: CmId): void => Wire.receiveInto(id, inbox);
  await using connection = await request.accept({ qp: { cap: Wire.cap }, prepare });
  using outbox = connection.regMsgs(alloc(WINDOW * MESSAGE_BYTES));
  const wire = new Wire(connection, inbox, outbox);
  // What a client sends that is no message throws here, and ends its connection and no other.
  for await (const message of wire.messages()) {
    const answered = run(message as Call).then((result) => wire.send(result));
    // The client has gone before the answer.
    answered.catch(() => undefined);
  }
}

/** Calls, and whoever waits for their answers. */
class Caller {
  readonly #wire: Wire;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  constructor(wire: Wire) {
    this.#wire = wire;
    void this.#listen();
  }

  async call(procedure: string, ...args: readonly number[]): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    await this.#wire.send({ id, procedure, args });
    const { result, error } = await answered;
    if (error !== undefined) throw new Error(error);
    return result;
  }

  async #listen(): Promise<void> {
    for await (const message of this.#wire.messages()) {
      const answered = message as Answer;
      this.#waiting.get(answered.id)?.(answered);
      this.#waiting.delete(answered.id);
    }
    for (const [id, resolve] of this.#waiting) resolve({ id, error: 'the server has gone' });
  }
}

async function call(place: string): Promise<void> {
  const colon = place.lastIndexOf(':');
  const [host, port] = [place.slice(0, colon), Number(place.slice(colon + 1))];
  const memory = alloc(WINDOW * MESSAGE_BYTES);
  const prepare = (id: CmId): void => Wire.receiveInto(id, id.regMsgs(memory));
  await using connection = await connect({ host, port, qp: { cap: Wire.cap }, prepare });
  const outbox = connection.regMsgs(alloc(WINDOW * MESSAGE_BYTES));
  const caller = new Caller(new Wire(connection, connection.regMsgs(memory), outbox));
  const slow = caller.call('later', 50).then((result) => console.log(`later: ${String(result)}`));
  console.log(`add: ${String(await caller.call('add', 20, 22))}`);
  await caller.call('subtract', 1, 2).catch((error: unknown) => console.log(String(error)));
  await slow;
}

async function main(): Promise<void> {
  const [role, place = ''] = process.argv.slice(2);
  if (role === 'call' && place !== '') return call(place);
  if (role !== 'serve') throw new Error('usage: rpc serve | call HOST:PORT');
  const listener = listen();
  console.log(`${listener.address.host}:${listener.address.port}`);
  await listener.serve(answer);
}

void main();
