import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { corrections, locate, type Rule } from './locate.js';
import { SourceTree } from './source-tree.js';

const COUNTER = `
export class Counter {
  #count = 0;

  add(amount: number): void {
    if (amount < 0) throw new RangeError('negative');
    this.#count += amount;
  }

  get count(): number {
    return this.#count;
  }
}

export function reset(counter: Counter): void {
  counter.add(-counter.count);
}
`;

const treeOf = (texts: Readonly<Record<string, string>>): SourceTree => new SourceTree(new Map(Object.entries(texts)));

const RULE: Rule = { name: 'sum', in: 'Counter.add', from: 'this.#count += amount;', to: '' };

function found(rule: Rule, texts: Readonly<Record<string, string>>): string {
  const tree = treeOf(texts);
  const { file, start, end } = locate(rule, tree);
  return tree.textOf(file).slice(start, end);
}

describe('the place of a rule', () => {
  it('is its code in its declaration', () => {
    const { file, line, declaration } = locate(RULE, treeOf({ 'src/counter.ts': COUNTER }));
    assert.deepEqual([file, line, declaration], ['src/counter.ts', 7, 'Counter.add']);
  });

  it('may be in a function, a variable, a constructor or an initial value', () => {
    const text = `const table = { a: 1 };\nclass A { x = 3; constructor() { go(); } }\nfunction f() { return 5; }`;
    for (const [declaration, from] of [
      ['table', 'a: 1'],
      ['A.x', '3'],
      ['A.constructor', 'go()'],
      ['f', 'return 5'],
    ])
      assert.equal(found({ ...RULE, in: declaration, from }, { 'src/a.ts': text }), from);
  });

  it('stays found when the file moves, or merges with another that has the same code elsewhere', () => {
    const other = COUNTER.replaceAll('Counter', 'Meter');
    assert.equal(found(RULE, { 'src/elsewhere/sums.ts': other + COUNTER }), RULE.from);
  });

  it('stays found when the code is formatted otherwise', () => {
    const from = "report(amount, { unit: 'bytes', scale: [1, 2] })";
    const other = 'report(\n  amount, // as the caller said\n  { unit: "bytes", scale: [\n1, 2,\n], },\n)';
    const text = COUNTER.replace('this.#count += amount', other);
    assert.equal(found({ ...RULE, from }, { 'src/a.ts': text }), other);
  });

  it('takes along a comma that it ends with, where there is one', () => {
    const rule = { ...RULE, in: 'table', from: 'b: 2,' };
    assert.equal(found(rule, { 'src/a.ts': 'const table = { a: 1, b: 2, c: 3 };' }), 'b: 2,');
    assert.equal(found(rule, { 'src/a.ts': 'const table = { a: 1, b: 2 };' }), 'b: 2');
    assert.throws(() => found(rule, { 'src/a.ts': 'const table = { a: 1, b: 2 + c };' }), /does not hold/);
  });

  it('stays found when the class or the method is renamed, or the code is in another one', () => {
    for (const text of [COUNTER.replaceAll('Counter', 'Sum'), COUNTER.replaceAll('add', 'increase')])
      assert.equal(found(RULE, { 'src/a.ts': text }), RULE.from);
    const rule = { ...RULE, in: 'Counter.gone' };
    assert.equal(found(rule, { 'src/a.ts': COUNTER }), RULE.from);
  });

  it('is that of the same member or class when the declaration is gone and others have the same code', () => {
    const other = COUNTER.replaceAll('Counter', 'Meter').replace('add', 'measure');
    assert.equal(
      locate(RULE, treeOf({ 'src/a.ts': other, 'src/b.ts': COUNTER.replaceAll('Counter', 'Sum') })).declaration,
      'Sum.add',
    );
  });

  it('is not elsewhere while the declaration is there: its code was changed', () => {
    const other = COUNTER.replaceAll('Counter', 'Meter');
    const changed = COUNTER.replace('+= amount', '+= amount * 2');
    assert.throws(() => found(RULE, { 'src/a.ts': changed + other }), /mutant sum: Counter\.add does not hold 'from'/);
  });

  it('is refused with all places when there are several', () => {
    const twice = COUNTER.replace(RULE.from, `${RULE.from}\n${RULE.from}`);
    assert.throws(
      () => found(RULE, { 'src/a.ts': twice }),
      /occurs 2 times: Counter\.add \(src\/a\.ts:7\), Counter\.add \(src\/a\.ts:8\)/,
    );
  });

  it('is in the folder that the rule names, where two have the same declaration', () => {
    const texts = { 'src/kv/a.ts': COUNTER, 'src/ucp/b.ts': COUNTER };
    assert.throws(() => found(RULE, texts), /occurs 2 times/);
    assert.equal(locate({ ...RULE, in: 'ucp/Counter.add' }, treeOf(texts)).file, 'src/ucp/b.ts');
  });

  it('may hold templates, regular expressions and quotients', () => {
    const text =
      'const a = (x: string) => `${x ? `{${x}}` : "}"}`;\nconst b = /[/"]`/.test(a) ? n / 2 / m : 0;\nconst c = 1;';
    for (const [name, from] of [
      ['a', '`${x ? `{${x}}` : "}"}`'],
      ['b', '/[/"]`/'],
      ['b', 'n / 2'],
      ['c', '1'],
    ])
      assert.equal(found({ ...RULE, in: name, from }, { 'src/a.ts': text }), from);
  });
});

describe('what a rule that is not found should say', () => {
  const textOf = (rule: Rule, texts: Readonly<Record<string, string>>): unknown =>
    corrections(rule, treeOf(texts)).map(({ place: _, ...words }) => words);

  it('has new names of fields, in what replaces the code as well', () => {
    const rule = { ...RULE, to: 'this.#count -= amount;' };
    const text = COUNTER.replaceAll('#count', '#sum').replaceAll('Counter', 'Total');
    assert.deepEqual(textOf(rule, { 'src/a.ts': text }), [
      { in: 'Total.add', from: 'this.#sum += amount;', to: 'this.#sum -= amount;' },
    ]);
  });

  it('has the new declaration of code that went to another one', () => {
    const text = COUNTER.replace(RULE.from, 'this.#sum(amount);').replace(
      'get count',
      '#sum(amount: number): void {\n    this.#count += amount;\n  }\n\n  get count',
    );
    assert.deepEqual(textOf(RULE, { 'src/a.ts': text }), [{ in: 'Counter.#sum', from: RULE.from, to: '' }]);
    assert.throws(() => found(RULE, { 'src/a.ts': text }), /now be in Counter\.#sum .*--update' does this/);
  });

  it('is nothing where more than half of the names are others, or one name became two', () => {
    const text = COUNTER.replace(RULE.from, 'this.#sum += more;').replace('add(', 'increase(');
    assert.deepEqual(textOf(RULE, { 'src/a.ts': text }), []);
    const rule = { ...RULE, from: 'copy(a, b, c, a);' };
    assert.deepEqual(textOf(rule, { 'src/a.ts': COUNTER.replace(RULE.from, 'copy(a, b, c, d);') }), []);
    assert.throws(() => found(RULE, { 'src/a.ts': text }), /Find what implements the rule now/);
  });
});
