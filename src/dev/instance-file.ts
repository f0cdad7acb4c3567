import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { ProcessLifetime } from '../platform/lifetime.ts'
import { writePrivateFile } from './processes/unprivileged-user.ts'

/** How other programs reach the running service. The file exists only while it runs. */
export interface RunningInstance {
  url: string
  docs: string
  webUi: string | null
  /** Where a person signs in: a link until the first passkey exists; null if passkeys cannot exist at this address. */
  signIn: string | null
  ownerId: string
  apiKey: string
  dashboardSecret: string
  databaseUrl: string
  temporalAddress: string | null
  temporalNamespace: string | null
  /** The Temporal CLI that started the server; null for a configured server. */
  temporalCli: string | null
}

const file = (dataDir: string) => join(dataDir, 'instance.json')

export function instancePublisher(
  dataDir: string,
  life: ProcessLifetime,
): (instance: RunningInstance) => void {
  let over = false
  life.closeLater(() => {
    over = true
    removeInstance(dataDir)
  })
  return instance => {
    if (!over) writePrivateFile(file(dataDir), `${JSON.stringify(instance, null, 2)}\n`)
  }
}

export function removeInstance(dataDir: string): void {
  rmSync(file(dataDir), { force: true })
}
