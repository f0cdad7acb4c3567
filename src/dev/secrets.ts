import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivateFile } from './processes/unprivileged-user.ts'
import type { SeededSandbox } from './seed.ts'

/** Secrets that are generated at the first start and must never change. They are stored, so neither can their names. */
export interface LocalSecrets {
  dashboardSecret: string
  secretKey: string
  encryptionKey: string
  sandbox: SeededSandbox | null
}

const file = (dataDir: string) => join(dataDir, 'secrets.json')

const secret = () => randomBytes(32).toString('base64url')

const generated = (): LocalSecrets => ({
  dashboardSecret: secret(),
  secretKey: secret(),
  encryptionKey: secret(),
  sandbox: null,
})

export const hasLocalSecrets = (dataDir: string) => existsSync(file(dataDir))

export function openLocalSecrets(dataDir: string): LocalSecrets {
  const kept: Partial<LocalSecrets> = hasLocalSecrets(dataDir)
    ? JSON.parse(readFileSync(file(dataDir), 'utf8'))
    : {}
  const secrets = { ...generated(), ...kept }
  // An earlier version may have generated fewer of them.
  if (Object.keys(secrets).some(name => !(name in kept))) saveLocalSecrets(dataDir, secrets)
  return secrets
}

export function saveLocalSecrets(dataDir: string, secrets: LocalSecrets): void {
  writePrivateFile(file(dataDir), `${JSON.stringify(secrets, null, 2)}\n`)
}

export function removeLocalSecrets(dataDir: string): void {
  rmSync(file(dataDir))
}
