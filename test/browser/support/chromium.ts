/** A browser without a window, as Debian has it, which is told by its DevTools protocol what to do. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const PROGRAM = 'chromium';

const asked = spawnSync(PROGRAM, ['--version'], { encoding: 'utf8' });

export const chromiumVersion = asked.error === undefined ? asked.stdout.trim() : '';

/** Why tests that need a browser are left out, or false. */
export const withoutChromium =
  asked.error === undefined ? false : 'chromium is not installed, so there is no browser to run in';

const FLAGS = [
  '--headless',
  '--remote-debugging-pipe',
  // What runs in it is our own, and containers seldom let it build its sandbox.
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-extensions',
  '--disable-sync',
  // It is to talk to nobody but the test.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
];

type Json = Readonly<Record<string, unknown>>;

interface Answer {
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly params?: Json;
  readonly result?: Json;
  readonly error?: { readonly message: string };
}

function objectAt(json: Json | undefined, name: string): Json | undefined {
  const value = json?.[name];
  // What is an object came as one of JSON's.
  return typeof value === 'object' && value !== null ? (value as Json) : undefined;
}

function exceptionText(details: Json | undefined): string {
  const description = objectAt(details, 'exception')?.['description'];
  return typeof description === 'string' ? description : JSON.stringify(details);
}

export class Page {
  /** What was thrown in it and caught by nobody, and what it could not load. */
  readonly problems: string[] = [];

  constructor(private readonly command: (method: string, params: Json) => Promise<Json>) {}

  /** What an expression gives, awaited where it is a promise, as far as JSON can say it. @throws what it throws, in words */
  async evaluate(expression: string): Promise<unknown> {
    const how = { expression, awaitPromise: true, returnByValue: true };
    const answer = await this.command('Runtime.evaluate', how);
    const details = objectAt(answer, 'exceptionDetails');
    if (details !== undefined) throw new Error(exceptionText(details));
    return objectAt(answer, 'result')?.['value'];
  }
}

export class Chromium implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'verbena-chromium-'));
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #to: Writable;
  readonly #waiting = new Map<number, { resolve: (answer: Json) => void; reject: (error: Error) => void }>();
  readonly #pages = new Map<string, Page>();
  #commands = 0;
  #errors = '';

  constructor() {
    this.#process = spawn(PROGRAM, [...FLAGS, `--user-data-dir=${this.#folder}`], {
      stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'],
    });
    // Pipes all, as the line above has it.
    const [, , errors, to, from] = this.#process.stdio as unknown as [null, null, Readable, Writable, Readable];
    this.#to = to;
    this.#to.on('error', () => undefined);
    errors.setEncoding('utf8').on('data', (text: string) => (this.#errors += text));
    let unread = '';
    from.setEncoding('utf8').on('data', (text: string) => {
      const messages = (unread + text).split('\0');
      unread = messages.pop() ?? '';
      for (const message of messages) this.#take(JSON.parse(message) as Answer); // DevTools' own shape.
    });
    this.#ended = new Promise((resolve) => {
      const end = (): void => {
        for (const { reject } of this.#waiting.values()) reject(new Error(`chromium has ended:\n${this.#errors}`));
        resolve();
      };
      this.#process.on('error', end).on('close', end);
    });
  }

  async open(url: string): Promise<Page> {
    const { targetId } = await this.#command('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.#command('Target.attachToTarget', { targetId, flatten: true });
    const session = String(sessionId);
    const page = new Page((method, params) => this.#command(method, params, session));
    this.#pages.set(session, page);
    await this.#command('Runtime.enable', {}, session);
    await this.#command('Log.enable', {}, session);
    await this.#command('Page.enable', {}, session);
    await this.#command('Page.navigate', { url }, session);
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // It may end before it has answered.
    void this.#command('Browser.close', {}).catch(() => undefined);
    await this.#ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #command(method: string, params: Json, sessionId?: string): Promise<Json> {
    const id = (this.#commands += 1);
    return new Promise((resolve, reject) => {
      if (this.#process.exitCode !== null) reject(new Error(`chromium has ended:\n${this.#errors}`));
      this.#waiting.set(id, { resolve, reject });
      this.#to.write(`${JSON.stringify({ id, method, params, ...(sessionId !== undefined && { sessionId }) })}\0`);
    });
  }

  #take({ id, method, sessionId = '', params, result, error }: Answer): void {
    const waiter = id === undefined ? undefined : this.#waiting.get(id);
    if (id !== undefined) this.#waiting.delete(id);
    if (error !== undefined) waiter?.reject(new Error(error.message));
    else waiter?.resolve(result ?? {});
    const problems = this.#pages.get(sessionId)?.problems;
    if (method === 'Runtime.exceptionThrown') problems?.push(exceptionText(objectAt(params, 'exceptionDetails')));
    const entry = objectAt(params, 'entry');
    if (method === 'Log.entryAdded' && entry?.['level'] === 'error')
      problems?.push(`${String(entry['text'])} ${String(entry['url'])}`);
  }
}
