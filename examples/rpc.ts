// Remote procedure calls: many at a time over one connection, answered as they finish, in any order.
//
//   node rpc.js serve                prints where it listens
//   node rpc.js call HOST:PORT       makes some calls
import { connect, listen, type MessageConnection } from 'verbena/messages';

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

const encode = (message: Call | Answer): Uint8Array => new TextEncoder().encode(JSON.stringify(message));
const decode = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));

async function run({ id, procedure, args }: Call): Promise<Answer> {
  try {
    const called = PROCEDURES[procedure];
    if (called === undefined) throw new Error(`no procedure ${procedure}`);
    return { id, result: await called(...args) };
  } catch (error) {
    return { id, error: String(error) };
  }
}

async function answer(connection: MessageConnection): Promise<void> {
  // What a client sends that is no call throws here, and ends its connection and no other.
  for await (const message of connection.messages()) {
    const answered = run(decode(message) as Call).then((result) => connection.send(encode(result)));
    // The client has gone before the answer.
    answered.catch(() => undefined);
  }
}

/** Calls, and whoever waits for their answers. */
class Caller {
  readonly #connection: MessageConnection;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  constructor(connection: MessageConnection) {
    this.#connection = connection;
    this.#listen().catch((error: unknown) => this.#fail(String(error)));
  }

  async call(procedure: string, ...args: readonly number[]): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    const answered = new Promise<Answer>((resolve) => this.#waiting.set(id, resolve));
    await this.#connection.send(encode({ id, procedure, args }));
    const { result, error } = await answered;
    if (error !== undefined) throw new Error(error);
    return result;
  }

  async #listen(): Promise<void> {
    for await (const message of this.#connection.messages()) {
      const answered = decode(message) as Answer;
      this.#waiting.get(answered.id)?.(answered);
      this.#waiting.delete(answered.id);
    }
    this.#fail('the server has gone');
  }

  #fail(error: string): void {
    for (const [id, resolve] of this.#waiting) resolve({ id, error });
  }
}

async function call(place: string): Promise<void> {
  const colon = place.lastIndexOf(':');
  await using connection = await connect({ host: place.slice(0, colon), port: Number(place.slice(colon + 1)) });
  const caller = new Caller(connection);
  const slow = caller.call('later', 50);
  console.log(`add: ${String(await caller.call('add', 20, 22))}`);
  await caller.call('subtract', 1, 2).catch((error: unknown) => console.log(String(error)));
  console.log(`later: ${String(await slow)}`);
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
