/** Memory of every origin, and the ways by which a program can lose it. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { MessageChannel } from 'node:worker_threads';
import { alloc, type RegistrableMemory } from '../../src/index.js';

/** A `WebAssembly.Memory`. Node has it; its type declarations for Node leave it out. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { Memory: new (size: { initial: number; maximum: number; shared?: boolean }) => WasmMemory };
};

/** One page of 64 KiB, which may grow to four. */
export function wasmMemory(shared = false): WasmMemory {
  return new WebAssembly.Memory({ initial: 1, maximum: 4, shared });
}

/** Lets it grow by a page. @returns its buffers before and afterwards */
export function grownWasm(memory: WasmMemory): [ArrayBuffer, ArrayBuffer] {
  const before = memory.buffer;
  memory.grow(1);
  return [before, memory.buffer];
}

/** Something of another realm. */
export function foreign(expression: string): ArrayBuffer {
  // Whoever asks says what it is.
  return runInNewContext(expression) as ArrayBuffer;
}

/** The collector of garbage, called by hand. */
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

/** Every kind of memory that can be registered; each has at least 32 bytes. */
export const ORIGINS: readonly Origin[] = [
  { name: 'memory from alloc()', lasting: 'always', make: () => alloc(10_000) },
  { name: 'a SharedArrayBuffer', lasting: 'always', make: () => new SharedArrayBuffer(5000) },
  {
    name: 'a SharedArrayBuffer that can grow',
    lasting: 'always',
    make: () => foreign('new SharedArrayBuffer(5000, { maxByteLength: 10000 })'),
  },
  {
    name: 'a SharedArrayBuffer of another realm',
    lasting: 'always',
    make: () => foreign('new SharedArrayBuffer(5000)'),
  },
  { name: 'shared memory of WebAssembly', lasting: 'always', make: () => wasmMemory(true).buffer },
  { name: 'an ArrayBuffer', lasting: 'nailed', stealable: true, make: () => new ArrayBuffer(5000) },
  { name: 'a Buffer of its own', lasting: 'nailed', make: () => Buffer.alloc(5000) },
  { name: 'a small Buffer out of the pool', lasting: 'nailed', make: () => Buffer.from('x'.repeat(100)) },
  { name: 'a typed array small enough for V8’s heap', lasting: 'nailed', make: () => new Uint8Array(32) },
  {
    name: 'a view of part of a buffer',
    lasting: 'nailed',
    make: () => new Float64Array(new ArrayBuffer(8192), 1024, 500),
  },
  { name: 'a DataView', lasting: 'nailed', make: () => new DataView(new ArrayBuffer(256), 7, 100) },
  { name: 'an ArrayBuffer of another realm', lasting: 'nailed', make: () => foreign('new ArrayBuffer(5000)') },
  {
    name: 'a typed array of another realm',
    lasting: 'nailed',
    stealable: true,
    make: () => foreign('new Uint8Array(5000)'),
  },
  { name: 'memory of WebAssembly', lasting: 'never', make: () => wasmMemory().buffer },
];

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

/** Every way that a program has. */
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
