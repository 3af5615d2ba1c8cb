import type { ResolveHook } from 'node:module';

const COLLECTOR = new URL('collector.js', import.meta.url).href;

export const resolve: ResolveHook = (specifier, context, next) =>
  specifier === 'node:test' ? { url: COLLECTOR, format: 'module', shortCircuit: true } : next(specifier, context);
