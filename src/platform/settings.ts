import { z } from 'zod'
import { moneySettings } from './money-settings.ts'
import { outsideSettings } from './outside-settings.ts'
import { serviceSettings } from './service-settings.ts'
import { aboutOf } from './setting.ts'
import { temporalSettings } from './temporal-settings.ts'

const schema = z.object({ ...serviceSettings, ...temporalSettings, ...moneySettings, ...outsideSettings })

export type Settings = z.output<typeof schema>

export class WrongSetting extends Error {}

/** `dataDir` in the code is `DATA_DIR` in the environment. */
const variable = (key: string) => key.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()

const keys = Object.keys(schema.shape) as (keyof Settings)[]

const documented = (key: keyof Settings) => aboutOf(schema.shape[key])

/** Checks the environment. An empty variable counts as unset; the message of a failure never holds a value. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const given = keys.flatMap(key => {
    const value = env[variable(key)]?.trim()
    return value ? [[key, value]] : []
  })
  const { data, error } = schema.safeParse(Object.fromEntries(given))
  if (data) return data
  const key = error.issues[0]?.path[0] as keyof Settings
  throw new WrongSetting(`${variable(key)} is not valid. Allowed: ${documented(key).allowed}.`)
}

export interface SettingRow {
  name: string
  standard: string
  allowed: string
  meaning: string
}

/** The settings as documentation shows them. */
export function settingRows(): SettingRow[] {
  const defaults = schema.parse({})
  return keys.map(key => {
    const { allowed, meaning, otherwise } = documented(key)
    return { name: variable(key), standard: otherwise ?? String(defaults[key]), allowed, meaning }
  })
}
