import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { nearest } from '../../values/nearest.ts'
import { readSettings, refuseRenamed, type Settings, settingVariables, WrongSetting } from './settings.ts'

const FILE = '.env'

export function environment(): Settings {
  if (existsSync(FILE)) {
    refuseMisspelt(Object.keys(parseEnv(readFileSync(FILE, 'utf8'))), FILE)
    process.loadEnvFile(FILE)
  }
  return readSettings(process.env)
}

/** Variables of other programs, which read the same file and resemble ours. */
const FOREIGN_VARIABLES =
  /^PG[A-Z]+$|^(AGENTPAY|NODE|NPM|POSTGRES|COMPOSE|DOCKER)_|^TEMPORAL_(CLI|CODEC|CONFIG|ENV|PROFILE)/

/**
 * Ends the start if the file has an unknown name that resembles a setting: a misspelt limit would otherwise
 * be no limit. An unknown name that resembles none belongs to another program and is ignored.
 */
export function refuseMisspelt(names: readonly string[], file: string): void {
  refuseRenamed(names)
  const known = settingVariables()
  for (const name of names) {
    if (known.includes(name) || FOREIGN_VARIABLES.test(name)) continue
    const meant = nearest(name, known)
    if (meant) throw new WrongSetting(`${name} in ${file} is not a setting. Did you mean ${meant}?`)
  }
}
