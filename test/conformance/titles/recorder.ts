/** Stands in for `node:test` while the suite's titles are collected: remembers what is tested, and tests nothing. */

const path: string[] = [];

/** The titles of every test, outermost first. */
export const recorded: (readonly string[])[] = [];

type Body = (() => unknown) | undefined;

const bodyOf = (args: readonly unknown[]): Body => {
  const body = args.find((argument) => typeof argument === 'function');
  // Whatever node:test would call.
  return body as Body;
};

export function describe(title: string, ...args: readonly unknown[]): void {
  path.push(title);
  bodyOf(args)?.();
  path.pop();
}

export function test(title: string): void {
  recorded.push([...path, title]);
}

const nothing = (): void => {};

// A test that is skipped or to be done is none.
test.skip = nothing;
test.todo = nothing;
describe.skip = nothing;
describe.todo = nothing;

export const it = test;
export const suite = describe;
export const before = nothing;
export const after = nothing;
export const beforeEach = nothing;
export const afterEach = nothing;
