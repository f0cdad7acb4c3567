import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { nearestName } from '../../values/nearest.ts'
import {
  InvalidSettingError,
  readSettings,
  refuseRenamedSettings,
  type Settings,
  settingVariables,
} from './settings.ts'

const FILE = '.env'

/** `usual` are the values of a program for settings that have none. */
export function readEnvironmentSettings(usual: NodeJS.ProcessEnv = {}): Settings {
  if (existsSync(FILE)) {
    refuseMisspeltSettings(Object.keys(parseEnv(readFileSync(FILE, 'utf8'))), FILE)
    process.loadEnvFile(FILE)
  }
  const given = Object.entries(process.env).filter(([, value]) => value?.trim())
  return readSettings({ ...usual, ...Object.fromEntries(given) })
}

/** Variables of other programs, which read the same file and resemble ours. */
const FOREIGN_VARIABLES =
  /^PG[A-Z]+$|^(AGENTPAY|NODE|NPM|POSTGRES|COMPOSE|DOCKER)_|^TEMPORAL_(CLI|CODEC|CONFIG|ENV|PROFILE)|^OTEL_EXPORTER_OTLP_(CERTIFICATE|CLIENT|COMPRESSION|TIMEOUT)/

/**
 * Ends the start if the file has an unknown name that resembles a setting: a misspelt limit would otherwise
 * be no limit. An unknown name that resembles none belongs to another program and is ignored.
 */
export function refuseMisspeltSettings(names: readonly string[], file: string): void {
  refuseRenamedSettings(names)
  const known = settingVariables()
  for (const name of names) {
    if (known.includes(name) || FOREIGN_VARIABLES.test(name)) continue
    const meant = nearestName(name, known)
    if (meant) throw new InvalidSettingError(`${name} in ${file} is not a setting. Did you mean ${meant}?`)
  }
}
