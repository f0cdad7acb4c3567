import { lastingPort } from '../../support/processes/lasting-port.ts'
import { outputOf, type Served } from '../child.ts'
import type { Peer, Place } from './compare.ts'
import { delivering } from './delivering.ts'
import { absenceOf, namedProgram, nameOf } from './named-program.ts'
import { openDatabase } from './own-database.ts'
import { openRedis, redisAbsence } from './redis.ts'
import { startIn } from './started.ts'

const VARIABLE = 'PEER_CONVOY'
const EVENT = 'policy.created'

type Env = Readonly<Record<string, string>>

/** Server and agent with Redis and PostgreSQL, as its compose file runs them. */
export const convoy = (receiver: Served): Peer => ({
  name: nameOf('Convoy', VARIABLE),
  absence: () => absenceOf(VARIABLE) ?? redisAbsence(),
  async open(place) {
    const database = await openDatabase(place)
    const redis = await openRedis(place, [])
    const [port, agentPort] = [String(await lastingPort()), String(await lastingPort())]
    const env = {
      PORT: port,
      AGENT_PORT: agentPort,
      CONVOY_DB_DSN: database.url,
      CONVOY_REDIS_HOST: '127.0.0.1',
      CONVOY_REDIS_PORT: String(redis.port),
      CONVOY_JWT_SECRET: 'secret-of-the-bench',
      CONVOY_JWT_REFRESH_SECRET: 'other-secret-of-the-bench',
      CONVOY_ANALYTICS_ENABLED: 'false',
    }
    await run(env, ['migrate', 'up'])
    // Before the server starts: without an account it would make one whose key no one gets.
    const account = accountIn(await run(env, ['bootstrap', '--email', 'bench@example.com', '--with-api-key']))
    const server = await startProcess(place, 'server', env, port)
    const { path, endpoint } = await subscribe(server, account, `${receiver.url}/late`)
    // Started now, it delivers for the project at once: it reads the list of projects now and then.
    const agent = await startProcess(place, 'agent', env, agentPort)
    return delivering({
      url: server.url,
      request: {
        method: 'POST',
        path: `${path}/events`,
        token: account.api_key,
        body: { endpoint_id: endpoint, event_type: EVENT, data: { name: 'sent-{now}' } },
      },
      receiver,
      cpuSeconds: () => database.seconds() + redis.cpuSeconds() + server.cpuSeconds() + agent.cpuSeconds(),
    })
  },
})

function run(env: Env, args: readonly string[]): Promise<string> {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  return outputOf('env', [...settings, namedProgram(VARIABLE), ...args])
}

const startProcess = (place: Place, name: string, env: Env, port: string): Promise<Served> =>
  startIn(place, name, { command: [namedProgram(VARIABLE), name], env }, `http://127.0.0.1:${port}/healthz`)

interface Account {
  readonly organisation_id: string
  readonly api_key: string
}

/** It prints the account on several lines, after lines of its log that are JSON, too. */
const accountIn = (output: string): Account => JSON.parse(/^\{$.*^\}$/ms.exec(output)?.[0] ?? output)

/** A project with one endpoint, to which all its events go. */
async function subscribe(
  server: Served,
  { organisation_id, api_key }: Account,
  url: string,
): Promise<{ path: string; endpoint: string }> {
  const create = creator(server, api_key)
  const { project } = await create<{ project: Created }>(`/api/v1/projects?orgID=${organisation_id}`, {
    name: 'Bench',
    type: 'outgoing',
  })
  const path = `/api/v1/projects/${project.uid}`
  const endpoint = await create<Created>(`${path}/endpoints`, { name: 'Receiver', url })
  await create(`${path}/subscriptions`, { name: 'All', endpoint_id: endpoint.uid })
  return { path, endpoint: endpoint.uid }
}

interface Created {
  readonly uid: string
}

/** Its answers carry the created record in `data`. */
const creator =
  ({ url }: Served, key: string) =>
  async <T>(path: string, body: unknown): Promise<T> => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`)
    return ((await response.json()) as { data: T }).data
  }
