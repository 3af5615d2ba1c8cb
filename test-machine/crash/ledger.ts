/** What must be in the store, by what clients have said. */
import { isCounter } from './orders.js';

/** undefined: there is no such key. */
type Value = string | undefined;

interface Account {
  acknowledged: Value;
  /** What was asked for last, and not answered: undefined while there is nothing of the kind. */
  wanted: { readonly value: Value } | undefined;
}

/** For each key what was acknowledged, and what was asked for since. */
export class Ledger {
  readonly #accounts = new Map<string, Account>();
  acknowledged = 0;
  /** Changes that were not, and are found to be there, or not. */
  done = 0;
  undone = 0;
  compared = 0;

  get keys(): readonly string[] {
    return [...this.#accounts.keys()];
  }

  /** A key may be changed from now on. */
  expect(key: string): void {
    this.#account(key);
  }

  /** A client has said something. @returns what is wrong with it, or with its server */
  heard(line: string): string | undefined {
    const [mark, key, operation, value] = line.split(' ');
    if (mark === '>') this.#wants(key, operation, value);
    else if (mark === '<') this.#hasDone(key);
    else if (!/ECONNRESET|ETIMEDOUT|ECONNREFUSED|EHOSTUNREACH/.test(line)) return line;
    return undefined;
  }

  /** What was found in the store: it is that from now on. @returns what is wrong with it */
  found(key: string, value: Value): string | undefined {
    const account = this.#account(key);
    const { acknowledged, wanted } = account;
    this.compared += 1;
    if (wanted !== undefined && wanted.value !== acknowledged) {
      if (value === wanted.value) this.done += 1;
      else this.undone += 1;
    }
    account.acknowledged = value;
    account.wanted = undefined;
    if (value === acknowledged || (wanted !== undefined && value === wanted.value)) return undefined;
    const also = wanted === undefined ? '' : `, or ${show(wanted.value)}, which was asked for`;
    return `${key} is ${show(value)}, and not ${show(acknowledged)}, which was acknowledged${also}`;
  }

  #wants(key: string, operation: string, value: Value): void {
    const account = this.#account(key);
    const next = isCounter(key) ? String(BigInt(account.acknowledged ?? '0') + 1n) : value;
    account.wanted = { value: operation === 'DEL' ? undefined : next };
  }

  #hasDone(key: string): void {
    const account = this.#account(key);
    if (account.wanted === undefined) throw new Error(`${key} was answered and not asked for`);
    account.acknowledged = account.wanted.value;
    account.wanted = undefined;
    this.acknowledged += 1;
  }

  #account(key: string): Account {
    let account = this.#accounts.get(key);
    if (account === undefined) {
      account = { acknowledged: undefined, wanted: undefined };
      this.#accounts.set(key, account);
    }
    return account;
  }
}

function show(value: Value): string {
  return value === undefined ? 'not there' : `'${value.slice(0, 40)}'`;
}
