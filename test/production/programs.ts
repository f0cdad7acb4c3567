import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { freePort } from '../../src/dev/processes/free-port.ts'
import { type User, unprivilegedUser } from '../../src/dev/processes/unprivileged-user.ts'
import { until } from '../support/until.ts'
import { type Child, job, stay } from './children.ts'
import { startCluster } from './databases.ts'
import type { Image } from './image.ts'
import type { Start } from './start.ts'

/** Ours run as nobody of consequence, if we can make them: they could not write where they are. */
const nobody: User = process.getuid?.() === 0 ? unprivilegedUser() : {}

/** What stands for each image. */
export const programs: Readonly<Record<string, (start: Start) => Promise<void>>> = {
  async postgres({ addresses, compose, folder, closeLater }) {
    const { server, address } = await startCluster(folder, compose)
    closeLater(() => server.stop())
    addresses.set('postgres:5432', address)
  },

  'temporalio/admin-tools': start => job(start, start.command),

  async 'temporalio/server'(start) {
    const ports = await freePorts(['FRONTEND', 'HISTORY', 'MATCHING', 'WORKER'])
    const env = { ...start.env, BIND_ON_IP: '127.0.0.1', ...ports }
    stay({ ...start, env }, start.command, OUTRIGHT)
    await listens(start, 'temporal:7233', ports.FRONTEND_GRPC_PORT)
  },

  async 'temporalio/ui'(start) {
    const config = join(start.folder, 'ui')
    cpSync(join(start.temporal, 'ui-server-config'), config, { recursive: true })
    // The image listens everywhere, and what is published of it is for its publisher to say.
    mkdirSync(config, { recursive: true })
    writeFileSync(join(config, 'base.yaml'), 'host: 127.0.0.1\n')
    const port = String(await freePort(0))
    const env = { ...start.env, TEMPORAL_UI_PORT: port }
    stay(
      { ...start, env },
      ['ui-server', '--root', start.folder, '--config', 'ui', '--env', 'docker', 'start'],
      OUTRIGHT,
    )
    await listens(start, 'temporal-ui:8080', port)
  },

  async 'agent-payments'(start) {
    const { image, name, service } = start
    const command = [image.node, ...start.command.slice(1)]
    const child: Child = { cwd: image.folder, user: nobody }
    if (service.restart !== 'unless-stopped') return job(start, command, child)
    const PORT = String(await freePort(0))
    const env = { ...image.env, ...start.env, HOST: '127.0.0.1', PORT, METRICS_PORT: '0' }
    stay({ ...start, env }, command, child)
    if (service.healthcheck?.disable) return
    await until(`the health of ${name}`, () => isHealthy(image, PORT))
    start.addresses.set(`${name}:8080`, `127.0.0.1:${PORT}`)
  },
}

/** On their way to a gentle end these take their time, and a database has what they have answered for. */
const OUTRIGHT: Child = { signal: 'KILL' }

/** Below 32768: the table of its members has no room for more. */
async function freePorts(roles: readonly string[]): Promise<Record<string, string>> {
  const ports: Record<string, string> = {}
  let next = 16_000 + randomInt(16_000)
  for (const name of roles.flatMap(role => [`${role}_GRPC_PORT`, `${role}_MEMBERSHIP_PORT`])) {
    ports[name] = String(await freePort(next))
    next = Number(ports[name]) + 1
  }
  return ports
}

async function listens({ addresses }: Start, there: string, port: string | undefined): Promise<void> {
  await until(there, async () => {
    const socket = connect(Number(port), '127.0.0.1')
    const open = await once(socket, 'connect').catch(() => null)
    socket.destroy()
    return open
  })
  addresses.set(there, `127.0.0.1:${port}`)
}

/** By the image's own health check. */
async function isHealthy({ healthCheck }: Image, PORT: string): Promise<boolean> {
  const [, ...args] = healthCheck
  const child = spawn(process.execPath, args, { env: { PORT }, stdio: 'ignore' })
  const [code] = await once(child, 'exit')
  return code === 0
}
