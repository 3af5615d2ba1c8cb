import { readFileSync } from 'node:fs';

/** Version of this package, which devices show as that of their firmware. */
export function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'));
  const known = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return known && typeof manifest.version === 'string' ? manifest.version : 'unknown';
}
