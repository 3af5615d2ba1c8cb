import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { loopback } from '../../../test/support/loopback.js';
import { sentenceOf } from '../reports/hang-report.js';
import { CProgram, compilerProblem } from './c-program.js';
import { TOOL, cannotRun, startRun } from './support.js';

const FIRST = 21;
/** Waits that nothing ends, and what is said of them unasked. */
const ENDLESS: readonly (readonly [what: string, said: RegExp])[] = [
  [
    'never armed',
    /waits in ibv_get_cq_event for \d s: CQ \d: 1 completion, 0 polled, never armed; .*: call ibv_req_notify_cq before/,
  ],
  [
    'armed once',
    /waits in ibv_get_cq_event for \d s: CQ \d: 1 completion, 0 polled, not armed since its last event; .*: each ibv_req/,
  ],
  [
    'not acknowledged',
    /waits in ibv_destroy_cq for \d s: 1 event of CQ \d was got, and 0 acknowledged: call ibv_ack_cq_events/,
  ],
  [
    'rejected',
    /waits in rdma_destroy_id for \d s: \d events of the identifier, the last RDMA_CM_EVENT_REJECTED, were got, and not all/,
  ],
];

describe('what a thread waits for', () => {
  const finding = { pid: 7, tid: 7, comm: 'p', does: 'waits in ibv_get_cq_event', forMs: 6400, facts: ['CQ 1: armed'] };

  it('is said with how long, the state, and what to do', () => {
    assert.deepEqual(sentenceOf({ ...finding, advice: 'call it' }), [
      'waits in ibv_get_cq_event for 6 s',
      'CQ 1: armed: call it',
    ]);
    assert.deepEqual(sentenceOf({ ...finding, forMs: 20 }), ['waits in ibv_get_cq_event', 'CQ 1: armed']);
  });
});

describe(
  'a program that hangs under --explain',
  { skip: cannotRun !== false ? cannotRun : (compilerProblem() ?? false) },
  () => {
    let program: CProgram;
    const errors = new Map<string, string>();
    const runtime = mkdtempSync(join(tmpdir(), 'verbena-test-'));
    let [asked, askedInVain] = ['', ''];

    /** What another process is told. */
    function why(...words: readonly string[]): string {
      const env = { ...process.env, XDG_RUNTIME_DIR: runtime };
      const { stdout, stderr } = spawnSync(process.execPath, [TOOL, 'why', ...words], { env, encoding: 'utf8' });
      return `${stdout}${stderr}`;
    }

    /** Starts one, and waits until something is said that matches. */
    async function until(what: string, at: number, pattern: RegExp): Promise<() => Promise<void>> {
      const { child, played } = startRun([program.path, what, loopback(at)], ['--explain'], at);
      let text = '';
      child.stderr?.on('data', (more: string) => errors.set(what, (text += more)));
      while (!pattern.test(text) && child.exitCode === null)
        await Promise.race([once(child.stderr ?? child, 'data'), played]);
      return async () => {
        child.kill('SIGINT');
        await played;
      };
    }

    before(async () => {
      program = new CProgram('hangs');
      const waiting = ['healthy', 'write'].map((what, at) =>
        startRun([program.path, what], ['--explain'], FIRST + at, { XDG_RUNTIME_DIR: runtime }),
      );
      const ends = await Promise.all(ENDLESS.map(([what, said], at) => until(what, FIRST + 2 + at, said)));
      await Promise.all(ends.map(async (end) => end()));
      asked = why();
      askedInVain = why('1');
      // They began before the others, which were spoken of after five seconds.
      for (const [at, { child, played }] of waiting.entries()) {
        child.kill('SIGINT');
        errors.set(['healthy', 'write'][at], (await played).errors);
      }
    });
    after(() => {
      program.remove();
      rmSync(runtime, { recursive: true });
    });

    it('is explained to whoever asks, by `why`', () => {
      assert.equal(asked.match(/^hangs \(pid \d+\), waits in ibv_get_cq_event for \d+ s: CQ \d: /gm)?.length, 2, asked);
      assert.match(askedInVain, /^No thread of process 1 waits in/);
      assert.match(why(), /^No program runs under `verbena run --explain`\. Start it so: /);
    });

    for (const [what, said] of ENDLESS)
      it(`is told unasked why it waits for ever: ${what}`, () => assert.match(errors.get(what) ?? '', said));

    it('is accused of nothing while it may be woken, and says at Ctrl-C what it waits for', () => {
      const said = (errors.get('healthy') ?? '').trimEnd().split('\n');
      assert.equal(said.length, 1, said.join('\n'));
      assert.match(
        said[0],
        /waits in ibv_get_cq_event for \d+ s: CQ \d: 0 completions, 0 polled, armed; QP 0x\w+ in RTS, 1 receive posted$/,
      );
    });

    it('learns that WRITEs came, which complete at their requester alone', () => {
      assert.match(errors.get('write') ?? '', /1 receive posted, 1 WRITE came \(without immediate data/);
    });
  },
);
