import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '@redocly/openapi-core'

type Variables = Readonly<Record<string, string | undefined>>

/** A service of `docker-compose.yml`, with the members that the tests read. */
export interface Service {
  readonly image: string
  readonly build?: string
  readonly user?: string
  readonly command?: string | readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>
  readonly healthcheck?: { readonly disable?: boolean; readonly test?: readonly string[] }
  readonly networks?: readonly string[]
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  /** Names of its files below `/run/secrets`. */
  readonly secrets?: readonly string[]
  readonly restart?: string
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly privileged?: boolean
  readonly deploy?: { readonly resources: { readonly limits: { readonly memory: string } } }
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
}

/** Generates the secret files as an operator would; returns the variable that names their folder. */
export function makeSecrets(folder: string): { SECRETS_DIR: string } {
  const SECRETS_DIR = join(folder, 'secrets')
  execFileSync('sh', ['postgres-config/make-secrets.sh'], { env: { ...process.env, SECRETS_DIR } })
  // The unprivileged user of our programs must reach the files; a container mounts them one by one.
  chmodSync(SECRETS_DIR, 0o755)
  return { SECRETS_DIR }
}

/** The text with this machine's secret paths instead of the containers'. */
export const withLocalSecretPaths = (text: string, { secrets }: Pick<Compose, 'secrets'>): string =>
  text.replace(/\/run\/secrets\/(\w+)/g, (_, name) => secrets[name]?.file ?? `no secret ${name}`)

export const composeText = (): string => readFileSync('docker-compose.yml', 'utf8')

/** The file as Compose reads it with these variables; throws if a required one is missing. */
export const readCompose = (variables: Variables): Compose =>
  substituted(parseYaml(composeText()), variables) as Compose

/** The variables that the file refers to. */
export const variablesOf = (text: string): string[] => [
  ...new Set([...text.matchAll(VARIABLE)].map(([, name = '']) => name)),
]

export const readVariables = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]))

const VARIABLE = /\$\{(\w+)(?::([?-])([^}]*))?\}/g

function substituted(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') return value.replace(VARIABLE, (_, ...parts) => valueFor(parts, variables))
  if (Array.isArray(value)) return value.map(item => substituted(item, variables))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, substituted(member, variables)]),
  )
}

function valueFor([name, rule, text]: string[], variables: Variables): string {
  const value = variables[name ?? '']
  if (value) return value
  if (rule === '?') throw new Error(`required variable ${name} is missing a value: ${text}`)
  return text ?? ''
}
