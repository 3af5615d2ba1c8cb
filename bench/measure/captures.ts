/** Reading captures, beside tshark: a file of WRITEs with right ICRCs, every eighth acknowledged. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gidFromIp } from '../../src/device/ibta/index.js';
import {
  BTH_BYTES,
  buildIpUdpHeader,
  crc32,
  createPath,
  ICRC_BYTES,
  IcrcVerdict,
  LinkType,
  Opcode,
  PacketCursor,
  PacketTable,
  type Path,
  pathHeader,
  sealIcrc,
  writeAeth,
  writeBth,
  writeReth,
} from '../../src/device/wire/index.js';
import { adopt } from './children.js';

const TOOL = fileURLToPath(new URL('../../tools/main.js', import.meta.url));
const ACK_EVERY = 8;
const ETHERNET_BYTES = 14;
const HEADER_BYTES = ETHERNET_BYTES + 28;
const RECORD_BYTES = 16;
const PIECE_BYTES = 1 << 20;
const MACS = Uint8Array.of(2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0);
const US_PER_SECOND = 1_000_000;
/** Runs a program, and prints the seconds of processor time that it took. */
const TIMED = 'TIMEFORMAT="%U %S"; time "$0" "$@" 2>/dev/null';

/** Writes a capture of so many packets. */
class Writer {
  readonly #piece = Buffer.alloc(2 * PIECE_BYTES);
  #at = 0;
  #packets = 0;

  constructor(private readonly fd: number) {
    const header = this.#piece;
    header.writeUInt32LE(0xa1b2c3d4, 0);
    header.writeUInt16LE(2, 4);
    header.writeUInt16LE(4, 6);
    header.writeUInt32LE(1 << 18, 16);
    header.writeUInt32LE(LinkType.ETHERNET, 20);
    this.#at = 24;
  }

  get packets(): number {
    return this.#packets;
  }

  /** @param fill writes what is between IP header and ICRC */
  add(path: Path, length: number, fill: (bytes: Uint8Array, at: number) => void): void {
    const piece = this.#piece;
    const frame = this.#at + RECORD_BYTES;
    const ipId = this.#packets & 0xffff;
    piece.writeUInt32LE(1_700_000_000 + Math.floor(this.#packets / US_PER_SECOND), this.#at);
    piece.writeUInt32LE(this.#packets % US_PER_SECOND, this.#at + 4);
    piece.writeUInt32LE(HEADER_BYTES + length, this.#at + 8);
    piece.writeUInt32LE(HEADER_BYTES + length, this.#at + 12);
    piece.set(MACS, frame);
    buildIpUdpHeader(piece, frame + ETHERNET_BYTES, pathHeader(path, ipId), length);
    fill(piece, frame + HEADER_BYTES);
    sealIcrc(crc32, path, piece, frame + HEADER_BYTES, length, ipId);
    this.#at = frame + HEADER_BYTES + length;
    this.#packets += 1;
    if (this.#at > PIECE_BYTES) this.flush();
  }

  flush(): void {
    writeSync(this.fd, this.#piece, 0, this.#at);
    this.#at = 0;
  }
}

function writeCapture(file: string, packets: number, payloadBytes: number): void {
  const fd = openSync(file, 'w');
  const [a, b] = ['198.51.100.1', '198.51.100.2'].map(gidFromIp);
  const there = createPath({ sgid: a, dgid: b, sourcePort: 50_000 });
  const back = createPath({ sgid: b, dgid: a, sourcePort: 50_001 });
  const writer = new Writer(fd);
  for (let sent = 0; writer.packets < packets; sent += 1) {
    const psn = sent & 0xffffff;
    const isAsked = sent % ACK_EVERY === ACK_EVERY - 1;
    writer.add(there, BTH_BYTES + 16 + payloadBytes + ICRC_BYTES, (bytes, at) => {
      writeBth(bytes, at, Opcode.RC_WRITE_ONLY, 0, 0, isAsked ? 1 : 0, 0xffff, 0x22, psn);
      writeReth(bytes, at + BTH_BYTES, 0x7f00, sent * payloadBytes, 0x1234, payloadBytes);
      bytes.fill(sent, at + BTH_BYTES + 16, at + BTH_BYTES + 16 + payloadBytes);
    });
    if (!isAsked) continue;
    writer.add(back, BTH_BYTES + 4 + ICRC_BYTES, (bytes, at) => {
      writeBth(bytes, at, Opcode.RC_ACKNOWLEDGE, 0, 0, 0, 0xffff, 0x11, psn);
      writeAeth(bytes, at + BTH_BYTES, 0x1f, (sent + 1) & 0xffffff);
    });
  }
  writer.flush();
  closeSync(fd);
}

/** A capture in the temporary folder, which goes away with this process. */
export class CaptureUnderTest {
  #file: string | undefined;

  constructor(
    readonly packets: number,
    readonly payloadBytes: number,
  ) {}

  get file(): string {
    if (this.#file !== undefined) return this.#file;
    const folder = mkdtempSync(join(tmpdir(), 'verbena-bench-capture-'));
    process.once('exit', () => {
      rmSync(folder, { recursive: true, force: true });
    });
    this.#file = join(folder, 'capture.pcap');
    writeCapture(this.#file, this.packets, this.payloadBytes);
    return this.#file;
  }

  /** Millions of packets that the reader puts into its table, with all ICRCs checked, in a second of processor time. */
  index(): number {
    const fd = openSync(this.file, 'r');
    const piece = new Uint8Array(PIECE_BYTES);
    const begun = process.cpuUsage();
    const cursor = new PacketCursor();
    const table = new PacketTable();
    let wrong = 0;
    for (let length = readSync(fd, piece); length > 0; length = readSync(fd, piece)) {
      cursor.feed(length === piece.length ? piece : piece.subarray(0, length));
      while (cursor.next()) {
        if (cursor.packet.icrc !== IcrcVerdict.OK) wrong += 1;
        table.add(cursor.packet, cursor.timeNs, cursor.frames.count, cursor.direction);
      }
    }
    cursor.end();
    const { user, system } = process.cpuUsage(begun);
    closeSync(fd);
    if (wrong > 0 || table.packets < this.packets)
      throw new Error(`${table.packets} packets were read, ${wrong} with a wrong ICRC`);
    return table.packets / (user + system);
  }

  /** Millions of packets that a program reads and prints in a second of processor time. */
  async read(program: string, args: readonly string[]): Promise<number> {
    const { file } = this;
    const child = spawn('bash', ['-c', TIMED, program, ...args, file], { stdio: ['ignore', 'ignore', 'pipe'] });
    adopt(child);
    let times = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (times += text));
    await once(child, 'close');
    if (child.exitCode !== 0) throw new Error(`${program} ended with ${String(child.exitCode ?? child.signalCode)}`);
    const [user, system] = times.trim().split(' ').map(Number);
    return this.packets / (user + system) / US_PER_SECOND;
  }

  /** The same of a tool of ours. */
  readByTool(...args: readonly string[]): Promise<number> {
    return this.read(process.execPath, [TOOL, ...args]);
  }

  /** Bytes of memory that a tool of ours needs at most. */
  async peakBytes(...args: readonly string[]): Promise<number> {
    const script = "process.on('exit', () => process.stderr.write(`\\n${process.resourceUsage().maxRSS}\\n`))";
    const preload = `data:text/javascript,${encodeURIComponent(script)}`;
    const child = spawn(process.execPath, ['--import', preload, TOOL, ...args, this.file], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    adopt(child);
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    await once(child, 'close');
    return Number(errors.trim().split('\n').at(-1)) * 1024;
  }
}
