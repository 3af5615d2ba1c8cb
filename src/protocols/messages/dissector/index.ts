import type { CapturedMessage, Dissector } from '../../core/index.js';
import { decodeFarewell } from '../protocol/farewell.js';
import { decodeHello } from '../protocol/hello.js';
import { Flag, flagsOf, Kind, kindOf, limitOf, rulesOf } from '../protocol/kinds.js';

function amount({ byteLength }: CapturedMessage): string {
  return byteLength === undefined ? '' : ` ${byteLength} B`;
}

function farewell({ payload, byteLength }: CapturedMessage): string {
  if (payload.length !== byteLength) return '';
  const { reason, text } = decodeFarewell(payload);
  return ` reason ${reason}${text === '' ? '' : ` "${text}"`}`;
}

export const messagesDissector: Dissector = {
  name: 'messages',

  hello(privateData) {
    const hello = decodeHello(privateData);
    if (typeof hello === 'string') return undefined;
    const { window, maxWindow, bufferBytes, maxMessageBytes } = hello;
    return `window ${window} to ${maxWindow}, buffers of ${bufferBytes} B, messages up to ${maxMessageBytes} B`;
  },

  message(message) {
    const { operation, immediate } = message;
    const rules = immediate === undefined || operation !== 'SEND' ? undefined : rulesOf(kindOf(immediate));
    if (immediate === undefined || rules === undefined) return undefined;
    const isFarewell = kindOf(immediate) === Kind.CLOSE;
    const what = isFarewell ? farewell(message) : rules.payload === 'none' ? '' : amount(message);
    const hungry = (flagsOf(immediate) & Flag.HUNGRY) === 0 ? '' : ', wants more';
    return `${rules.name}${what}, credit to ${limitOf(immediate)}${hungry}`;
  },
};
