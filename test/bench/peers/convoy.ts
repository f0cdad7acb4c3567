import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../../src/dev/processes/free-port.ts'
import { outputOf, type Served } from '../child.ts'
import { post } from '../stage.ts'
import type { Peer, Place } from './compare.ts'
import { delivering } from './delivering.ts'
import { absenceOf, namedProgram } from './named-program.ts'
import { openDatabase } from './own-database.ts'
import { openRedis, redisAbsence } from './redis.ts'
import { startIn } from './started.ts'

const VARIABLE = 'PEER_CONVOY'
/** Its limits on requests and deliveries are set so high that they limit nothing here. */
const UNLIMITED = 1_000_000

interface Created {
  readonly data: {
    readonly uid: string
    readonly project: { uid: string }
    readonly api_key: { key: string }
  }
}

/** Server and agent with Redis and PostgreSQL, as its compose file for one machine runs them, without PgBouncer. */
export const convoy = (receiver: Served): Peer => ({
  name: 'Convoy',
  absence: () => absenceOf(VARIABLE) ?? redisAbsence(),
  async open(place) {
    const database = await openDatabase(place)
    const redis = await openRedis(place, [])
    const [port, agentPort] = [await freePort(0), await freePort(0)]
    const config = configure(place, { database: database.url, redis: redis.port, port, agentPort })
    const run = (...words: string[]) => [namedProgram(VARIABLE), ...words, '--config', config]
    await command(run('migrate', 'up'))
    const user = JSON.parse(await command(run('bootstrap', '--email', 'bench@example.com', '--with-api-key')))
    const ready = (at: number) => `http://127.0.0.1:${at}/healthz`
    const server = await startIn(place, 'server', { command: run('server'), env: {} }, ready(port))
    const agent = await startIn(place, 'agent', { command: run('agent'), env: {} }, ready(agentPort))
    const { path, key, endpointId } = await subscribe(server, receiver, user)
    return delivering({
      url: server.url,
      request: {
        method: 'POST',
        path: `${path}/events`,
        token: key,
        body: { endpoint_id: endpointId, event_type: 'policy.created', data: { name: 'sent-{now}' } },
      },
      receiver,
      cpuSeconds: () => database.seconds() + redis.cpuSeconds() + server.cpuSeconds() + agent.cpuSeconds(),
    })
  },
})

const command = ([program = '', ...words]: readonly string[]): Promise<string> => outputOf(program, words)

function configure(
  { folder }: Place,
  own: { database: string; redis: number; port: number; agentPort: number },
): string {
  const { hostname, port, username, password, pathname } = new URL(own.database)
  const settings = {
    host: `http://127.0.0.1:${own.port}`,
    database: {
      ...{ host: hostname, port: Number(port), username, password, database: pathname.slice(1) },
      ...{ scheme: 'postgres', options: 'sslmode=disable' },
    },
    redis: { scheme: 'redis', host: '127.0.0.1', port: own.redis },
    server: { http: { port: own.port, agent_port: own.agentPort } },
    auth: {
      native: { enabled: true },
      jwt: { enabled: true, secret: 'access-of-the-bench', refresh_secret: 'refresh-of-the-bench' },
    },
    dispatcher: { allow_list: ['127.0.0.0/8'], block_list: [], skip_ping_validation: true },
    analytics: { enabled: false },
    instance_ingest_rate: UNLIMITED,
    api_rate_limit: UNLIMITED,
  }
  const file = join(folder, 'convoy.json')
  writeFileSync(file, JSON.stringify(settings))
  return file
}

/** A project with one endpoint that gets every event. */
async function subscribe(
  server: Served,
  receiver: Served,
  user: { readonly organisation_id: string; readonly api_key: string },
): Promise<{ path: string; key: string; endpointId: string }> {
  const send = async (path: string, body: object, key: string) =>
    (
      (await post(server, `/api/v1/projects${path}`, body, {
        authorization: `Bearer ${key}`,
      })) as unknown as Created
    ).data
  const limit = { ratelimit: { count: UNLIMITED, duration: 60 } }
  const { project, api_key } = await send(
    `?orgID=${user.organisation_id}`,
    { name: 'bench', type: 'outgoing', config: limit },
    user.api_key,
  )
  const own = `/${project.uid}`
  const { key } = api_key
  const { uid: endpointId } = await send(
    `${own}/endpoints`,
    { name: 'bench', url: `${receiver.url}/late` },
    key,
  )
  const all = { event_types: ['*'] }
  await send(`${own}/subscriptions`, { name: 'bench', endpoint_id: endpointId, filter_config: all }, key)
  return { path: `/api/v1/projects${own}`, key, endpointId }
}
