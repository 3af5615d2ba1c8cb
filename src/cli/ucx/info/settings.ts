import { readUcpConfig, type UcpConfig } from '../../../entry/ucp.js';

interface Setting {
  readonly preset: string;
  readonly what: string;
}

/** Each setting that workers heed, what it is when nobody says, and what it does. */
const SETTINGS: Readonly<Record<keyof UcpConfig, Setting>> = {
  TLS: { preset: 'rc', what: 'How messages go to other workers: the first of a list that there is, rc or ud.' },
  BCOPY_THRESH: {
    preset: 'auto',
    what: 'From which length on messages are packed, though they would go into a request.',
  },
  ZCOPY_THRESH: { preset: 'auto', what: 'From which length on messages go from where they lie.' },
  RNDV_THRESH: { preset: '32K', what: 'From which length on messages go by rendezvous.' },
  RNDV_SCHEME: { preset: 'auto', what: 'Who moves the data of a rendezvous: get_zcopy, put_zcopy or am.' },
  KEEPALIVE_INTERVAL: { preset: '20s', what: 'How long a peer may be silent before it is asked whether it is there.' },
  RC_FC_WND_SIZE: { preset: '64', what: 'Messages that each peer may send by rc before any is taken: 1 to 1024.' },
  UD_MAX_WINDOW: { preset: '256', what: 'Datagrams that may be under way to a peer by ud: 2 to 1025.' },
  UD_TIMEOUT: { preset: '30s', what: 'How long a peer may be silent by ud while something is waited for.' },
  LOG_LEVEL: { preset: 'WARN', what: 'What the log says: INFO of workers and endpoints, DEBUG of rendezvous as well.' },
  LOG_FILE: { preset: 'stdout', what: 'Where the log goes: stdout, stderr, or a file, to which it is added.' },
  PROTO_INFO: { preset: 'n', what: 'Whether the log says by which protocols messages of an endpoint go: y or n.' },
};

export interface SettingFacts extends Setting {
  readonly name: string;
  readonly value: string;
}

/** @throws VerbsError EINVAL when the environment makes no sense */
export function settingsFacts(): SettingFacts[] {
  const { config, warnings } = readUcpConfig();
  for (const warning of warnings) process.stderr.write(`${warning}\n`);
  return Object.entries(SETTINGS).map(([name, setting]) => {
    // The names are those of the type.
    const value = config[name as keyof UcpConfig];
    return { name: `UCX_${name}`, value: value === undefined ? setting.preset : String(value), ...setting };
  });
}

/** As UCX's tool prints it. @param isDecorated with what each is for */
export function settingsText(facts: readonly SettingFacts[], isDecorated: boolean): string {
  if (!isDecorated) return facts.map(({ name, value }) => `${name}=${value}\n`).join('');
  const rule = `#\n# UCX settings\n#\n`;
  return (
    rule +
    facts
      .map(({ name, value, what, preset }) => `\n#\n# ${what}\n#\n# default: ${preset}\n#\n${name}=${value}\n`)
      .join('')
  );
}
