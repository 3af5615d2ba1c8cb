import type { NamedTest } from './named-tests.js';

/** Stands in place of `node:test`: keeps tests for somebody who runs them, rather than to run them. */

type Body = () => unknown;
interface Options {
  readonly skip?: unknown;
}

export const collected: NamedTest[] = [];
const titles: string[] = [];
let skipping = false;

function within(title: string, skip: unknown, declare: Body): void {
  const before = skipping;
  titles.push(title);
  skipping ||= Boolean(skip);
  declare();
  skipping = before;
  titles.pop();
}

const declaration =
  (declare: (title: string, skip: unknown, body: Body) => void) =>
  (title: string, ...rest: readonly [Body] | readonly [Options, Body]): void => {
    const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest;
    declare(title, options.skip, body);
  };

export const describe = declaration(within);

export const it = declaration((title, skip, body) =>
  within(title, skip, () => {
    if (!skipping) collected.push({ name: titles.join(' '), play: body });
  }),
);

export const test = it;
