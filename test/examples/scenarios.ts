/** What each example is to do, however it is started: from the tree, or in a project that has the package. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { endWithTest } from '../support/children.js';
import { loopback } from '../support/loopback.js';
import { freePort } from '../support/ports.js';

export class Program implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #stdout: Readable;
  readonly #output: Buffer[] = [];
  #errors = '';

  constructor(file: string, args: readonly string[], options: { cwd: string; address: string }) {
    const inherited = Object.entries(process.env).filter(([name]) => !/^(VERBENA_|NODE_OPTIONS$)/.test(name));
    const env = { ...Object.fromEntries(inherited), VERBENA_ADDR: options.address };
    const child = endWithTest(
      spawn(process.execPath, [file, ...args], { cwd: options.cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }),
    );
    this.#child = child;
    child.stdout.on('data', (bytes: Buffer) => this.#output.push(bytes));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.#errors += text));
    this.#stdout = child.stdout;
  }

  async line(): Promise<string> {
    for (;;) {
      const [line, ...more] = Buffer.concat(this.#output).toString().split('\n');
      if (more.length > 0) return line;
      assert.ok(!this.#stdout.readableEnded, `it has ended: ${this.#errors}`);
      await Promise.race([once(this.#stdout, 'data'), once(this.#stdout, 'end')]);
    }
  }

  /** What it has printed, when it has ended well. */
  async end(): Promise<Buffer> {
    if (this.#child.exitCode === null) await once(this.#child, 'close');
    assert.deepEqual({ code: this.#child.exitCode, errors: this.#errors }, { code: 0, errors: '' });
    return Buffer.concat(this.#output);
  }

  async text(): Promise<string> {
    return (await this.end()).toString();
  }

  /** What it ends with at Ctrl-C, when nobody holds its output any more. */
  async interrupted(): Promise<number | null> {
    const closed = once(this.#child, 'close');
    this.#child.kill('SIGINT');
    await closed;
    return this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill('SIGKILL');
    await once(this.#child, 'close');
  }
}

/** Starts an example by its name, at the nth address of this process. */
export type Start = (name: string, n: number, ...args: readonly string[]) => Program;

/** Where the compiled examples are, and from where they are started. */
export function starter(folder: string, cwd: string, base: number): Start {
  return (name, n, ...args) => new Program(join(folder, `${name}.js`), args, { cwd, address: loopback(base + n) });
}

/** What examples need beside Node and the package. */
export const PACKAGES: ReadonlyMap<string, readonly string[]> = new Map([['typed-rpc', ['zod']]]);

const TEXTS = ['SEND operation ', 'RDMA read opera', 'RDMA write oper'] as const;

export const SCENARIOS: ReadonlyMap<string, (start: Start) => Promise<void>> = new Map([
  [
    'manual-rc',
    async (start: Start) => {
      const port = String(await freePort());
      await using server = start('manual-rc', 1, '-p', port);
      assert.equal(await server.line(), `waiting on port ${port} for TCP connection`);
      await using client = start('manual-rc', 2, '-p', port, '127.0.0.1');
      const [sent, read, written] = TEXTS;
      const lines = (await client.text()).split('\n').slice(1);
      assert.deepEqual(lines, [
        `Message is: '${sent}'`,
        `Contents of server's buffer: '${read}'`,
        `Now replacing it with: '${written}'`,
        '',
      ]);
      assert.match(await server.text(), new RegExp(`^Contents of server buffer: '${written}'$`, 'm'));
    },
  ],
  [
    'manual-multicast',
    async (start: Start) => {
      const group = `239.${(process.pid >> 8) & 255}.${process.pid & 255}.7`;
      await using first = start('manual-multicast', 1, group);
      await using second = start('manual-multicast', 2, group);
      for (const member of [first, second]) assert.equal(await member.line(), `joined ${group}`);
      await using sender = start('manual-multicast', 3, group, 'send');
      const qpNum = /as queue pair (\d+)/.exec(await sender.text())?.[1] ?? '';
      const messages = Array.from({ length: 10 }, (_, i) => `from queue pair ${qpNum}: message ${i + 1} of 10`);
      for (const member of [first, second])
        assert.deepEqual((await member.text()).trimEnd().split('\n'), [`joined ${group}`, ...messages]);
    },
  ],
  [
    'file-server',
    async (start: Start) => {
      const folder = mkdtempSync(join(tmpdir(), 'verbena-files-'));
      try {
        const bytes = randomBytes(9_000_001);
        writeFileSync(join(folder, 'large'), bytes);
        writeFileSync(join(folder, 'empty'), '');
        await using server = start('file-server', 1, 'serve', folder);
        const place = await server.line();
        await using large = start('file-server', 2, 'get', place, 'large');
        await using empty = start('file-server', 3, 'get', place, '../empty');
        assert.ok((await large.end()).equals(bytes));
        assert.equal((await empty.end()).length, 0);
        await using none = start('file-server', 2, 'get', place, 'none');
        await assert.rejects(none.end(), /the server has no file none/);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  ],
  [
    'rpc',
    async (start: Start) => {
      await using server = start('rpc', 1, 'serve');
      const place = await server.line();
      for (const n of [2, 3]) {
        await using client = start('rpc', n, 'call', place);
        assert.equal(await client.text(), 'add: 42\nError: Error: no procedure subtract\nlater: after 50 ms\n');
      }
    },
  ],
  [
    'hello-world',
    async (start: Start) => {
      for (const transport of ['rdma', 'tcp']) {
        await using server = start('hello-world', 1, 'serve', transport);
        const url = await server.line();
        assert.ok(url.startsWith(`${transport}://`), url);
        await using asking = start('hello-world', 2, 'ask', url, '200');
        assert.equal(await asking.text(), 'hello world: hello, number 200\nasked 200 times\n');
        await using telling = start('hello-world', 3, 'tell', url, '20');
        assert.equal(await telling.text(), '20 messages were read\n');
        await using many = start('hello-world', 2, 'many', url, '3');
        assert.equal(await many.text(), 'hello world: hello, number 1000\nasked 1000 times\n');
      }
    },
  ],
  [
    'typed-rpc',
    async (start: Start) => {
      await using server = start('typed-rpc', 1, 'serve');
      await using client = start('typed-rpc', 2, 'call', await server.line());
      const [sum, price, invalid, missing, ...more] = (await client.text()).split('\n');
      assert.deepEqual([sum, price, ...more], ['add: 42', 'price: 2 x tea, 1 x cake: 10.5', '']);
      assert.match(invalid, /^XIO_E_MSG_INVALID: .*Too small/);
      assert.match(missing, /^XIO_E_UNSUCCESSFUL: there is no gold/);
    },
  ],
  [
    'block-device',
    async (start: Start) => {
      const folder = mkdtempSync(join(tmpdir(), 'verbena-blocks-'));
      try {
        const bytes = randomBytes(3_000_001);
        const part = randomBytes(600_000);
        writeFileSync(join(folder, 'disk'), bytes);
        writeFileSync(join(folder, 'part'), part);
        await using server = start('block-device', 1, 'serve', join(folder, 'disk'));
        const url = await server.line();
        await using before = start('block-device', 2, 'read', url);
        assert.ok((await before.end()).equals(bytes));
        await using writing = start('block-device', 3, 'write', url, join(folder, 'part'), '1000');
        assert.equal(await writing.text(), 'wrote 600000 bytes at 1000\n');
        bytes.set(part, 1000);
        await using after = start('block-device', 2, 'read', url);
        assert.ok((await after.end()).equals(bytes));
        assert.ok(readFileSync(join(folder, 'disk')).equals(bytes));
        await using beyond = start('block-device', 3, 'write', url, join(folder, 'part'), '2900000');
        await assert.rejects(beyond.end(), /are not on this device/);
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
  ],
  [
    'http-over-rdma',
    async (start: Start) => {
      await using server = start('http-over-rdma', 1, 'serve');
      await using client = start('http-over-rdma', 2, 'get', await server.line());
      const expected = ['this is /one', 'this is /two', 'over one connection', 'and this is an echo', ''];
      assert.deepEqual((await client.text()).split('\n'), expected);
    },
  ],
  [
    'shared-cache',
    async (start: Start) => {
      await using server = start('shared-cache', 1, 'serve');
      const place = await server.line();
      await using first = start('shared-cache', 2, 'use', place);
      assert.equal(await first.text(), 'visit 1\nprime 5000: 48611 (computed)\nso far: visitor 1\n');
      await using second = start('shared-cache', 3, 'use', place);
      assert.equal(await second.text(), 'visit 2\nprime 5000: 48611 (from the cache)\nso far: visitor 1, visitor 2\n');
    },
  ],
  [
    'worker-pool',
    async (start: Start) => {
      await using threads = start('worker-pool', 1, '2');
      assert.match(await threads.text(), /^primes below 400000: 33860$/m);
      await using pool = start('worker-pool', 2, '0');
      const place = (await pool.line()).replace('work is to be had at ', '');
      await using worker = start('worker-pool', 3, 'work', place);
      assert.match(await pool.text(), /^primes below 400000: 33860$/m);
      await worker.end();
    },
  ],
  [
    'work-queue',
    async (start: Start) => {
      await using host = start('work-queue', 1, 'host', '24');
      const place = await host.line();
      const workers = [2, 3].map((n) => start('work-queue', n, 'work', place));
      const done = await Promise.all(workers.map((worker) => worker.text()));
      const counts = done.map((text) => Number(/did (\d+) jobs/.exec(text)?.[1]));
      assert.equal(counts[0] + counts[1], 24);
      const squares = Array.from({ length: 24 }, (_, i) => (i + 1) ** 2);
      assert.match(await host.text(), new RegExp(`^all 24 jobs are done: ${squares.join(' ')}$`, 'm'));
    },
  ],
  [
    'allreduce',
    async (start: Start) => {
      const small = [
        '--ranks',
        '4',
        '--sizes',
        '40,40000',
        '--rounds',
        '2',
        '--warm-up',
        '1',
        '--cells',
        '9',
        '--steps',
        '3',
      ];
      for (const [n, transport] of ['rc', 'ud'].entries()) {
        await using run = start('allreduce', 1 + n, ...small, '--transport', transport);
        assert.match(
          await run.text(),
          /^ +40 .*\n +40000 .*\nhalo exchange: 2 x 2 .*\nevery sum and every cell was right$/m,
        );
      }
      // It ends when its processes have, which hold its output as well.
      await using endless = start('allreduce', 1, '--ranks', '3', '--rounds', '1000000');
      assert.match(await endless.line(), /^allreduce .* by 3 processes over rc, a ring from 0 bytes on$/);
      assert.equal(await endless.interrupted(), 130);
      await using json = start('allreduce', 1, ...small, '--json', '--sizes', '40,8k');
      const { ranks, allreduce } = JSON.parse(await json.text()) as { ranks: number; allreduce: { bytes: number }[] };
      assert.deepEqual([ranks, ...allreduce.map(({ bytes }) => bytes)], [4, 40, 8192]);
      await using help = start('allreduce', 1, '--help');
      assert.match(await help.text(), /^usage: .*\n.*--ranks/s);
      await using wrong = start('allreduce', 1, '--sizes', '10');
      await assert.rejects(wrong.text(), /--sizes is '10'; give a multiple of 4/);
    },
  ],
]);
