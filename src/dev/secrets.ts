import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivateFile } from './processes/unprivileged-user.ts'
import type { Sandbox } from './seed.ts'

/** Secrets that are generated at the first start and must never change. They are stored, so neither can their names. */
export interface Secrets {
  dashboardSecret: string
  secretKey: string
  encryptionKey: string
  sandbox: Sandbox | null
}

const file = (dataDir: string) => join(dataDir, 'secrets.json')

const secret = () => randomBytes(32).toString('base64url')

const generated = (): Secrets => ({
  dashboardSecret: secret(),
  secretKey: secret(),
  encryptionKey: secret(),
  sandbox: null,
})

export const hasSecrets = (dataDir: string) => existsSync(file(dataDir))

export function openSecrets(dataDir: string): Secrets {
  const kept: Partial<Secrets> = hasSecrets(dataDir) ? JSON.parse(readFileSync(file(dataDir), 'utf8')) : {}
  const secrets = { ...generated(), ...kept }
  // An earlier version may have generated fewer of them.
  if (Object.keys(secrets).some(name => !(name in kept))) saveSecrets(dataDir, secrets)
  return secrets
}

export function saveSecrets(dataDir: string, secrets: Secrets): void {
  writePrivateFile(file(dataDir), `${JSON.stringify(secrets, null, 2)}\n`)
}

export function removeSecrets(dataDir: string): void {
  rmSync(file(dataDir))
}
