import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { LinkError, PcapngFile } from '../../src/link/index.js';
import { type CaptureRecord, readCapture } from '../../src/wire/index.js';
import { packet } from './udp-helpers.js';

const LINKS = new URL('../../src/link/index.js', import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), 'verbena-pcapng-'));
const at = (name: string): string => join(folder, name);
const silent = { warn: (): void => undefined };

function recordsOf(path: string): CaptureRecord[] {
  return [...readCapture(new Uint8Array(readFileSync(path)))];
}

/** The packets in a file. */
function packetsOf(path: string): Uint8Array[] {
  return recordsOf(path).map(({ data }) => data);
}

function fails(name: string, errno: string, message: RegExp): void {
  assert.throws(
    () => new PcapngFile(name, silent),
    (error) => error instanceof LinkError && error.errno === errno && message.test(error.message),
  );
}

/** Runs a program that knows PcapngFile. */
function run(source: string, before = ''): { status: number | null; output: string } {
  const program = `import { PcapngFile } from '${LINKS}'; const warn = (text) => console.log(text); ${source}`;
  const args = ['--input-type=module', '-e', program];
  const { status, stdout, stderr } =
    before === ''
      ? spawnSync(process.execPath, args, { encoding: 'utf8' })
      : spawnSync('sh', ['-c', `${before}; exec "$0" "$@"`, process.execPath, ...args], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

describe('PcapngFile', () => {
  after(() => {
    rmSync(folder, { recursive: true });
  });

  it('keeps packets, their times and their directions', () => {
    const file = new PcapngFile(at('plain.pcapng'));
    file.record(1_700_000_000_123_456_789n, packet(100, 1), 'out');
    file.record(1_700_000_000_123_456_790n, packet(41, 2), 'in');
    file.close();
    file.close();
    const records = recordsOf(file.path);
    assert.deepEqual(
      records.map(({ timestampNs, data }) => [timestampNs, data]),
      [
        [1_700_000_000_123_456_789n, packet(100, 1)],
        [1_700_000_000_123_456_790n, packet(41, 2)],
      ],
    );
  });

  it('keeps more packets than fit in memory', () => {
    const file = new PcapngFile(at('long.pcapng'));
    for (let n = 0; n < 500; n += 1) file.record(BigInt(n), packet(4000, n), 'out');
    assert.ok(packetsOf(file.path).length >= 400, 'most of them are written before the end');
    file.close();
    assert.deepEqual(
      packetsOf(file.path),
      Array.from({ length: 500 }, (_, n) => packet(4000, n)),
    );
  });

  it('has all packets in the file after sync', () => {
    const file = new PcapngFile(at('sync.pcapng'));
    file.record(0n, packet(10), 'in');
    file.sync();
    assert.equal(packetsOf(file.path).length, 1);
    file.close();
  });

  it('is written to its end when the process exits', () => {
    const path = at('exit.pcapng');
    const { status } = run(`
      const file = new PcapngFile(${JSON.stringify(path)});
      file.record(0n, new Uint8Array(10), 'in');
      process.exit(3);`);
    assert.equal(status, 3);
    assert.equal(packetsOf(path).length, 1);
  });

  it('does not keep the process alive', () => {
    const path = at('alive.pcapng');
    const { status } = run(`new PcapngFile(${JSON.stringify(path)}).record(0n, new Uint8Array(10), 'in');`);
    assert.equal(status, 0);
    assert.equal(packetsOf(path).length, 1);
  });

  it('puts the process number in place of %p', () => {
    const file = new PcapngFile(at('%p-%p.pcapng'));
    file.close();
    assert.equal(file.path, at(`${process.pid}-${process.pid}.pcapng`));
  });

  it('leaves a capture in use alone, and writes beside it', () => {
    const warnings: string[] = [];
    const files = [1, 2, 3].map((n) => {
      const file = new PcapngFile(at('shared.pcapng'), { warn: (text) => warnings.push(text) });
      file.record(0n, packet(10, n), 'in');
      return file;
    });
    for (const file of files) file.close();
    assert.deepEqual(
      files.map(({ path }) => path),
      [at('shared.pcapng'), at(`shared.${process.pid}.pcapng`), at(`shared.${process.pid}-2.pcapng`)],
    );
    assert.deepEqual(
      files.map(({ path }) => packetsOf(path)),
      [[packet(10, 1)], [packet(10, 2)], [packet(10, 3)]],
    );
    assert.equal(warnings.length, 2);
    assert.match(warnings[0], /in use by another capture: this program records into .*shared\.\d+\.pcapng\.$/);
  });

  it('writes over the capture of a program that is gone', () => {
    const path = at('again.pcapng');
    for (const bytes of [100, 20]) {
      run(`new PcapngFile(${JSON.stringify(path)}, { warn }).record(0n, new Uint8Array(${bytes}), 'in');`);
    }
    assert.deepEqual(packetsOf(path), [new Uint8Array(20)]);
    assert.deepEqual(
      readdirSync(folder).filter((name) => name.startsWith('again')),
      ['again.pcapng'],
    );
  });

  it('writes over an empty file', () => {
    writeFileSync(at('empty.pcapng'), '');
    const file = new PcapngFile(at('empty.pcapng'), silent);
    file.close();
    assert.equal(file.path, at('empty.pcapng'));
  });

  it('does not write over anything else', () => {
    writeFileSync(at('letter.txt'), 'Dear reader');
    fails(at('letter.txt'), 'EEXIST', /exists and is not a capture/);
    assert.equal(readFileSync(at('letter.txt'), 'utf8'), 'Dear reader');
  });

  it('says why a file cannot be made', () => {
    mkdirSync(at('folder'));
    fails(at('folder'), 'EINVAL', /it is a folder. Name a file in it, such as .*folder.capture\.pcapng\.$/);
    fails(at('missing/x.pcapng'), 'ENOENT', /its folder does not exist/);
  });

  it('says that the disk is full', { skip: existsSync('/dev/full') ? false : 'there is no /dev/full' }, () => {
    fails('/dev/full', 'ENOSPC', /the capture \/dev\/full cannot be written: the disk is full/);
  });

  it('ends with a whole packet when nothing more can be written, and lets the program go on', (test) => {
    if (process.platform === 'win32') {
      test.skip('there is no ulimit');
      return;
    }
    const path = at('full.pcapng');
    const { status, output } = run(
      `const file = new PcapngFile(${JSON.stringify(path)}, { warn });
       let kept = 0;
       for (let n = 0; n < 100; n += 1) { if (file.record(0n, new Uint8Array(300), 'in')) kept += 1; file.sync(); }
       console.log(file.failure?.errno, kept < 100, file.record(0n, new Uint8Array(300), 'in'));
       file.close();`,
      // Blocks of 512 bytes, or of 1024 in some shells.
      'ulimit -f 4',
    );
    assert.equal(status, 0);
    assert.match(
      output,
      /^the capture .*full\.pcapng cannot be written: .* Recording ends here; .*\nEIO true false\n$/,
    );
    const packets = packetsOf(path);
    assert.ok(packets.length >= 4, `${packets.length} packets`);
    assert.ok(packets.every((bytes) => bytes.length === 300));
  });
});
