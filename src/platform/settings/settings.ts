import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { cardSettings } from './cards.ts'
import {
  assertKycProvider,
  canvasSettings,
  externalSystemSettings,
  identitySettings,
} from './external-systems.ts'
import { assertMail, mailSettings } from './mail.ts'
import { moneySettings } from './money.ts'
import { assertDataResidency, residencySettings } from './residency.ts'
import { assertFiles, complianceSettings, serviceSettings } from './service.ts'
import { InvalidSettingError, settingDocumentation } from './setting.ts'
import { telemetrySettings } from './telemetry.ts'
import { temporalSettings } from './temporal.ts'

const schema = z.object({
  ...serviceSettings,
  ...residencySettings,
  ...temporalSettings,
  ...telemetrySettings,
  ...moneySettings,
  ...cardSettings,
  ...identitySettings,
  ...complianceSettings,
  ...externalSystemSettings,
  ...mailSettings,
  ...canvasSettings,
})

export type Settings = z.output<typeof schema>

const variable = (key: string) => key.replace(/[A-Z]/g, letter => `_${letter}`).toUpperCase()

const keys = Object.keys(schema.shape) as (keyof Settings)[]

const documented = (key: keyof Settings) => settingDocumentation(schema.shape[key])

/** Names of earlier versions. One that is still set would have no effect, so it stops the start. */
const RENAMED: Readonly<Record<string, string>> = {
  SECRET_KEY: 'CURSOR_SIGNING_KEY',
  SECRET_KEY_FILE: 'CURSOR_SIGNING_KEY_FILE',
  TEMPORAL_WEB_UI: 'TEMPORAL_UI_URL',
  PUSH_CONTACT: 'VAPID_SUBJECT',
  CARD_ANSWER_MS: 'CARD_AUTH_TIMEOUT_MS',
  SEPA_CUT_OFFS: 'SEPA_CUTOFF_TIMES',
  MPP_RUNS: 'MPP_WORKFLOWS',
}

export const renamedVariables = Object.keys(RENAMED)

export function refuseRenamedSettings(names: readonly string[]): void {
  for (const name of names)
    if (RENAMED[name]) throw new InvalidSettingError(`${name} is now called ${RENAMED[name]}. Rename it.`)
}

/** An empty variable counts as unset. The message of a failure never contains a value. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  refuseRenamedSettings(renamedVariables.filter(name => env[name]?.trim()))
  const given = keys.flatMap(key => {
    const name = variable(key)
    const value = documented(key).secret ? readSecret(env, name) : env[name]?.trim()
    return value ? [[key, value]] : []
  })
  const { data, error } = schema.safeParse(Object.fromEntries(given))
  if (data) {
    assertKycProvider(data)
    assertMail(data)
    assertFiles(data)
    assertDataResidency(data)
    return withPassword(data)
  }
  const key = error.issues[0]?.path[0] as keyof Settings
  throw new InvalidSettingError(`${variable(key)} is not valid. Allowed: ${documented(key).allowed}.`)
}

/**
 * Inserts `DATABASE_PASSWORD` into the URLs: a URL without a password is no secret and can stand in plain
 * configuration.
 */
function withPassword(settings: Settings): Settings {
  const { databaseUrl, databaseReplicaUrl, databasePassword: password } = settings
  if (password === undefined) return settings
  if (databaseUrl === undefined || !lacksPassword(databaseUrl))
    throw new InvalidSettingError(
      'DATABASE_PASSWORD needs a DATABASE_URL that names a user and has no password.',
    )
  const ofReplica =
    databaseReplicaUrl === undefined
      ? {}
      : { databaseReplicaUrl: withPasswordIn(databaseReplicaUrl, password) }
  return { ...settings, databaseUrl: withPasswordIn(databaseUrl, password), ...ofReplica }
}

function lacksPassword(address: string): boolean {
  const { username, password } = new URL(address)
  return username !== '' && password === ''
}

function withPasswordIn(address: string, password: string): string {
  const url = new URL(address)
  if (lacksPassword(address)) url.password = encodeURIComponent(password)
  return url.href
}

interface SettingRow {
  name: string
  standard: string
  allowed: string
  meaning: string
}

export function documentedSettings(): SettingRow[] {
  const defaults = schema.parse({})
  return keys.map(key => {
    const { allowed, meaning, otherwise, secret } = documented(key)
    const standard = otherwise ?? String(defaults[key])
    return { name: variable(key), standard, allowed, meaning: secret ? `${meaning} Secret.` : meaning }
  })
}

export const settingVariables = (): string[] =>
  keys.flatMap(key => (documented(key).secret ? [variable(key), `${variable(key)}_FILE`] : [variable(key)]))

export { InvalidSettingError }

/**
 * Reads a secret from its variable, or from the file that its `_FILE` variable names, as Docker and
 * Kubernetes provide secrets. Both at once are refused as ambiguous.
 */
function readSecret(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = env[name]?.trim()
  const file = env[`${name}_FILE`]?.trim()
  if (value && file) throw new InvalidSettingError(`${name} and ${name}_FILE are both set: set one of them.`)
  return file ? contentsOf(file, `${name}_FILE`) : value
}

function contentsOf(file: string, variable: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new InvalidSettingError(`${variable}: ${file} cannot be read (${code}).`)
  }
}
