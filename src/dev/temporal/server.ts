import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection } from '@temporalio/client'
import settings from '../../../temporal-config/dev-server.json' with { type: 'json' }
import { freePort } from '../processes/free-port.ts'
import {
  type GuardedChild,
  guardedChild,
  keepServerRunning,
  type RestartedServer,
} from '../processes/guarded-child.ts'
import {
  endLeftoverTemporal,
  type LastStart,
  putAsideOtherData,
  rememberedStart,
  rememberStart,
  removeUnfinishedTemporal,
  type TemporalPaths,
  type TemporalPorts,
  temporalPaths,
} from './data.ts'
import { hasNews, olderServerNotes, serverOf } from './version.ts'
import { type HiddenAddress, hiddenHost, openWebUi, type WebUiProxy } from './web-ui.ts'

export interface EmbeddedTemporal extends RestartedServer {
  address: string
  webUi: string
  /** What the developer ought to know about this start, a line each. */
  notes: readonly string[]
}

interface Options {
  binary: string
  dataDir: string
  namespace?: string
  ports?: TemporalPorts
  durable?: boolean
}

interface Wish extends Options {
  /** The server's, which is undefined if the binary did not print it in time. */
  version: string | undefined
}

const PORTS: TemporalPorts = { grpc: 7233, ui: 8233 }
const READY_MS = 30_000
const RELEASE_MS = 1_000
const POLL_MS = 20

/** Disables telemetry to the vendor. */
const QUIET = { TEMPORAL_VERSION_CHECK_DISABLED: '1' }

/**
 * Starts the Temporal server of a data directory and keeps it running. It keeps its ports between starts; the
 * first start takes the requested ports or the next free ones.
 */
export async function startTemporal(options: Options): Promise<EmbeddedTemporal> {
  const place = temporalPaths(options.dataDir)
  await endLeftoverTemporal(place)
  removeUnfinishedTemporal(place)
  const before = rememberedStart(place)
  const [version] = await Promise.all([serverOf(options.binary), before && release(before)])
  const isPutAside = before && version ? putAsideOtherData(place, before, version) : false
  const wish = { ...options, version }
  const { server, ports, webUi } = await startOnFreePorts(wish, before ?? options.ports ?? PORTS)
  rememberStart(place, { ...ports, server: version ?? before?.server })
  const kept = keepServerRunning(server, async () => {
    await endLeftoverTemporal(place)
    return startServer(wish, ports, webUi)
  })
  const stop = () => {
    webUi.close()
    return kept.stop()
  }
  const notes = [...olderServerNotes(version), ...(isPutAside ? [putAsideNote(place, before)] : [])]
  return { address: addressOf(ports), webUi: `http://localhost:${ports.ui}`, notes, ended: kept.ended, stop }
}

const putAsideNote = ({ older }: TemporalPaths, before?: LastStart): string =>
  `Temporal's data was made by ${before?.server ? `server ${before.server}` : 'another server'} and now lies in ${older}. Open runs begin anew from their records within a minute.`

const addressOf = ({ grpc }: TemporalPorts) => `127.0.0.1:${grpc}`

class PortTaken extends Error {}

/** Another program may take a port between the check and the server's start. */
async function startOnFreePorts(options: Wish, wanted: TemporalPorts) {
  for (let step = 0; ; step++) {
    const ports = await nextFree(wanted, step)
    const webUi = await openWebUi(ports.ui).catch(() => null)
    if (!webUi) continue
    try {
      return { server: await startServer(options, ports, webUi), ports, webUi }
    } catch (error) {
      webUi.close()
      if (!(error instanceof PortTaken)) throw error
    }
  }
}

/** After a kill the system needs a moment to close the server's files and ports. */
async function release({ grpc, ui }: TemporalPorts): Promise<void> {
  const isFree = async (port: number) => (await freePort(port)) === port
  for (let waited = 0; waited < RELEASE_MS; waited += POLL_MS) {
    if ((await isFree(grpc)) && (await isFree(ui))) return
    await sleep(POLL_MS)
  }
}

async function nextFree({ grpc, ui }: TemporalPorts, step: number): Promise<TemporalPorts> {
  const from = (port: number) => freePort(port === 0 ? 0 : port + step)
  return { grpc: await from(grpc), ui: await from(ui) }
}

async function startServer(options: Wish, ports: TemporalPorts, webUi: WebUiProxy): Promise<GuardedChild> {
  const { binary, dataDir, namespace = 'default' } = options
  const { home, log } = temporalPaths(dataDir)
  const host = hiddenHost()
  const hidden = { host, port: await freePort(0, host) }
  webUi.forwardTo(hidden)
  const command = [binary, 'server', 'start-dev', ...flags(options, ports, hidden)]
  // SIGKILL: acknowledged data is on the disk, and a graceful stop takes long.
  const server = guardedChild(command, { user: {}, cwd: home, log, env: QUIET, signal: 'KILL' })
  const over = new AbortController()
  void server.ended.then(() => over.abort())
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(READY_MS)])
  try {
    await prepareTemporal({ address: addressOf(ports), namespace, signal })
    return server
  } catch (error) {
    server.end()
    throw failure(readFileSync(log, 'utf8'), error as Error)
  }
}

function flags(options: Wish, { grpc }: TemporalPorts, hidden: HiddenAddress): string[] {
  const { dataDir, namespace = 'default', durable = true, version } = options
  return [
    ...['--ip', '127.0.0.1', '--port', String(grpc)],
    ...['--ui-ip', hidden.host, '--ui-port', String(hidden.port)],
    ...['--namespace', namespace, '--log-level', 'error'],
    ...(hasNews(version) ? ['--ui-disable-news-fetch'] : []),
    ...pairs('--dynamic-config-value', settings.dynamicConfig, JSON.stringify),
    ...(durable ? ['--db-filename', temporalPaths(dataDir).data] : []),
    ...(durable ? pairs('--sqlite-pragma', settings.sqlitePragmas) : []),
  ]
}

const pairs = (flag: string, values: object, text: (value: unknown) => string = String): string[] =>
  Object.entries(values).flatMap(([name, value]) => [flag, `${name}=${text(value)}`])

function failure(log: string, { message }: Error): Error {
  if (log.includes('address already in use')) return new PortTaken()
  return new Error(`Temporal did not start: ${log.trim().split('\n').at(-1) || message}`)
}

interface Server {
  readonly address: string
  readonly namespace: string
  readonly signal: AbortSignal
}

const READY_POLL_MS = 10
const CONNECT_MS = 5_000

/** Waits until a new server serves its namespace, and registers our search attributes there. */
async function prepareTemporal({ address, namespace, signal }: Server): Promise<void> {
  // Imported only here: the SDK takes as long to load as the server to start.
  const [{ Connection }] = await Promise.all([import('@temporalio/client'), listening(address, signal)])
  const connection = await Connection.connect({ address, connectTimeout: CONNECT_MS })
  try {
    await connection.withAbortSignal(signal, () => prepare(connection, namespace))
  } finally {
    await connection.close()
  }
}

async function listening(address: string, signal: AbortSignal): Promise<void> {
  const { hostname, port } = new URL(`tcp://${address}`)
  for (;;) {
    signal.throwIfAborted()
    const socket = connect(Number(port), hostname)
    const open = await once(socket, 'connect').catch(() => null)
    socket.destroy()
    if (open) return
    await sleep(READY_POLL_MS)
  }
}

/** Data of an earlier version may lack some attributes. */
async function prepare(connection: Connection, namespace: string): Promise<void> {
  await connection.workflowService.describeNamespace({ namespace })
  const { addSearchAttributes } = await import('../../platform/temporal/namespace.ts')
  await addSearchAttributes(connection, namespace)
}
