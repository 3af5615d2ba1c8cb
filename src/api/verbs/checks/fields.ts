/** Names that somebody writes, and may write wrongly: a name that means nothing must not go by unnoticed. */
import { invalid, type Problem } from '../errors.js';
import { countProblem, isObject, objectProblem, show } from './values.js';
import type { OpenOptions } from '../objects/open-options.js';

/** Why an option must not have a value, or undefined when it may. Options that are undefined are not checked. */
export type OptionRule = (what: string, value: unknown) => Problem | undefined;

/** Each field with the rule for its value, or `true` where the value is checked elsewhere. */
export type Fields = Readonly<Record<string, true | OptionRule>>;

/** The fields of `T`, all of them, and no others. */
export type FieldsOf<T> = Readonly<Record<keyof T & string, true | OptionRule>>;

const rule =
  (isValid: (value: unknown) => boolean, advice: string): OptionRule =>
  (what, value) =>
    isValid(value) ? undefined : invalid(`${what} is ${show(value)}`, advice);

export const wholeNumber =
  (least: number, most: number): OptionRule =>
  (what, value) =>
    countProblem(what, value, least, most);

/** As long as timers of Node can wait. Fractions of a millisecond are allowed. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

export const milliseconds = (least: number, orInfinity?: 'orInfinity'): OptionRule =>
  rule(
    (value) =>
      (value === Infinity && orInfinity !== undefined) ||
      (typeof value === 'number' && value >= least && value <= MAX_TIMER_MS),
    `It is a number of milliseconds from ${least} to ${MAX_TIMER_MS}${orInfinity === undefined ? '' : ', or Infinity'}`,
  );

export const trueOrFalse: OptionRule = rule((value) => typeof value === 'boolean', 'It is true or false');

export const callback = (advice = 'It is a function'): OptionRule =>
  rule((value) => typeof value === 'function', advice);

export const oneOf = (...values: readonly string[]): OptionRule =>
  rule((value) => typeof value === 'string' && values.includes(value), `It is one of ${values.join(', ')}`);

export const nonEmptyText = (advice: string): OptionRule =>
  rule((value) => typeof value === 'string' && value !== '', advice);

/** How many letters must go, come or change to make one word of another. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1)
      next.push(Math.min(row[j] + 1, next[j - 1] + 1, row[j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}

/** Which names there are, and which of them was probably meant; of many names, that one alone. */
export function nameAdvice(given: unknown, names: readonly string[], many = 20): string {
  const all = `There ${names.length === 1 ? 'is' : 'are'} ${names.length === 0 ? 'none' : names.join(', ')}`;
  if (typeof given !== 'string') return all;
  const [nearest] = names
    .map((name) => ({ name, far: distance(given.toUpperCase(), name.toUpperCase()) }))
    .sort((a, b) => a.far - b.far);
  const near = names.length > 0 && nearest.far <= Math.max(2, given.length / 2);
  if (!near) return all;
  return names.length > many ? `Is it ${nearest.name}?` : `Is it ${nearest.name}? ${all}`;
}

/**
 * Why `given` cannot be looked into for these fields, or undefined when it can: it is not an object, or has a field that does
 * not exist, and what that was to change would stay as it is. For objects that say how something is made or changed;
 * requests, of which there are millions a second, are not looked through.
 */
export function fieldsProblem(what: string, given: unknown, fields: Fields): Problem | undefined {
  if (!isObject(given)) return objectProblem(what, given);
  const unknown = Object.keys(given).find((field) => !Object.hasOwn(fields, field));
  if (unknown !== undefined)
    return invalid(`there is no ${show(unknown)} in ${what}`, nameAdvice(unknown, Object.keys(fields)));
  for (const field in fields) {
    const check = fields[field];
    if (check === true) continue;
    const value: unknown = Reflect.get(given, field);
    if (value === undefined) continue;
    const problem = check(what === 'options' ? field : `${what}.${field}`, value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The fields of what says how a device is opened, at an address that is said elsewhere. */
export const openingFields: FieldsOf<Omit<OpenOptions, 'address' | 'device'>> = {
  host: true,
  capture: true,
  link: true,
  netem: true,
  minAckTimeout: true,
  warn: true,
};

/** The same, and what says whose NIC it is. */
export const openFields: FieldsOf<OpenOptions> = { ...openingFields, address: true, device: true };
