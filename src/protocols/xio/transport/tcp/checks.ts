import { invalid, refuse, show, VerbsError } from '../../../../api/verbs/index.js';
import type { LinkOptions } from '../index.js';
import { MAX_ALONG_BYTES, MAX_BODY_BYTES } from './wire.js';

/** @throws VerbsError EINVAL */
export function requireInRange(call: string, what: string, value: unknown, least: number, most: number): void {
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return;
  throw new VerbsError(call, invalid(`${what} is ${show(value)}`, `It is a whole number from ${least} to ${most}`));
}

/** @throws VerbsError EINVAL for what is no name or address */
export function requireHost(call: string, what: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return;
  refuse(call, invalid(`${what} is ${show(value)}`, 'It is a name or an address'));
}

/** @throws VerbsError EINVAL */
export function requireLinkOptions(call: string, { inlineBytes, maxBodyBytes }: LinkOptions): void {
  requireInRange(call, 'inlineBytes', inlineBytes, 0, MAX_ALONG_BYTES);
  requireInRange(call, 'maxBodyBytes', maxBodyBytes, 0, MAX_BODY_BYTES);
}
