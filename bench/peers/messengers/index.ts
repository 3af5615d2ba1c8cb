import { messages } from './messages.js';
import type { Messenger } from './messenger.js';
import { net } from './net.js';
import { raw } from './raw.js';
import { rsocket } from './rsocket.js';
import { ucp } from './ucp.js';
import { ws } from './ws.js';
import { xio } from './xio.js';

export type MessengerName = 'raw' | 'messages' | 'rsocket' | 'ucp' | 'xio' | 'net' | 'ws';
export const MESSENGERS: Readonly<Record<MessengerName, Messenger>> = {
  raw,
  messages,
  rsocket,
  ucp,
  xio,
  net,
  ws,
};
export type { Talker } from './messenger.js';
