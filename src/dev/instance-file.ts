import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Lifetime } from '../platform/lifetime.ts'
import { writePrivateFile } from './private-file.ts'

/** What a program needs to use the running service, and nothing when it does not run. */
export interface Instance {
  url: string
  docs: string
  webUi: string | null
  ownerId: string
  apiKey: string
  dashboardSecret: string
  databaseUrl: string
  temporalAddress: string | null
  temporalNamespace: string | null
}

const file = (dataDir: string) => join(dataDir, 'instance.json')

/** Writes the file, as often as something changes; it goes with the service. */
export function publisher(dataDir: string, life: Lifetime): (instance: Instance) => void {
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
