// A block device over RDMA, as Accelio's raio has it: a server with a file, and clients that read and write its blocks. What is read is
// written by the server's NIC straight into the client's memory, and what is written is fetched by it out of there.
//
//   node block-device.js serve FILE              prints its URL
//   node block-device.js read URL                writes all of it to standard output
//   node block-device.js write URL FILE [AT]     puts a file's bytes there, from byte AT on
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { alloc } from 'verbena';
import { connect, listen, XioMemoryPool, type XioRequest, type XioSession } from 'verbena/xio';

const BLOCK_BYTES = 1 << 18;
/** Blocks that are under way at a time. */
const DEPTH = 8;
// A header: what to do (1 byte), where in the file (8), and how many bytes (4).
const HEADER_BYTES = 13;
const SIZE = 0;
const READ = 1;
const WRITE = 2;

interface Command {
  readonly operation: number;
  readonly at: number;
  readonly length: number;
}

function encode({ operation, at, length }: Command): Uint8Array {
  const header = new DataView(new ArrayBuffer(HEADER_BYTES));
  header.setUint8(0, operation);
  header.setBigUint64(1, BigInt(at));
  header.setUint32(9, length);
  return new Uint8Array(header.buffer);
}

function decode(header: Uint8Array): Command {
  if (header.length !== HEADER_BYTES) throw new Error('that is no command');
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  return { operation: view.getUint8(0), at: Number(view.getBigUint64(1)), length: view.getUint32(9) };
}

/** The blocks of a file, for clients. */
class BlockServer {
  readonly #file: FileHandle;
  readonly #sizeBytes: number;
  /** Memory that is read into, and used again. */
  readonly #pool = new XioMemoryPool({ slabs: [{ bytes: BLOCK_BYTES }] });

  constructor(file: FileHandle, sizeBytes: number) {
    this.#file = file;
    this.#sizeBytes = sizeBytes;
  }

  readonly answer = async (request: XioRequest): Promise<void> => {
    const { operation, at, length } = decode(request.header);
    if (operation === SIZE) return request.reply(encode({ operation, at: this.#sizeBytes, length: 0 }));
    if (length > BLOCK_BYTES || at + length > this.#sizeBytes)
      throw new Error(`bytes ${at} to ${at + length} are not on this device`);
    if (operation === READ) return this.#read(request, at, length);
    if (operation !== WRITE || request.body.length !== length) throw new Error('that is no command');
    await this.#file.write(request.body, 0, length, at);
    return request.reply();
  };

  async #read(request: XioRequest, at: number, length: number): Promise<void> {
    using block = this.#pool.lease(length);
    const { bytesRead } = await this.#file.read(block.bytes, 0, length, at);
    // The memory is given back when the client has what is in it.
    await request.reply(undefined, block.bytes.subarray(0, bytesRead));
  }
}

async function serve(name: string): Promise<void> {
  const file = await open(name, 'r+');
  const { size } = await file.stat();
  const blocks = new BlockServer(file, size);
  const server = await listen({ maxBodyBytes: BLOCK_BYTES });
  console.log(server.url);
  for await (const session of server) session.on('request', blocks.answer).accept();
}

/** Calls for each block of a stretch, with several under way at a time. */
async function eachBlock(from: number, to: number, move: (at: number, length: number) => Promise<void>): Promise<void> {
  let next = from;
  const lane = async (): Promise<void> => {
    while (next < to) {
      const at = next;
      next = Math.min(to, at + BLOCK_BYTES);
      await move(at, next - at);
    }
  };
  await Promise.all(Array.from({ length: DEPTH }, lane));
}

async function sizeOf(session: XioSession): Promise<number> {
  using response = await session.request(encode({ operation: SIZE, at: 0, length: 0 }));
  return decode(response.header).at;
}

async function read(session: XioSession): Promise<void> {
  const size = await sizeOf(session);
  const all = alloc(Math.max(1, size));
  await eachBlock(0, size, async (at, length) => {
    const into = all.subarray(at, at + length);
    using response = await session.request(encode({ operation: READ, at, length }), undefined, { into });
    if (response.body.length !== length) throw new Error(`only ${response.body.length} bytes of ${length} came`);
  });
  process.stdout.write(Buffer.from(all.subarray(0, size)));
}

async function write(session: XioSession, name: string, begin: number): Promise<void> {
  const bytes = await readFile(name);
  const memory = alloc(Math.max(1, bytes.length));
  memory.set(bytes);
  await eachBlock(0, bytes.length, async (at, length) => {
    // Twice does no harm, so it may be sent again even to a server that has begun anew.
    const options = { idempotent: true };
    using response = await session.request(
      encode({ operation: WRITE, at: begin + at, length }),
      memory.subarray(at, at + length),
      options,
    );
    if (response.body.length > 0) throw new Error('a write is answered with nothing');
  });
  console.log(`wrote ${bytes.length} bytes at ${begin}`);
}

async function main(): Promise<void> {
  const [role, place = '', name = '', at = '0'] = process.argv.slice(2);
  if (role === 'serve' && place !== '') return serve(place);
  if (place === '' || (role !== 'read' && (role !== 'write' || name === '')))
    throw new Error('usage: block-device serve FILE | read URL | write URL FILE [AT]');
  await using session = await connect({ url: place });
  await (role === 'read' ? read(session) : write(session, name, Number(at)));
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
