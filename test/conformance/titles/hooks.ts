/** Module hooks: whoever imports `node:test` gets the recorder. */
import type { ResolveHook } from 'node:module';

const RECORDER = new URL('./recorder.js', import.meta.url).href;

export const resolve: ResolveHook = (specifier, context, nextResolve) =>
  specifier === 'node:test' ? { url: RECORDER, shortCircuit: true } : nextResolve(specifier, context);
