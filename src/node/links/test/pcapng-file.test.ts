import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chownSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { LinkError } from '../../../device/link/index.js';
import { type CaptureRecord, readCapture } from '../../../device/wire/index.js';
import { PcapngFile } from '../index.js';
import { packet } from './udp-helpers.js';

const LINKS = new URL('../index.js', import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), 'verbena-pcapng-'));
const at = (name: string): string => join(folder, name);
const silent = { warn: (): void => undefined };

function recordsOf(path: string): CaptureRecord[] {
  return [...readCapture(new Uint8Array(readFileSync(path)))];
}

function packetsOf(path: string): Uint8Array[] {
  return recordsOf(path).map(({ data }) => data);
}

function fails(name: string, errno: string, message: RegExp): void {
  assert.throws(
    () => new PcapngFile(name, silent),
    (error) => error instanceof LinkError && error.errno === errno && message.test(error.message),
  );
}

function run(source: string, before = ''): { status: number | null; output: string } {
  const program = `import { PcapngFile } from '${LINKS}'; const warn = (text) => console.log(text); ${source}`;
  const args = ['--input-type=module', '-e', program];
  const { status, stdout, stderr } =
    before === ''
      ? spawnSync(process.execPath, args, { encoding: 'utf8' })
      : spawnSync('sh', ['-c', `${before}; exec "$0" "$@"`, process.execPath, ...args], { encoding: 'utf8' });
  return { status, output: stdout + stderr };
}

/** A pipe, and its reader's end, when there is to be one. */
function pipe(name: string): { path: string; reader: () => PipeReader } {
  execFileSync('mkfifo', [at(name)]);
  return { path: at(name), reader: () => new PipeReader(at(name)) };
}

/** Reads when it is asked to, and only then. */
class PipeReader implements Disposable {
  readonly #fd: number;
  readonly #chunks: Buffer[] = [];

  constructor(path: string) {
    this.#fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  }

  /** Takes all that is in the pipe. @returns all that was ever taken */
  drain(): Buffer {
    const chunk = Buffer.alloc(65536);
    try {
      for (let count = -1; count !== 0;) {
        count = readSync(this.#fd, chunk);
        this.#chunks.push(Buffer.from(chunk.subarray(0, count)));
      }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EAGAIN')) throw error;
    }
    return Buffer.concat(this.#chunks);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

const noPipes = process.platform === 'win32' && 'there are no named pipes';
/** Another user's, whoever that is. */
const STRANGER = 54321;

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

  it('waits for no reader of a pipe to come', { skip: noPipes }, () => {
    const { path } = pipe('unread');
    fails(path, 'EAGAIN', /unread cannot be written: nobody reads from the pipe yet. Start its reader first\.$/);
  });

  it('leaves out, counts and tells what the reader of a pipe does not take in time', { skip: noPipes }, () => {
    const PACKETS = 2000;
    const { path, reader: open } = pipe('slow');
    using reader = open();
    const warnings: string[] = [];
    const file = new PcapngFile(path, { warn: (text) => warnings.push(text) });
    let kept = 0;
    for (let n = 0; n < PACKETS; n += 1) if (file.record(BigInt(n), packet(4000, n), 'out')) kept += 1;
    assert.ok(kept > 0 && kept < PACKETS, `${kept} packets`);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], /slow is not complete: packets are left out, since its reader takes them more slowly/);
    // Goes on when the reader does, with whole packets.
    for (let taken = -1, now = 0; now !== taken; now = reader.drain().length) {
      taken = now;
      file.sync();
    }
    assert.equal(file.record(9999n, packet(100, 1), 'in'), true);
    file.close();
    const bytes = reader.drain();
    const packets = [...readCapture(bytes)].map(({ data }) => data);
    assert.equal(packets.length, kept + 1);
    const whole = (data: Uint8Array, n: number): boolean =>
      Buffer.compare(data, n < kept ? packet(4000, n) : packet(100, 1)) === 0;
    assert.ok(packets.every(whole));
    // The option of the last packet that says how many there were before it (epb_dropcount).
    const dropCount = Buffer.alloc(12);
    dropCount.writeUInt32LE(4 | (8 << 16), 0);
    dropCount.writeBigUInt64LE(BigInt(PACKETS - kept), 4);
    assert.ok(bytes.subarray(-200).includes(dropCount));
    assert.match(warnings[1], new RegExp(`not complete: ${PACKETS - kept} packets are left out of it`));
  });

  it('waits a moment only for the reader of a pipe at its end', { skip: noPipes }, () => {
    const { path, reader: open } = pipe('lazy');
    using reader = open();
    const warnings: string[] = [];
    const file = new PcapngFile(path, { warn: (text) => warnings.push(text) });
    for (let n = 0; n < 100; n += 1) assert.equal(file.record(0n, packet(4000, n), 'out'), true);
    file.close();
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], /not complete: its last packets are left out/);
    assert.ok(reader.drain().length > 0);
  });

  const noStranger = process.geteuid?.() !== 0 && 'only root can make files of others';

  it('writes into no file that somebody else has put there', { skip: noStranger }, () => {
    writeFileSync(at('planted.pcapng'), '', { mode: 0o666 });
    chownSync(at('planted.pcapng'), STRANGER, STRANGER);
    fails(at('planted.pcapng'), 'EACCES', /belongs to user 54321, who could read the packets. Choose another name\.$/);
    assert.equal(readFileSync(at('planted.pcapng'), 'utf8'), '');
  });

  it("writes into nobody else's pipe", { skip: noStranger }, () => {
    const { path, reader: open } = pipe('tapped');
    chownSync(path, STRANGER, STRANGER);
    using reader = open();
    fails(path, 'EACCES', /belongs to user 54321/);
    assert.equal(reader.drain().length, 0);
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
