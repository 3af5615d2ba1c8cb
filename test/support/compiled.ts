import { runInThisContext } from 'node:vm';

const TIMES = 300_000;

/**
 * What code says of a view whose buffer was transferred, once V8 has compiled it: the code has met memory that can grow, and was called often. In such code V8 11.3
 * (Node 20) has `length` stay what it was.
 */
export function askedOfGone<T>(ask: (view: Uint8Array) => T): T {
  // TypeScript's library of ES2023 knows no such buffers.
  const growable = runInThisContext('new Uint8Array(new SharedArrayBuffer(64, { maxByteLength: 128 }))') as Uint8Array;
  const views = [growable, new Uint8Array(64), new Uint8Array(new SharedArrayBuffer(64))];
  for (let i = 0; i < TIMES; i += 1) for (const view of views) ask(view);
  const gone = new Uint8Array(64);
  structuredClone(gone, { transfer: [gone.buffer] });
  return ask(gone);
}
