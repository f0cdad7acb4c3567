import { execFileSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '@redocly/openapi-core'

type Variables = Readonly<Record<string, string | undefined>>

/** A service of `docker-compose.yml`, as far as we look at it. */
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
  /** Names of files, each of which it finds below `/run/secrets`. */
  readonly secrets?: readonly string[]
  readonly restart?: string
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly security_opt?: readonly string[]
  readonly privileged?: boolean
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
}

/** Makes the files as an operator would, and gives the variable that says where they are. */
export function makeSecrets(folder: string): { SECRETS_DIR: string } {
  const SECRETS_DIR = join(folder, 'secrets')
  execFileSync('sh', ['postgres-config/make-secrets.sh'], { env: { ...process.env, SECRETS_DIR } })
  // Whoever is to run our programs has to reach it; a container is given the files alone.
  chmodSync(SECRETS_DIR, 0o755)
  return { SECRETS_DIR }
}

/** A text in which containers' paths of secrets are those of this machine. */
export const secretsHere = (text: string, { secrets }: Pick<Compose, 'secrets'>): string =>
  text.replace(/\/run\/secrets\/(\w+)/g, (_, name) => secrets[name]?.file ?? `no secret ${name}`)

export const composeText = (): string => readFileSync('docker-compose.yml', 'utf8')

/** The file as Compose would read it with these variables; without one that is required it fails as Compose does. */
export const readCompose = (variables: Variables): Compose =>
  filledIn(parseYaml(composeText()), variables) as Compose

/** The variables that the file asks for. */
export const variablesOf = (text: string): string[] => [
  ...new Set([...text.matchAll(VARIABLE)].map(([, name = '']) => name)),
]

/** The variables that a file such as `.env.production` sets. */
export const readVariables = (text: string): Record<string, string> =>
  Object.fromEntries([...text.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]))

const VARIABLE = /\$\{(\w+)(?::([?-])([^}]*))?\}/g

function filledIn(value: unknown, variables: Variables): unknown {
  if (typeof value === 'string') return value.replace(VARIABLE, (_, ...parts) => valueFor(parts, variables))
  if (Array.isArray(value)) return value.map(item => filledIn(item, variables))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, filledIn(member, variables)]),
  )
}

function valueFor([name, rule, text]: string[], variables: Variables): string {
  const given = variables[name ?? '']
  if (given) return given
  if (rule === '?') throw new Error(`required variable ${name} is missing a value: ${text}`)
  return text ?? ''
}
