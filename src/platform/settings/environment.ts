import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { nearest } from '../../values/nearest.ts'
import { readSettings, type Settings, settingVariables, WrongSetting } from './settings.ts'

const FILE = '.env'

/** The settings of this process; what the environment says wins over the file `.env`. */
export function environment(): Settings {
  if (existsSync(FILE)) {
    refuseMisspelt(Object.keys(parseEnv(readFileSync(FILE, 'utf8'))), FILE)
    process.loadEnvFile(FILE)
  }
  return readSettings(process.env)
}

/** Names that other programs read from the same file: they resemble ours, and are theirs. */
const OF_OTHERS =
  /^PG[A-Z]+$|^(AGENTPAY|NODE|NPM|POSTGRES|COMPOSE|DOCKER)_|^TEMPORAL_(CLI|CODEC|CONFIG|ENV|PROFILE)/

/**
 * Ends the start where a name in the file is none of ours and resembles one: a limit that is misspelt would else be a limit
 * that nobody has set. A name that resembles none belongs to another program, and is let be.
 */
export function refuseMisspelt(names: readonly string[], file: string): void {
  const known = settingVariables()
  for (const name of names) {
    if (known.includes(name) || OF_OTHERS.test(name)) continue
    const meant = nearest(name, known)
    if (meant) throw new WrongSetting(`${name} in ${file} is no setting. Did you mean ${meant}?`)
  }
}
