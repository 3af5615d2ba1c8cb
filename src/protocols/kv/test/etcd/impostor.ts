import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runtime, useRuntime } from '../../../../api/runtime/index.js';

export type Answers = Readonly<Record<string, (response: ServerResponse) => void>>;

/** Answers with an object of JSON. */
export function json(answer: object, status = 200): (response: ServerResponse) => void {
  return (response) =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
}

/** What an etcd answers that has nothing, and agrees to everything. */
export const ORDINARY = {
  'kv/range': json({ header: { revision: '5' } }),
  'kv/txn': json({ header: { revision: '6' }, succeeded: true }),
  'lease/grant': json({ ID: '77', TTL: '2' }),
  'lease/keepalive': json({ result: { ID: '77', TTL: '2' } }),
  'lease/revoke': json({}),
  'lease/timetolive': json({ ID: '77', TTL: '1' }),
  // It goes on.
  watch: (response) => void response.writeHead(200).write('{"result":{"created":true}}\n'),
} satisfies Answers;

/** What answers where etcd should be, as a test says, and otherwise as an ordinary etcd. */
export class Impostor implements AsyncDisposable {
  readonly #server: Server;
  readonly #asked = new Map<string, number>();

  private constructor(answers: Answers) {
    const all = new Map(Object.entries<Answers[string]>({ ...ORDINARY, turn: json({}), ...answers }));
    this.#server = createServer((request, response) => {
      const path = (request.url ?? '').replace('/v3/', '');
      this.#asked.set(path, this.times(path) + 1);
      request.resume().on('end', () => all.get(path)?.(response));
    });
  }

  static async begin(answers: Answers = {}): Promise<Impostor> {
    const impostor = new Impostor(answers);
    await once(impostor.#server.listen(0, '127.0.0.1'), 'listening');
    return impostor;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** How often that was asked. */
  times(path: string): number {
    return this.#asked.get(path) ?? 0;
  }

  /** Asks it several times, one after the other: whoever else asks without a pause has asked as well by then. */
  async turns(count = 1): Promise<void> {
    for (let n = 0; n < count; n += 1) await (await fetch(`${this.url}/v3/turn`, { method: 'POST' })).text();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}

const STEP_MS = 50;

/** Time that goes on when a test says so, for all that waits without keeping the process alive. */
export class TestTime implements Disposable {
  readonly #before = runtime();
  readonly #chores = new Set<{ readonly atMs: number; readonly action: () => void }>();
  nowMs = 0;

  constructor() {
    useRuntime({
      ...this.#before,
      chore: (delayMs, action) => {
        const chore = { atMs: this.nowMs + delayMs, action };
        this.#chores.add(chore);
        return () => void this.#chores.delete(chore);
      },
    });
  }

  pass(ms: number): void {
    this.nowMs += ms;
    for (const chore of [...this.#chores]) {
      if (chore.atMs > this.nowMs || !this.#chores.delete(chore)) continue;
      chore.action();
    }
  }

  /** Lets time pass until that holds, and the other end have its turns meanwhile. */
  async until(impostor: Impostor, holds: () => boolean): Promise<void> {
    while (!holds()) {
      this.pass(STEP_MS);
      await impostor.turns();
    }
  }

  [Symbol.dispose](): void {
    useRuntime(this.#before);
  }
}
