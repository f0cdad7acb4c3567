import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort } from '../../src/dev/processes/free-port.ts'
import { type SystemUser, unprivilegedUser } from '../../src/dev/processes/unprivileged-user.ts'
import { startTemporal } from '../../src/dev/temporal/server.ts'
import { until } from '../support/until.ts'
import { type Child, keepRunning, runToEnd } from './children.ts'
import { startCluster } from './databases.ts'
import type { Image } from './image.ts'
import type { Start } from './start.ts'

/** Our programs run without privileges if this process is root: then they cannot write into their own folder. */
const unprivileged: SystemUser = process.getuid?.() === 0 ? unprivilegedUser() : {}

export const programs: Start['programs'] = {
  async postgres({ addresses, compose, folder, closeLater }) {
    const { server, address } = await startCluster(folder, compose)
    closeLater(() => server.stop())
    addresses.set('postgres:5432', address)
  },

  'temporalio/admin-tools': start => runToEnd(start, start.command),

  async 'temporalio/server'(start) {
    const ports = await freePorts(['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'])
    const env = { ...start.env, BIND_ON_IP: '127.0.0.1', ...ports }
    keepRunning({ ...start, env }, start.command, KILLED)
    await untilListening(start, 'temporal:7233', ports.FRONTEND_GRPC_PORT)
  },

  async 'temporalio/ui'(start) {
    const config = join(start.folder, 'ui')
    cpSync(join(start.temporal, 'ui-server-config'), config, { recursive: true })
    // The image listens on all interfaces; here only this machine may reach it.
    mkdirSync(config, { recursive: true })
    writeFileSync(join(config, 'base.yaml'), 'host: 127.0.0.1\n')
    const port = String(await freePort(0))
    const env = { ...start.env, TEMPORAL_UI_PORT: port }
    keepRunning(
      { ...start, env },
      ['ui-server', '--root', start.folder, '--config', 'ui', '--env', 'docker', 'start'],
      KILLED,
    )
    await untilListening(start, 'temporal-ui:8080', port)
  },

  async 'agent-payments'(start) {
    const { image, name, service } = start
    const command = [image.node, ...start.command.slice(1)]
    const child: Child = { cwd: image.folder, user: unprivileged }
    if (service.restart !== 'unless-stopped') return runToEnd(start, command, child)
    const PORT = String(await freePort(0))
    const env = { ...image.env, ...start.env, HOST: '127.0.0.1', PORT, METRICS_PORT: '0' }
    keepRunning({ ...start, env }, command, child)
    if (service.healthcheck?.disable) return
    await until(`the health of ${name}`, () => isHealthy(image, PORT))
    start.addresses.set(`${name}:8080`, `127.0.0.1:${PORT}`)
  },
}

/** Temporal's development server instead of its schema, its server and its Web UI: the tests have it anyway. */
export const withDevServer: Start['programs'] = {
  ...programs,
  async 'temporalio/server'({ temporal: binary, folder, addresses, closeLater }) {
    const dataDir = join(folder, 'temporal')
    mkdirSync(dataDir)
    const server = await startTemporal({ binary, dataDir, ports: { grpc: 0, ui: 0 }, durable: false })
    closeLater(() => server.stop())
    addresses.set('temporal:7233', server.address)
    addresses.set('temporal-ui:8080', new URL(server.webUi).host)
  },
  async 'temporalio/admin-tools'() {},
  async 'temporalio/ui'() {},
}

/** Temporal's programs take long to stop gently, and the database has everything that they answered. */
const KILLED: Child = { signal: 'KILL' }

/** Free ports below 32768: Temporal's membership table stores no larger ones. */
async function freePorts(roles: readonly string[]): Promise<Record<string, string>> {
  const ports: Record<string, string> = {}
  let next = 16_000 + randomInt(16_000)
  for (const name of roles.flatMap(role => [`${role}_GRPC_PORT`, `${role}_MEMBERSHIP_PORT`])) {
    ports[name] = String(await freePort(next))
    next = Number(ports[name]) + 1
  }
  return ports
}

async function untilListening(
  { addresses }: Start,
  containerAddress: string,
  port: string | undefined,
): Promise<void> {
  await until(containerAddress, async () => {
    const socket = connect(Number(port), '127.0.0.1')
    const open = await once(socket, 'connect').catch(() => null)
    socket.destroy()
    return open
  })
  addresses.set(containerAddress, `127.0.0.1:${port}`)
}

async function isHealthy({ healthCheck }: Image, PORT: string): Promise<boolean> {
  const [, ...args] = healthCheck
  const child = spawn(process.execPath, args, { env: { PORT }, stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  return code === 0
}
