import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gidFromIp, openDevice, SendFlags, WcStatus, WrOpcode } from '../../../entry/index.js';
import { ip, isInside, namespaceProblem, runInside, untilUp } from '../../links/test/namespace.js';
import { drain } from '../../../providers/soft/test/support/pair.js';
import { makeBench, makeUd, QKEY } from '../../../providers/soft/test/support/queue-pairs.js';

const MEMBER = fileURLToPath(new URL('./programs/group-member.js', import.meta.url));
const MULTICAST_QPN = 0xffffff;
const TEXTS = ['one', 'two', 'three'];

/** A host in a network of its own at the other end of a cable, in which a member of the group runs. */
class FarHost implements AsyncDisposable {
  readonly #child;
  readonly #lines: AsyncIterator<string>;

  constructor(args: readonly string[]) {
    const setUp =
      'echo there; read line; ip addr add 10.86.0.2/24 dev vb; ip addr add fd86::2/64 dev vb nodad; ip link set vb up';
    const script = `set -e; ${setUp}; exec "$0" "$@"`;
    this.#child = spawn('unshare', ['--net', 'sh', '-c', script, process.execPath, MEMBER, ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#lines = createInterface(this.#child.stdout)[Symbol.asyncIterator]();
  }

  /** Lays the cable and waits until the member hears the group. */
  async start(): Promise<void> {
    assert.equal(await this.line(), 'there');
    ip('link add va type veth peer name vb');
    ip('addr add 10.86.0.1/24 dev va');
    ip('addr add fd86::1/64 dev va nodad');
    ip(`link set vb netns ${String(this.#child.pid)}`);
    ip('link set va up');
    this.#child.stdin.write('go\n');
    assert.equal(await this.line(), 'ready');
    untilUp('va');
  }

  async line(): Promise<string> {
    const next = await this.#lines.next();
    assert.ok(next.done !== true, 'the far host is gone');
    return next.value;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once('close', resolve));
    this.#child.kill('SIGKILL');
    await gone;
    try {
      ip('link del va');
    } catch {
      // It went with its other end.
    }
  }
}

if (isInside) {
  before(() => ip('link set lo up'));

  describe('two hosts joined by a cable', () => {
    for (const [version, near, far, group] of [
      ['IPv4', '10.86.0.1', '10.86.0.2', '239.86.0.1'],
      ['IPv6', 'fd86::1', 'fd86::2', 'ff0e::86'],
    ] as const) {
      for (const hosting of ['inline', 'thread'] as const) {
        it(`send datagrams to a group of ${version}, from one device to the other, hosted ${hosting}`, async () => {
          await using member = new FarHost([hosting, far, group, String(TEXTS.length)]);
          await member.start();
          using context = openDevice({ host: hosting, address: near });
          const bench = makeBench(context);
          const qp = makeUd(bench);
          const ah = bench.pd.createAh({ grh: { dgid: gidFromIp(group), hopLimit: 4 } });
          for (const [i, text] of TEXTS.entries()) {
            bench.mr.bytes.set(Buffer.from(text), 64 * i);
            qp.postSend({
              opcode: WrOpcode.SEND,
              sendFlags: SendFlags.SIGNALED,
              sgList: [bench.mr.sge(64 * i, text.length)],
              ud: { ah, remoteQpn: MULTICAST_QPN, remoteQkey: QKEY },
            });
          }
          assert.ok(drain(bench.cq, TEXTS.length).every(({ status }) => status === WcStatus.SUCCESS));
          for (const text of TEXTS)
            assert.deepEqual(JSON.parse(await member.line()), { ok: true, text, srcQp: qp.qpNum });
        });
      }
    }
  });
} else {
  it('groups between two hosts work', { skip: namespaceProblem() }, () => runInside(import.meta.url));
}
