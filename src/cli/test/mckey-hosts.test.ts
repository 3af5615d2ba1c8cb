import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { ip, isInside, namespaceProblem, runInside, untilUp } from '../../node/links/test/namespace.js';
import { type Ended, run, Tool } from './tool.js';

/** A network of its own, kept by a process that does nothing. */
class FarHost {
  readonly #holder: ChildProcess;

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
  }

  static async make(): Promise<FarHost> {
    const holder = spawn('unshare', ['--net', 'sh', '-c', 'echo there; exec cat'], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(holder.stdout, 'data');
    return new FarHost(holder);
  }

  get wrapper(): readonly string[] {
    return ['nsenter', `--net=/proc/${String(this.#holder.pid)}/ns/net`];
  }

  /** Lays a cable from here to there, with an address of each version at both ends. */
  connect(): void {
    ip('link add va type veth peer name vb');
    ip(`link set vb netns ${String(this.#holder.pid)}`);
    const ends = [
      { wrapper: [], name: 'va', n: 1 },
      { wrapper: this.wrapper, name: 'vb', n: 2 },
    ];
    for (const { wrapper, name, n } of ends) {
      for (const command of [
        `addr add 10.87.0.${n}/24 dev ${name}`,
        `addr add fd87::${n}/64 dev ${name} nodad`,
        `link set ${name} up`,
      ]) {
        const [file, ...args] = [...wrapper, 'ip', ...command.split(' ')];
        execFileSync(file, args);
      }
    }
    untilUp('va');
  }

  async end(): Promise<void> {
    const gone = once(this.#holder, 'close');
    this.#holder.kill('SIGKILL');
    await gone;
  }
}

function textOf(role: 'client' | 'server', dgid: string): string {
  const doing = role === 'client' ? 'initiating' : 'receiving';
  return (
    `mckey: starting ${role}\nmckey: joining\nmckey: joined dgid: ${dgid} mlid 0x0 sl 0\n` +
    `${doing} data transfers\ndata transfers complete\ntest complete\nreturn status 0\n`
  );
}

const CASES = [
  { name: 'IPv4', group: '239.87.0.1', dgid: '::ffff:239.87.0.1', near: ['-b', '10.87.0.1'], far: ['-b', '10.87.0.2'] },
  { name: 'IPv6', group: 'ff0e::87', dgid: 'ff0e::87', near: ['-b', 'fd87::1'], far: ['-b', 'fd87::2'] },
  {
    name: 'IPv4, by devices that are named',
    group: '239.87.0.2',
    dgid: '::ffff:239.87.0.2',
    near: ['--addr', '10.87.0.1'],
    far: ['--addr', '10.87.0.2'],
  },
] as const;

if (isInside) {
  describe('two hosts joined by a cable', () => {
    let far: FarHost;
    before(async () => {
      ip('link set lo up');
      far = await FarHost.make();
      far.connect();
    });
    after(() => far.end());

    /** One of the two sends, the other one receives. */
    async function play(receives: 'near' | 'far', flags: Record<'near' | 'far', readonly string[]>): Promise<Ended[]> {
      const wrapperOf = (side: 'near' | 'far'): readonly string[] => (side === 'far' ? far.wrapper : []);
      const sends = receives === 'near' ? 'far' : 'near';
      const receiver = new Tool(['mckey', '--pause', '0', ...flags[receives]], {}, wrapperOf(receives));
      await receiver.printed('receiving data transfers');
      const sender = await run(['mckey', '--pause', '0', '-s', ...flags[sends]], {}, wrapperOf(sends));
      return [await receiver.ended, sender];
    }

    for (const { name, group, dgid, near, far: there } of CASES) {
      for (const receives of ['near', 'far'] as const) {
        it(`send to a group of ${name}; the ${receives} one receives`, async () => {
          const flags = { near: ['-m', group, ...near], far: ['-m', group, ...there] };
          const good = { code: 0, signal: null, stderr: '' };
          assert.deepEqual(await play(receives, flags), [
            { ...good, stdout: textOf('server', dgid) },
            { ...good, stdout: textOf('client', dgid) },
          ]);
        });
      }
    }

    for (const { name, dgid, near, far: there } of CASES.slice(0, 2)) {
      it(`send to a group of ${name} that is named by its GID, joined to send only, the NICs inline`, async () => {
        const common = ['-M', dgid, '--host', 'inline'];
        const flags = { near: [...common, ...near], far: [...common, ...there, '-o'] };
        assert.deepEqual(
          (await play('near', flags)).map(({ code, stderr }) => ({ code, stderr })),
          Array(2).fill({ code: 0, stderr: '' }),
        );
      });
    }
  });
} else {
  it('groups between two hosts work for mckey', { skip: namespaceProblem() }, () => runInside(import.meta.url));
}
