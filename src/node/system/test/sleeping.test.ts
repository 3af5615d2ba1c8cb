import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { EventFd, nativeHostProblem, nowUs, PollSet, setTimeSlice, watchReadable } from '../index.js';

const HOST = new URL('../index.js', import.meta.url).href;

const skip = nativeHostProblem() ?? false;
/** Long enough for any machine: a program that is still there then hangs. */
const PATIENCE_MS = 60_000;

describe('EventFd', { skip }, () => {
  it('is readable from the ring until it is drained', () => {
    const bell = new EventFd();
    const poll = new PollSet([bell.fd]);
    assert.equal(poll.wait(0), 0);
    bell.ring();
    EventFd.ring(bell.fd);
    assert.equal(poll.wait(0), 1);
    bell.drain();
    assert.equal(poll.wait(0), 0);
    bell.close();
    bell.close();
    bell.ring();
  });
});

describe('PollSet', { skip }, () => {
  it('says which descriptor is ready', () => {
    const bells = [new EventFd(), new EventFd(), new EventFd()];
    const poll = new PollSet(bells.map(({ fd }) => fd));
    bells[1].ring();
    assert.equal(poll.wait(Infinity), 1);
    assert.deepEqual(
      bells.map((_, i) => poll.isReady(i)),
      [false, true, false],
    );
    for (const bell of bells) bell.close();
  });

  it('returns when the time is up, and not before', () => {
    const bell = new EventFd();
    const started = nowUs();
    assert.equal(new PollSet([bell.fd]).wait(2500), 0);
    assert.ok(nowUs() - started >= 2500);
    bell.close();
  });
});

describe('watchReadable', { skip }, () => {
  it('calls once for each time it is armed', async () => {
    const bell = new EventFd();
    let calls = 0;
    await new Promise<void>((resolve) => {
      const watch = watchReadable(bell.fd, () => {
        calls += 1;
        if (calls < 3) watch.arm();
        else resolve();
      });
      watch.arm();
      watch.arm();
      bell.ring();
    });
    assert.equal(calls, 3);
    bell.close();
  });

  it('hears one descriptor while it waits for another', async () => {
    const [quiet, loud] = [new EventFd(), new EventFd()];
    const silent = watchReadable(quiet.fd, () => assert.fail('nobody rang'));
    silent.arm();
    // By then the poll for the quiet one is under way.
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise<void>((resolve) => {
      watchReadable(loud.fd, resolve).arm();
      loud.ring();
    });
    silent.close();
    quiet.close();
    loud.close();
  });

  it('is silent once it is disarmed or closed', async () => {
    const [bell, other] = [new EventFd(), new EventFd()];
    const watch = watchReadable(bell.fd, () => assert.fail('it was disarmed'));
    watch.arm();
    bell.ring();
    watch.disarm();
    watch.close();
    watch.arm();
    await new Promise<void>((resolve) => {
      watchReadable(other.fd, resolve).arm();
      other.ring();
    });
    bell.close();
    other.close();
  });

  it('lets the process end when nothing is armed', () => {
    const source = `
      import { EventFd, watchReadable } from '${HOST}';
      const bell = new EventFd();
      const watch = watchReadable(bell.fd, () => console.log('rang'));
      watch.arm();
      setTimeout(() => bell.ring(), 1);`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' });
    assert.equal(output, 'rang\n');
  });

  it('needs no thread of the pool in the main thread', () => {
    const source = `
      import { mkdtempSync, open, openSync, rmSync } from 'node:fs';
      import { execFileSync, spawnSync } from 'node:child_process';
      import { EventFd, watchReadable } from '${HOST}';
      const folder = mkdtempSync('/tmp/verbena-fifo-');
      process.on('exit', () => rmSync(folder, { recursive: true }));
      const fifo = folder + '/fifo';
      execFileSync('mkfifo', [fifo]);
      // Holds the only thread until somebody opens the other end.
      open(fifo, 'r', () => console.log('released'));
      const bell = new EventFd();
      watchReadable(bell.fd, () => {
        console.log('rang');
        openSync(fifo, 'r+');
      }).arm();
      bell.ring();`;
    const env = { ...process.env, UV_THREADPOOL_SIZE: '1' };
    const options = { encoding: 'utf8', env, timeout: PATIENCE_MS } as const;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', source], options);
    assert.equal(output, 'rang\nreleased\n');
  });

  for (const [how, end] of [
    ['process.exit', 'process.exit(7)'],
    ['an error', `process.on('uncaughtException', () => process.exit(7)); throw new Error()`],
  ] as const)
    it(`lets a process end by ${how} while a descriptor is readable`, () => {
      const source = `
        import { EventFd, watchReadable } from '${HOST}';
        const bell = new EventFd();
        watchReadable(bell.fd, () => console.log('rang')).arm();
        bell.ring();
        ${end}`;
      const { status, stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
        encoding: 'utf8',
      });
      assert.deepEqual({ status, stdout }, { status: 7, stdout: '' });
    });

  it('passes on what its callback throws, and goes on', () => {
    const source = `
      import { EventFd, watchReadable } from '${HOST}';
      const bell = new EventFd();
      let calls = 0;
      const watch = watchReadable(bell.fd, () => {
        if ((calls += 1) === 3) return;
        watch.arm();
        throw new Error('call ' + calls);
      });
      process.on('uncaughtException', (error) => console.log(error.message));
      watch.arm();
      bell.ring();`;
    const output = execFileSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' });
    assert.equal(output, 'call 1\ncall 2\n');
  });

  it('watches a descriptor anew whose number another had', async () => {
    for (let i = 0; i < 3; i += 1) {
      const bell = new EventFd();
      await new Promise<void>((resolve) => {
        const watch = watchReadable(bell.fd, () => {
          watch.close();
          resolve();
        });
        watch.arm();
        bell.ring();
      });
      bell.close();
    }
  });

  it('survives the end of its thread', async () => {
    const source = `
      import { EventFd, watchReadable } from '${HOST}';
      import { parentPort } from 'node:worker_threads';
      const bell = new EventFd();
      watchReadable(bell.fd, () => {}).arm();
      parentPort.postMessage(bell.fd);`;
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`));
    const [fd] = (await once(worker, 'message')) as [number];
    EventFd.ring(fd);
    await worker.terminate();
  });
});

describe('setTimeSlice', { skip }, () => {
  /** Of the calling thread, ns, where the kernel tells. */
  const slice = (): number => {
    try {
      return Number(/^se\.slice\s*:\s*(\d+)/m.exec(readFileSync('/proc/thread-self/sched', 'latin1'))?.[1] ?? NaN);
    } catch {
      return NaN;
    }
  };

  it('says whether this thread now has slices of that length', (test) => {
    const before = slice();
    if (Number.isNaN(before)) {
      test.skip('this kernel does not tell how long slices are');
      return;
    }
    const expected = setTimeSlice(200) ? 200_000 : before;
    assert.equal(slice(), expected);
  });
});
