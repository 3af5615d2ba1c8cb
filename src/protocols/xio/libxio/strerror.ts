import { show } from '../../../api/verbs/index.js';
import { statusName } from '../wire/index.js';
import { XioSessionEvent } from './constants.js';

/** What a status means, in words: `xio_strerror`. @param status one of {@link XioStatus} */
export function xioStrerror(status: number): string {
  const name = statusName(status);
  if (name === undefined) return `unknown status ${show(status)}`;
  const words = name.replace('XIO_E_', '').toLowerCase().replaceAll('_', ' ');
  return words
    .replace(/\bmsg\b/, 'message')
    .replace(/\brsp\b/, 'response')
    .replace(/\btx\b/, 'send');
}

/** The name of an event of sessions: `xio_session_event_str`, which gives words. */
export function xioSessionEventStr(event: number): string {
  const found = Object.entries(XioSessionEvent).find(([, number]) => number === event);
  return found === undefined ? `unknown event ${show(event)}` : found[0];
}
