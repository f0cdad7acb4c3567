import { setTimeout as sleep } from 'node:timers/promises'
import type { ProcessLifetime } from '../../platform/lifetime.ts'
import { printError, printLine, printProgress } from '../../platform/output.ts'
import type { Settings } from '../../platform/settings/settings.ts'
import { findTemporal, installedTemporal, preferredTemporal } from './binary.ts'
import { startTemporal } from './server.ts'

export interface TemporalConnectionInfo {
  readonly temporalAddress: string
  readonly temporalNamespace: string
  /** Null for a configured server, unless `TEMPORAL_UI_URL` names it. */
  readonly webUi: string | null
  readonly temporalCli: string | null
}

export interface TemporalOptions {
  readonly settings: Settings
  readonly dataDir: string
  readonly life: ProcessLifetime
}

const search = { env: process.env, tell: printProgress }
const LOOK_EVERY_MS = 5_000

export async function startTemporalIfInstalled(
  wish: TemporalOptions,
): Promise<TemporalConnectionInfo | null> {
  const { temporalAddress, temporalNamespace, temporalUiUrl = null } = wish.settings
  if (temporalAddress) return { temporalAddress, temporalNamespace, webUi: temporalUiUrl, temporalCli: null }
  const binary = await preferredTemporal(search)
  if (!binary) return null
  printProgress('Starting Temporal')
  return ownTemporal(binary, wish).catch(({ message }) => {
    printError(message)
    return null
  })
}

export async function startTemporalOnceInstalled(wish: TemporalOptions): Promise<TemporalConnectionInfo> {
  printLine('There is no Temporal server yet. Work that needs one is queued.')
  const found = await findTemporal(search)
  if (found.binary === null) printError(`Temporal is not available. ${found.reason}`)
  for (;;) {
    // The user may have followed the advice of the last failure.
    const binary = await installedTemporal(search)
    const temporal = binary && (await ownTemporal(binary, wish).catch(() => null))
    if (temporal) return temporal
    await sleep(LOOK_EVERY_MS)
  }
}

async function ownTemporal(
  binary: string,
  { settings, dataDir, life }: TemporalOptions,
): Promise<TemporalConnectionInfo> {
  const { temporalNamespace } = settings
  const server = await startTemporal({ binary, dataDir, namespace: temporalNamespace })
  life.closeLater(() => server.stop())
  server.notes.forEach(printLine)
  server.ended.catch(({ message }) => printError(`${message}. What needs Temporal is queued.`))
  return { temporalAddress: server.address, temporalNamespace, webUi: server.webUi, temporalCli: binary }
}
