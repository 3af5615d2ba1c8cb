import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { without } from '../../src/run/test/support.js';
import { loopback } from '../support/loopback.js';
import { freePort } from '../support/ports.js';

const UNDER = fileURLToPath(new URL('./programs/under-docker.js', import.meta.url));
const TOOL = fileURLToPath(new URL('../../../bin/verbena', import.meta.url));
/** Nobody, with nothing: what is left of root in a container that says USER. */
const NOBODY = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups', '--bounding-set', '-all', '--'];

const skip =
  process.platform !== 'linux' || process.arch !== 'x64'
    ? 'the profile stands here in numbers of Linux on x86-64'
    : process.getuid?.() === 0 && spawnSync('setpriv', ['--version']).status !== 0
      ? 'there is no setpriv, which would take root away'
      : false;

/** Where nobody may not enter the project's folder, the tests run as this user. */
const isNobody =
  skip === false &&
  process.getuid?.() === 0 &&
  spawnSync(NOBODY[0], [...NOBODY.slice(1), 'test', '-r', TOOL]).status === 0;

/** Starts a command as nobody, under what Docker denies. */
function start(...words: readonly string[]): ChildProcess {
  const command = [process.execPath, UNDER, ...words];
  const [file, ...args] = isNobody ? [...NOBODY, ...command] : command;
  return spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: '/nonexistent' } });
}

async function ended(child: ChildProcess): Promise<{ code: number | null; out: string; errors: string }> {
  assert.ok(child.stdout !== null && child.stderr !== null);
  const [out, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: child.exitCode, out, errors };
}

const verbena = (...args: readonly string[]): ChildProcess => start(process.execPath, TOOL, ...args);

describe("as nobody under Docker's default seccomp profile", { skip }, () => {
  it('is denied what the profile denies', async () => {
    const { out, errors } = await ended(start('sh', '-c', 'id -u; unshare -U true; grep Seccomp: /proc/self/status'));
    assert.match(out, /Seccomp:\s+2/);
    assert.match(errors, /unshare/);
    if (isNobody) assert.match(out, /^65534$/m);
  });

  it('transfers between two NICs', async () => {
    const { code, out, errors } = await ended(
      verbena('transfer', '--size', '4', '--json', '--from', loopback(1), '--to', loopback(2)),
    );
    assert.deepEqual({ code, errors }, { code: 0, errors: '' });
    assert.match(out, /"bytes": ?4194304/);
  });

  it('pings by rdma_cm, READ and WRITE', async () => {
    const server = verbena('rping', '-s', '-a', loopback(3), '-C', '5');
    const served = ended(server);
    const client = await ended(
      start(
        'sh',
        '-c',
        `i=0; until "$0" "$1" rping -c -a ${loopback(3)} -I ${loopback(4)} -C 5 -v; do i=$((i+1)); [ $i -lt 20 ] || exit 1; done`,
        process.execPath,
        TOOL,
      ),
    );
    assert.equal(client.out.match(/ping data: rdma-ping-/g)?.length, 5, client.errors);
    assert.equal((await served).code, 0);
  });

  it('runs programs written in C', { skip: without('ibv_rc_pingpong', 'ibverbs-utils') }, async () => {
    const port = await freePort();
    const game = `ibv_rc_pingpong -g 0 -n 20 -p ${port}`;
    const listening = `while ! grep -q ":$(printf %04X ${port}) .* 0A " /proc/net/tcp /proc/net/tcp6; do sleep 0.05; done`;
    const pair = `${game} & ${listening}; ${game} 127.0.0.1; wait`;
    const { code, out, errors } = await ended(verbena('run', '--addr', loopback(5), '--', 'sh', '-c', pair));
    assert.equal(code, 0, errors);
    assert.equal(out.match(/20 iters in/g)?.length, 2);
  });
});
