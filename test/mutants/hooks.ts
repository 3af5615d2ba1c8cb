import type { InitializeHook, LoadHook } from 'node:module';
import type { Substitute } from './substitute.js';

let substitute: Substitute | undefined;

export const initialize: InitializeHook<Substitute> = (data) => {
  substitute = data;
};

/** Has one module loaded from a text in place of its file. */
export const load: LoadHook = (url, context, nextLoad) =>
  url === substitute?.url
    ? { format: 'module', source: substitute.source, shortCircuit: true }
    : nextLoad(url, context);
