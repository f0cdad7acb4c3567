import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Authenticator } from '../../support/identity/authenticator.ts'
import type { Case } from '../case.ts'
import { addWaiting, fillAgents, type Numbered } from '../database/intent-rows.ts'
import { usualOrShort } from '../short.ts'
import { bearer, post, type Stage, withClient } from '../stage.ts'

/** More intents than one measurement approves. */
const WAITING = usualOrShort(12_000, 3_000)
/** Agents with a mandate: enough that their money lasts for all rounds. */
const MANDATED = usualOrShort(500, 10)
/** Concurrent requests while the load is prepared. */
const AT_ONCE = 32

/** A person of the stage's owner, with a passkey and signed in. */
export interface Person {
  readonly device: Authenticator
  readonly cookie: string
}

const PERSON = `insert into people (owner_id, mode, id, created_at, updated_at, name, role, status, joined_at)
  values ($1, 'test', $2, now(), now(), 'Ada', 'owner', 'active', now())`

const originOf = ({ api }: Stage): string => api.url.replace('127.0.0.1', 'localhost')

export const call = <T>(stage: Stage, path: string, body: object): Promise<T> =>
  post(stage.api, path, body, bearer(stage)) as Promise<T>

type Registration = { challengeId: string; options: Parameters<Authenticator['register']>[0] }
type Challenge = { challengeId: string; options: Parameters<Authenticator['assert']>[0] }

export async function addPerson(stage: Stage): Promise<Person> {
  const personId = 'person_bench'
  await insertPerson(stage, personId)
  const { url } = await call<{ url: string }>(stage, '/console/links', { personId })
  const answer = await fetch(`${stage.api.url}/console/links/redeem`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ token: new URL(url).hash.slice(1) }),
  })
  const cookie = String(answer.headers.get('set-cookie')).split(';')[0] ?? ''
  return { device: await enrol(stage, personId), cookie }
}

/** Another owner with a passkey, which the first one confirms. */
export async function addSigner(stage: Stage, personId: string, by: Authenticator): Promise<Authenticator> {
  await insertPerson(stage, personId)
  return enrol(stage, personId, by)
}

const insertPerson = (stage: Stage, personId: string) =>
  withClient(stage, client => client.query(PERSON, [stage.ownerId, personId]))

async function enrol(stage: Stage, personId: string, by?: Authenticator): Promise<Authenticator> {
  const device = new Authenticator({ origin: originOf(stage) })
  const enrolment = { purpose: 'enrolment', subject: personId }
  const confirmed = by && signed(await call<Challenge>(stage, '/passkeys/challenge', enrolment), by)
  const body = confirmed ? { personId, webauthnAssertion: confirmed } : { personId }
  const begun = await call<Registration>(stage, '/passkeys/register/options', body)
  const registration = device.register(begun.options)
  await call(stage, '/passkeys/register/verify', { challengeId: begun.challengeId, registration })
  return device
}

/** What `POST /intents/{id}/approve` takes. */
export async function signatureOver(stage: Stage, intentId: string, device: Authenticator): Promise<object> {
  const challenge = await call<Challenge>(stage, `/passkeys/intents/${intentId}/challenge`, {})
  return { webauthnAssertion: signed(challenge, device) }
}

const signed = ({ challengeId, options }: Challenge, device: Authenticator) => ({
  challengeId,
  assertion: device.assert(options),
})

/** Runs the work for each number, some at a time, and returns the results in order. */
export async function forEachOf<T>({ from, to }: Numbered, work: (n: number) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  let next = from
  const worker = async (): Promise<void> => {
    while (next <= to) {
      const n = next++
      results[n - from] = await work(n)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}

async function signedIntents(stage: Stage, { device }: Person) {
  const numbers = await addWaiting(stage, WAITING)
  const lines = await forEachOf(numbers, async n =>
    JSON.stringify(await signatureOver(stage, `intent_bench_${n}`, device)),
  )
  const bodies = join(stage.folder, `signed-${numbers.from}.jsonl`)
  writeFileSync(bodies, `${lines.join('\n')}\n`)
  return { numbers: { ...numbers, inOrder: true }, bodies }
}

/** Mandates that allow the first agents what their policies would review. */
async function addMandates(stage: Stage, { device }: Person): Promise<void> {
  await forEachOf({ from: 1, to: MANDATED }, async n => {
    const mandate = {
      agentId: `agent_bench_${n}`,
      name: 'Bench',
      constraints: { perTransactionEuros: 100 },
      expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
    }
    const challenge = await call<Challenge>(stage, '/mandates/options', mandate)
    await call(stage, '/mandates', { ...mandate, webauthnAssertion: signed(challenge, device) })
  })
}

export async function approvalCases(
  stage: Stage,
  person: Person,
): Promise<readonly (readonly [Case, Case])[]> {
  await fillAgents(stage)
  await addMandates(stage, person)
  const { api: server, token } = stage
  const approve = { method: 'POST', path: '/intents/intent_bench_{n}/approve', token, keys: true } as const
  const declare = (name: string, title: string, amountEuros: number): Case => ({
    name,
    title,
    server,
    request: () => ({
      method: 'POST',
      path: '/intents',
      token,
      keys: true,
      expects: '"approved"',
      numbers: { from: 1, to: MANDATED },
      body: { agentId: 'agent_bench_{n}', amountEuros, merchant: 'Bookshop {each}', purpose: 'A paper' },
    }),
  })
  const read = {
    method: 'GET',
    path: '/agents/agent_bench_{n}',
    token,
    numbers: { from: 1, to: 1_000 },
  } as const
  return [
    [
      {
        name: 'with a passkey',
        title: 'approve with a passkey',
        server,
        request: async () => ({ ...approve, ...(await signedIntents(stage, person)) }),
      },
      {
        name: 'without',
        title: 'approve without',
        server,
        request: async () => ({
          ...approve,
          body: {},
          numbers: { ...(await addWaiting(stage, WAITING)), inOrder: true },
        }),
      },
    ],
    [
      {
        name: 'by cookie',
        title: 'GET /agents/{id} by cookie',
        server,
        request: () => ({ ...read, cookie: person.cookie }),
      },
      { name: 'by key', title: 'GET /agents/{id} by key', server, request: () => read },
    ],
    [
      declare('mandate', 'an intent inside a mandate', 60),
      declare('limit', 'an intent below autoApproveLimitEuros', 9.5),
    ],
  ]
}
