import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { coded, wrongValue } from './errors.js';

function checkAnswer({ address, family }: LookupAddress, host: string): LookupAddress {
  if (isIP(address) === 0)
    throw coded(new TypeError(`${host} was looked up as ${address}, which is no IP address`), 'ERR_INVALID_IP_ADDRESS');
  if (family !== 4 && family !== 6)
    throw coded(
      new RangeError(`${host} was looked up as ${address} of family ${String(family)}`),
      'ERR_INVALID_ADDRESS_FAMILY',
    );
  return { address, family };
}

/** Has a program's own function find the addresses of a name. */
export function lookUp(
  lookup: LookupFunction,
  host: string,
  question: { family: number; hints: number; all: boolean },
): Promise<LookupAddress[]> {
  return new Promise((resolve, reject) => {
    lookup(host, question, (error, answer, family) => {
      if (error) {
        reject(error);
        return;
      }
      try {
        const found = typeof answer === 'string' ? [{ address: answer, family: family ?? isIP(answer) }] : [...answer];
        if (found.length === 0) throw wrongValue('lookup', `found no address of ${host}`, answer);
        resolve(found.map((one) => checkAnswer(one, host)));
      } catch (wrong) {
        reject(wrong instanceof Error ? wrong : new Error(String(wrong)));
      }
    });
  });
}
