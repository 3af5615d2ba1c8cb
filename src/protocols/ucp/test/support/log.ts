import { Log } from '../../worker/log.js';

export function quiet(): Log {
  return new Log('test', { logLevel: 'fatal', logFile: 'stdout', protoInfo: false, log: undefined }, 'test', () => 0);
}
