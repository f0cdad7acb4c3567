import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { refuseMisspelt } from './misspelt.ts'
import { readSettings, type Settings } from './settings.ts'

const FILE = '.env'

/** The settings of this process; what the environment says wins over the file `.env`. */
export function environment(): Settings {
  if (existsSync(FILE)) {
    refuseMisspelt(Object.keys(parseEnv(readFileSync(FILE, 'utf8'))), FILE)
    process.loadEnvFile(FILE)
  }
  return readSettings(process.env)
}
