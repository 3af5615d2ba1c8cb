/** Our reading of captures beside that of somebody else's program. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LinkType, pcapngHeader, pcapngPacket } from '../../device/wire/index.js';

const version = spawnSync('tshark', ['--version'], { encoding: 'utf8' });

/** Why tests that need tshark are left out, or false. */
export const withoutTshark = version.error ? 'tshark is not installed, so there is nobody to compare with' : false;

const main = fileURLToPath(new URL('../main.js', import.meta.url));

function linesOf(command: string, args: readonly string[]): string[] {
  const { stdout, status } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
  assert.equal(status, 0);
  return stdout.trimEnd().split('\n');
}

/** A capture, written by us; it goes away after the tests of the file. */
export function writeCapture(frames: readonly Uint8Array[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'verbena-tshark-'));
  after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'capture.pcapng');
  const packets = frames.map((frame, i) => pcapngPacket(BigInt(i) * 1000n, frame));
  writeFileSync(file, Buffer.concat([pcapngHeader({ linkType: LinkType.ETHERNET, appName: 'test' }), ...packets]));
  return file;
}

export function tsharkFields(): ReadonlySet<string> {
  return new Set(linesOf('tshark', ['-G', 'fields']).map((line) => line.split('\t')[2]));
}

/** The values of fields in the packets that a filter leaves; what is not there is empty. */
export function readByTshark(file: string, filter: string, fields: readonly string[]): string[][] {
  const options = ['-T', 'fields', '-E', 'separator=|', '-E', 'occurrence=f'];
  const wanted = fields.flatMap((name) => ['-e', name]);
  return linesOf('tshark', ['-n', '-r', file, '-Y', filter, ...options, ...wanted]).map((line) => line.split('|'));
}

/** What `verbena dump --json` says of each packet. */
export function readByDump(file: string): unknown[] {
  // Exit status 1 says that an ICRC is wrong, as it is in packets that a test has changed.
  const { stdout, status } = spawnSync(process.execPath, [main, 'dump', '--json', file], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  assert.ok(status === 0 || status === 1);
  const lines = stdout.trimEnd().split('\n');
  return lines.map((line): unknown => JSON.parse(line));
}

/** The value at a path like `bth.opcode`, if there is one. */
export function valueAt(json: unknown, path: string): unknown {
  let value = json;
  for (const name of path.split('.')) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = new Map<string, unknown>(Object.entries(value)).get(name);
  }
  return value;
}
