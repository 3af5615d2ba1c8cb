/** The ways for messages, by their names. */
import { messages } from './messages.js';
import type { Messenger } from './messenger.js';
import { net } from './net.js';
import { raw } from './raw.js';
import { ws } from './ws.js';

export type MessengerName = 'raw' | 'messages' | 'net' | 'ws';
export const MESSENGERS: Readonly<Record<MessengerName, Messenger>> = { raw, messages, net, ws };
export type { Talker } from './messenger.js';
