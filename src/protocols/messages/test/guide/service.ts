import { alloc } from 'verbena';
import {
  connect,
  decodeRemoteBuffer,
  type MessageConnection,
  type MessageListener,
  type RemoteBuffer,
  type WaitOptions,
} from 'verbena/messages';

const encode = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const decode = (bytes: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(bytes));

interface Question {
  readonly id: number;
  readonly numbers: readonly number[];
}
interface Answer {
  readonly id: number;
  readonly sum: number;
}

/** Adds up the numbers that clients send. Clients read the count of its answers in its memory. */
export async function serve(listener: MessageListener, onError?: (error: unknown) => void): Promise<void> {
  const memory = alloc(8);
  const answered = new BigUint64Array(memory.buffer, memory.byteOffset, 1);
  const handler = async (connection: MessageConnection): Promise<void> => {
    using shared = connection.share(memory);
    await connection.send(shared.encode());
    for await (const message of connection.messages()) {
      const { id, numbers } = decode(message) as Question;
      const answer: Answer = { id, sum: numbers.reduce((sum, n) => sum + n, 0) };
      await connection.send(encode(answer), { timeoutMs: 5000 });
      answered[0] += 1n;
    }
  };
  await listener.serve(handler, { maxConnections: 100, ...(onError && { onError }) });
}

export class Client implements AsyncDisposable {
  #lastId = 0;

  private constructor(
    private readonly connection: MessageConnection,
    private readonly counter: RemoteBuffer,
  ) {}

  static async connect(host: string, port: number, options: WaitOptions = {}): Promise<Client> {
    const connection = await connect({ host, port, ...options });
    const told = await connection.receive(options);
    if (told === undefined) throw new Error('the server has closed the connection');
    return new Client(connection, decodeRemoteBuffer(told));
  }

  async sum(numbers: readonly number[], options: WaitOptions = {}): Promise<number> {
    const id = (this.#lastId += 1);
    await this.connection.send(encode({ id, numbers }), options);
    for (;;) {
      const message = await this.connection.receive(options);
      if (message === undefined) throw new Error('the server has closed the connection');
      const answer = decode(message) as Answer;
      // Other answers belong to cancelled questions.
      if (answer.id === id) return answer.sum;
    }
  }

  /** How many sums the server has answered, for all clients. */
  async answered(options: WaitOptions = {}): Promise<bigint> {
    const bytes = await this.connection.read(this.counter, 8, options);
    return new BigUint64Array(bytes.buffer)[0];
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.connection.close();
  }
}
