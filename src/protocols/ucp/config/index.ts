/** Settings by UCX's names, from programs and from the environment. */
export { environmentConfig, readUcpConfig, type UcpEnvironment } from './read-config.js';
export { PREFIX, settingsOf, type UcpConfig, type UcpConfigValue, type UcpSettings } from './settings.js';
export { isLogged, type LogLevel, type TransportName } from './values.js';
