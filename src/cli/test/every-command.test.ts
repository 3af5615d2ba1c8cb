import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, type Option } from 'commander';
import { commandOf, ENTRIES } from '../commands.js';
import { completeOptions } from '../kit/arguments.js';
import { loopback } from '../../../test/support/loopback.js';
import { freePort } from '../../../test/support/ports.js';
import { run, Tool } from './tool.js';

/** Names that --help lists, with `kv`'s commands as two words. */
async function listed(words: readonly string[] = []): Promise<string[]> {
  const { stdout } = await run([...words, '--help']);
  const text = words.length === 0 ? stdout.slice(0, stdout.indexOf('Environment:')) : stdout;
  const commands = text.slice(text.search(/^(?:Main|Commands):$/m));
  return [...commands.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name).filter((name) => name !== 'help');
}

function allOf(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(allOf)];
}

const pathOf = (command: Command): string[] =>
  command.parent === null ? [] : [...pathOf(command.parent), command.name()];

const names = await listed();

test('the table of commands has what --help lists', () => {
  assert.deepEqual([...names].sort(), ENTRIES.map(({ name }) => name).sort());
});

describe('a unique prefix of every long option stands for it', () => {
  for (const entry of ENTRIES)
    test(entry.name, async () => {
      const program = new Command('verbena').enablePositionalOptions().addCommand(await commandOf(entry));
      for (const command of allOf(program.commands[0])) {
        const path = pathOf(command);
        const longs = ['--help', ...command.options.flatMap(({ long }) => long ?? [])];
        for (const long of longs) {
          // The shortest that no other option begins with.
          let length = '--x'.length;
          const isShared = (prefix: string): boolean =>
            longs.some((other) => other !== long && other.startsWith(prefix));
          while (length < long.length && isShared(long.slice(0, length))) length += 1;
          const prefix = long.slice(0, length);
          const completed = completeOptions(program, [...path, prefix], entry.passesOn === true);
          assert.deepEqual(completed, [...path, long], [...path, prefix].join(' '));
        }
      }
    });
});

/** How a command waits for something that does not come; `undefined`: it ends by itself, and quickly. */
type Waits = ((at: string, port: string) => readonly string[]) | undefined;
const ping: Waits = (at, port) => ['--addr', at, '-p', port];
const bound: Waits = (at) => ['-b', at];
const perf: Waits = (at, port) => ['--addr', at, '-p', port, '--no-warm-up'];
const WAITS: Readonly<Record<string, Waits>> = {
  transfer: (at) => ['--size', '100000', '--from', at, '--to', loopback(210)],
  run: () => ['--', 'sleep', '1000'],
  ibv_devices: undefined,
  ibv_devinfo: undefined,
  show_gids: undefined,
  ibv_asyncwatch: () => [],
  ibv_rc_pingpong: ping,
  ibv_uc_pingpong: ping,
  ibv_ud_pingpong: ping,
  ibv_srq_pingpong: ping,
  ibv_xsrq_pingpong: ping,
  rping: (at) => ['-s', '-a', at],
  ucmatose: bound,
  udaddy: bound,
  mckey: (at) => ['-m', '239.1.2.3', '-b', at],
  rdma_client: undefined,
  rdma_server: (at) => ['-s', at],
  rdma_xclient: undefined,
  rdma_xserver: (at) => ['--addr', at],
  cmtime: bound,
  rstream: bound,
  riostream: bound,
  udpong: bound,
  rcopy: (at) => ['--addr', at],
  ib_send_bw: perf,
  ib_send_lat: perf,
  ib_write_bw: perf,
  ib_write_lat: perf,
  ib_read_bw: perf,
  ib_read_lat: perf,
  ib_atomic_bw: perf,
  ib_atomic_lat: perf,
  ucx_perftest: (_, port) => ['-p', port],
  ucx_info: undefined,
  xio_perftest: (at, port) => ['--addr', at, '-p', port],
  rdma: undefined,
  why: undefined,
  dump: undefined,
  explain: undefined,
  rproxy: (at, port) => ['--listen', `rdma:${at}:7999`, '--to', `tcp:127.0.0.1:${port}`],
  kv: (at) => ['serve', '--addr', at],
  lab: (at) => ['3', 'receiver', at],
};

/** Waits until a tool has its device or has printed something: from then on it has begun. */
async function hasBegun(tool: Tool, runtime: string): Promise<void> {
  const heard = new AbortController();
  for (const stream of [tool.child.stdout, tool.child.stderr]) stream.once('data', () => heard.abort());
  const hasNic = (): boolean =>
    readdirSync(runtime, { recursive: true }).some((name) => String(name).endsWith('.json'));
  while (!heard.signal.aborted && !hasNic() && tool.child.exitCode === null) await sleep(5);
}

describe('Ctrl-C ends every command that waits', () => {
  test('and the table has every command', () => {
    assert.deepEqual(Object.keys(WAITS).sort(), [...names].sort());
  });

  for (const [i, [name, words]] of Object.entries(WAITS).entries()) {
    if (words === undefined) continue;
    test(name, async () => {
      const runtime = mkdtempSync(join(tmpdir(), 'verbena-every-'));
      try {
        const at = loopback(i + 1);
        const tool = new Tool([name, ...words(at, String(await freePort()))], { XDG_RUNTIME_DIR: runtime });
        await hasBegun(tool, runtime);
        tool.child.kill('SIGINT');
        const { code, signal, stderr } = await tool.ended;
        // A tool without a connection and without anything to print leaves the signal to the system.
        assert.ok(code === 130 || signal === 'SIGINT', `${code} ${signal} ${stderr}`);
      } finally {
        rmSync(runtime, { recursive: true, force: true });
      }
    });
  }
});

/** Where not even root can make a folder. */
const NOWHERE = '/proc/no-such-folder/x';
/**
 * For every option that names a file or a folder: the words beside it. None of these commands has a peer, so that one which
 * began its work would wait, or fail with another sentence.
 */
const WRITES: Readonly<Record<string, readonly string[]>> = {
  '--out_json_file': ['-p', '1'],
  '--output': [],
  '--plot': [],
  '-o': ['read_lat', loopback(200)],
  '--folder': [],
  '--pcap': ['--', 'true'],
  '--data': ['--addr', loopback(201)],
};

const isFile = ({ flags, hidden }: Option): boolean => !hidden && /<(?:file|folder)>/.test(flags);

describe('every option that names a file to write is checked before the work', () => {
  const tried = new Set<string>();
  for (const entry of ENTRIES)
    test(entry.name, async () => {
      const program = new Command('verbena').enablePositionalOptions().addCommand(await commandOf(entry));
      for (const command of allOf(program.commands[0]))
        for (const { long, short } of command.options.filter(isFile)) {
          const option = long ?? short ?? '';
          assert.ok(option in WRITES, `${pathOf(command).join(' ')} ${option}: add to WRITES how to try it`);
          tried.add(option);
          const { code, stdout, stderr } = await run([...pathOf(command), option, NOWHERE, ...WRITES[option]]);
          assert.notEqual(code, 0);
          assert.match(stderr, /no-such-folder.* cannot be (?:written: its folder does not exist|used: ENOENT)/);
          assert.equal(stdout, '');
        }
    });

  test('and the table has no more than there are', () => {
    assert.deepEqual([...tried].sort(), Object.keys(WRITES).sort());
  });
});
