import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { lastingPort } from '../../support/processes/lasting-port.ts'
import { type Running, start } from '../child.ts'
import type { Place } from './compare.ts'

/** Where Debian keeps the scripts that run as any user. */
const SCRIPTS = '/usr/lib/rabbitmq/bin'
const SERVER = join(SCRIPTS, 'rabbitmq-server')

export interface RabbitMq extends Running {
  readonly url: string
}

export const rabbitMqAbsence = (): string | null =>
  existsSync(SERVER) ? null : 'rabbitmq-server is not installed as Debian does'

/** RabbitMQ with its own defaults, on loopback. */
export async function openRabbitMq({ folder, closeLater }: Place): Promise<RabbitMq> {
  const [port, distribution, names] = [await lastingPort(), await lastingPort(), await lastingPort()]
  // Debug output says when it listens. RabbitMQ would start it in the background, where it outlives a failed start.
  const epmd = ['epmd', '-address', '127.0.0.1', '-port', String(names), '-d', '-d']
  const nameServer = await start({ command: epmd, log: `${folder}/epmd.log`, env: {} }, /main select/)
  closeLater(nameServer.stop)
  const env = {
    PATH: `${SCRIPTS}:${process.env.PATH}`,
    HOME: folder,
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_EPMD_PORT: String(names),
    RABBITMQ_NODENAME: 'bench@localhost',
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(distribution),
    RABBITMQ_MNESIA_BASE: folder,
    RABBITMQ_LOG_BASE: folder,
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'enabled_plugins'),
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    // The script then becomes the server, instead of starting it.
    RUNNING_UNDER_SYSTEMD: 'true',
  }
  const log = `${folder}/rabbitmq.log`
  const server = await start({ command: [SERVER], log, env, cwd: folder }, /Starting broker.*completed/s)
  closeLater(server.stop)
  return { ...server, url: `amqp://guest:guest@127.0.0.1:${port}` }
}
