import { clientAt } from '../client.ts'
import { cloneDatabase } from '../database.ts'
import { type Receiver, startReceiver } from '../delivery/receiver.ts'
import type { TestClient } from '../factories.ts'
import { type Installation, startInstallation } from '../processes/installation.ts'
import type { Launched } from '../processes/launched.ts'
import { createOwner } from '../processes/processes.ts'
import { temporalClient } from '../temporal/temporal.ts'
import { filesIn, historiesOf, linesOf, type Place, rowsOf } from './places.ts'

/**
 * API, relay, worker and Temporal as processes with the most verbose logs, and with all their outgoing
 * traffic recorded.
 */
export interface WatchedInstallation {
  readonly databaseUrl: string
  readonly installation: Installation
  readonly temporal: Awaited<ReturnType<typeof temporalClient>>
  readonly receiver: Receiver
  readonly key: string
  readonly client: TestClient
  clientWith(token: string): TestClient
  alsoLogs(process: Launched): void
  /** Everything written so far, by place. */
  places(): Promise<Readonly<Record<string, Place>>>
}

export async function watchedInstallation(): Promise<WatchedInstallation> {
  const databaseUrl = await cloneDatabase()
  const answers = recordedAnswers()
  const installation = await startInstallation(databaseUrl, {
    env: { LOG_LEVEL: 'trace', OUTBOUND_ALLOW_CIDRS: '127.0.0.1' },
  })
  await installation.startMissing()
  const [temporal, receiver] = await Promise.all([
    temporalClient(installation.temporal.address),
    startReceiver(),
  ])
  const { url } = installation.api
  const others: Launched[] = []
  const clientWith = (token: string) => clientAt({ url, token })
  const key = await createOwner(url)
  return {
    databaseUrl,
    installation,
    temporal,
    receiver,
    key,
    clientWith,
    client: clientWith(key),
    alsoLogs: process => void others.push(process),
    places: async () => ({
      logs: linesOf([...installation.outputs(), ...others.map(process => process.output())]),
      database: await rowsOf(databaseUrl),
      histories: await historiesOf(temporal),
      'files of Temporal': filesIn(installation.temporal.dataDir),
      webhooks: received(receiver),
      answers: { texts: answers, values: [] },
    }),
  }
}

function received(receiver: Receiver): Place {
  const requests = receiver.at()
  return { texts: requests.map(request => JSON.stringify(request)), values: requests.map(({ body }) => body) }
}

function recordedAnswers(): string[] {
  const answers: string[] = []
  const original = globalThis.fetch
  globalThis.fetch = async (...args) => {
    const response = await original(...args)
    answers.push(JSON.stringify([...response.headers]), await response.clone().text())
    return response
  }
  return answers
}
