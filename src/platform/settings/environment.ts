import { existsSync } from 'node:fs'
import { readSettings, type Settings } from './settings.ts'

/** The settings of this process; what the environment says wins over the file `.env`. */
export function environment(): Settings {
  if (existsSync('.env')) process.loadEnvFile('.env')
  return readSettings(process.env)
}
