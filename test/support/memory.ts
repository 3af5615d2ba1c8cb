/** Memory of every origin, and the ways by which a program can lose it. */
import { setFlagsFromString } from 'node:v8';
import { createContext, runInContext, runInNewContext } from 'node:vm';
import { MessageChannel } from 'node:worker_threads';
import { alloc, type RegistrableMemory } from '../../src/entry/index.js';
import { canNailDown } from '../../src/node/system/index.js';

/** A `WebAssembly.Memory`. Node has it; its type declarations for Node leave it out. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { Memory: new (size: { initial: number; maximum: number; shared?: boolean }) => WasmMemory };
};

const WASM_PAGE = 65536;

/** Enough pages of 64 KiB, which may become three more. */
export function wasmMemory(shared = false, lengthBytes = WASM_PAGE): WasmMemory {
  const initial = Math.ceil(lengthBytes / WASM_PAGE);
  return new WebAssembly.Memory({ initial, maximum: initial + 3, shared });
}

/** Lets it grow by a page. @returns its buffers before and afterwards */
export function grownWasm(memory: WasmMemory): [ArrayBuffer, ArrayBuffer] {
  const before = memory.buffer;
  memory.grow(1);
  return [before, memory.buffer];
}

const realm = createContext();

export function foreign(expression: string): ArrayBuffer {
  // Whoever asks says what it is.
  return runInContext(expression, realm) as ArrayBuffer;
}

export function collector(): () => void {
  setFlagsFromString('--expose-gc');
  return runInNewContext('gc') as () => void;
}

/** How a NIC in a thread of its own takes memory: always; where Node can keep it in place; never. */
export type Lasting = 'always' | 'nailed' | 'never';

export interface Origin {
  readonly name: string;
  readonly lasting: Lasting;
  /** Whether nobody else's memory goes with it when it is taken away. */
  readonly stealable?: boolean;
  make(): RegistrableMemory;
}

interface Source extends Omit<Origin, 'make'> {
  make(lengthBytes: number): Uint8Array;
}

/** Where programs get memory of any length from. */
const SOURCES: readonly Source[] = [
  { name: 'memory from alloc()', lasting: 'always', make: (length) => alloc(length) },
  { name: 'a SharedArrayBuffer', lasting: 'always', make: (length) => new Uint8Array(new SharedArrayBuffer(length)) },
  {
    name: 'a SharedArrayBuffer that can grow',
    lasting: 'always',
    make: (length) =>
      new Uint8Array(foreign(`new SharedArrayBuffer(${length}, { maxByteLength: ${2 * length} })`), 0, length),
  },
  {
    name: 'a SharedArrayBuffer of another realm',
    lasting: 'always',
    make: (length) => new Uint8Array(foreign(`new SharedArrayBuffer(${length})`)),
  },
  {
    name: 'shared memory of WebAssembly',
    lasting: 'always',
    make: (length) => new Uint8Array(wasmMemory(true, length).buffer, 0, length),
  },
  { name: 'a typed array', lasting: 'nailed', stealable: true, make: (length) => new Uint8Array(length) },
  { name: 'a Buffer of its own', lasting: 'nailed', make: (length) => Buffer.alloc(length) },
  {
    name: 'a typed array of another realm',
    lasting: 'nailed',
    stealable: true,
    make: (length) => new Uint8Array(foreign(`new Uint8Array(${length}).buffer`)),
  },
];

/** Every kind of memory that can be registered; each has at least 32 bytes. */
export const ORIGINS: readonly Origin[] = [
  ...SOURCES.map((source) => ({ ...source, make: () => source.make(5000) })),
  { name: 'an ArrayBuffer', lasting: 'nailed', make: () => new ArrayBuffer(5000) },
  { name: 'a bare SharedArrayBuffer', lasting: 'always', make: () => new SharedArrayBuffer(5000) },
  { name: 'a small Buffer out of the pool', lasting: 'nailed', make: () => Buffer.from('x'.repeat(100)) },
  { name: 'a typed array small enough for V8’s heap', lasting: 'nailed', make: () => new Uint8Array(32) },
  {
    name: 'a view of part of a buffer',
    lasting: 'nailed',
    make: () => new Float64Array(new ArrayBuffer(8192), 1024, 500),
  },
  { name: 'a DataView', lasting: 'nailed', make: () => new DataView(new ArrayBuffer(256), 7, 100) },
  { name: 'an ArrayBuffer of another realm', lasting: 'nailed', make: () => foreign('new ArrayBuffer(5000)') },
  { name: 'memory of WebAssembly', lasting: 'never', make: () => wasmMemory().buffer },
];

/** Whether a NIC hosted so takes such memory. */
export function isTaken(host: string, lasting: Lasting): boolean {
  return host !== 'thread' || lasting === 'always' || (lasting === 'nailed' && canNailDown());
}

let taken = 0;

/** Memory for a NIC hosted so, each time from another of the sources that there are. */
export function nextMemory(host: string, lengthBytes: number): Uint8Array {
  const sources = SOURCES.filter(({ lasting }) => isTaken(host, lasting));
  taken += 1;
  return sources[taken % sources.length].make(lengthBytes);
}

/** Memory of whichever source chance says, as a plain view of it. */
export function someMemory(lengthBytes: number, random: () => number): Uint8Array {
  const { buffer, byteOffset } = SOURCES[(random() >>> 0) % SOURCES.length].make(lengthBytes);
  return new Uint8Array(buffer, byteOffset, lengthBytes);
}

/** Takes the memory of a buffer away. @returns the buffer that has it afterwards; rejects when that was refused */
export type Theft = (buffer: ArrayBuffer) => Promise<unknown>;

type Method = (this: ArrayBuffer, length?: number) => ArrayBuffer;

function transfer(realm: unknown, length?: number): Theft {
  return async (buffer) => {
    const method = (realm as { prototype: { transfer?: Method } }).prototype.transfer;
    if (method === undefined) throw new Error('this Node has no ArrayBuffer.prototype.transfer');
    return Promise.resolve(Reflect.apply(method, buffer, length === undefined ? [] : [length]));
  };
}

export const THEFTS: readonly (readonly [string, Theft])[] = [
  ['structuredClone()', async (buffer) => Promise.resolve(structuredClone(buffer, { transfer: [buffer] }))],
  [
    'postMessage()',
    async (buffer) => {
      const { port1, port2 } = new MessageChannel();
      try {
        const came = new Promise((resolve) => port2.once('message', resolve));
        port1.postMessage(buffer, [buffer]);
        return await came;
      } finally {
        port1.close();
      }
    },
  ],
  [
    'a stream that reads into it',
    async (buffer) => {
      const source = { type: 'bytes' as const, pull: (to: ReadableByteStreamController) => to.enqueue(Buffer.of(1)) };
      const { value } = await new ReadableStream(source).getReader({ mode: 'byob' }).read(new Uint8Array(buffer));
      return value?.buffer;
    },
  ],
  [
    'a stream that gives it to its reader',
    async (buffer) => {
      const source = {
        type: 'bytes' as const,
        start: (to: ReadableByteStreamController) => to.enqueue(new Uint8Array(buffer)),
      };
      // What comes is what was given.
      const { value } = (await new ReadableStream(source).getReader().read()) as { value?: Uint8Array };
      return value?.buffer;
    },
  ],
  ['transfer()', transfer(ArrayBuffer)],
  ['transfer() to a buffer of no length', transfer(ArrayBuffer, 0)],
  ['transfer() of another realm', transfer(foreign('ArrayBuffer'))],
];
