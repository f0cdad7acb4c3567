import { lastingPort } from '../../support/processes/lasting-port.ts'
import { outputOf, type Served } from '../child.ts'
import { post } from '../stage.ts'
import type { Peer, Place } from './compare.ts'
import { delivering } from './delivering.ts'
import { absenceOf, namedProgram, nameOf } from './named-program.ts'
import { openDatabase } from './own-database.ts'
import { openRabbitMq, rabbitMqAbsence } from './rabbitmq.ts'
import { openRedis, redisAbsence } from './redis.ts'
import { startIn } from './started.ts'

const VARIABLE = 'PEER_OUTPOST'
const KEY = 'key-of-the-bench'
const TENANT = 'bench'
const TOPIC = 'policy.created'

/** Its three services with Redis, RabbitMQ and PostgreSQL, as its compose files run them. */
export const outpost = (receiver: Served): Peer => ({
  name: nameOf('Outpost', VARIABLE),
  absence: () => absenceOf(VARIABLE) ?? redisAbsence() ?? rabbitMqAbsence(),
  async open(place) {
    const database = await openDatabase(place)
    const redis = await openRedis(place, ['--save', '20', '1', '--requirepass', KEY])
    const rabbitMq = await openRabbitMq(place)
    const env = {
      API_KEY: KEY,
      API_JWT_SECRET: KEY,
      AES_ENCRYPTION_SECRET: 'sixteen-letters!',
      TOPICS: TOPIC,
      REDIS_HOST: '127.0.0.1',
      REDIS_PORT: String(redis.port),
      REDIS_PASSWORD: KEY,
      REDIS_DATABASE: '0',
      RABBITMQ_SERVER_URL: rabbitMq.url,
      POSTGRES_URL: database.url,
      DISABLE_TELEMETRY: 'true',
    }
    await migrate(env)
    const services: Served[] = []
    for (const service of ['api', 'delivery', 'log']) services.push(await startService(place, service, env))
    const [api] = services as [Served]
    const path = `/api/v1/tenants/${TENANT}`
    const credentials = { authorization: `Bearer ${KEY}` }
    await fetch(api.url + path, { method: 'PUT', headers: credentials })
    const destination = { type: 'webhook', topics: ['*'], config: { url: `${receiver.url}/late` } }
    await post(api, `${path}/destinations`, destination, credentials)
    return delivering({
      url: api.url,
      request: {
        method: 'POST',
        path: '/api/v1/publish',
        token: KEY,
        body: { tenant_id: TENANT, topic: TOPIC, eligible_for_retry: true, data: { name: 'sent-{now}' } },
      },
      receiver,
      cpuSeconds: () =>
        [database.seconds, redis.cpuSeconds, rabbitMq.cpuSeconds, ...services.map(one => one.cpuSeconds)]
          .map(seconds => seconds())
          .reduce((sum, seconds) => sum + seconds, 0),
    })
  },
})

async function migrate(env: Readonly<Record<string, string>>): Promise<void> {
  const settings = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  await outputOf('env', [...settings, namedProgram(VARIABLE), 'migrate', 'apply', '--yes'])
}

async function startService(
  place: Place,
  service: string,
  env: Readonly<Record<string, string>>,
): Promise<Served> {
  const port = String(await lastingPort())
  const own = { ...env, SERVICE: service, PORT: port, API_PORT: port }
  const command = [`${namedProgram(VARIABLE)}-server`]
  return startIn(place, service, { command, env: own }, `http://127.0.0.1:${port}/healthz`)
}
