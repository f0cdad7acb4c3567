import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { areas } from '../../src/areas.ts'
import type {
  IdentityCheck,
  IdentityCheckStatus,
  IdentityVerification,
  UnansweredIdentityCheck,
} from '../../src/ports/identity-verification.ts'
import { activitiesOf, pausedPastItsClaim } from '../support/activities.ts'
import { openEngine } from '../support/engine.ts'
import { bodyOf } from '../support/factories.ts'
import { type FlakyProxy, flakyProxy } from '../support/flaky-proxy.ts'
import { startTestService } from '../support/harness.ts'
import { aDocument, anIndividual, aSubmission, eventsOf, PDF } from '../support/identity/kyc.ts'
import { until } from '../support/until.ts'

type Answer = IdentityCheckStatus | UnansweredIdentityCheck

const service = await startTestService({})

/** The run's worker, whose provider is at hand. */
const proxy: FlakyProxy = await flakyProxy(service.databaseUrl)
const worker = openEngine(areas, proxy.url)
afterAll(() => worker.close())

const calls: string[] = []
let isAway = false
let answer: (call: string) => Answer | Promise<Answer>
let redacted: 'redacted' | UnansweredIdentityCheck
const asked =
  (call: 'submit' | 'inquire'): IdentityVerification['submit'] =>
  async ({ reference, person, documents }: IdentityCheck, { requestId, returnUrl }) => {
    const contents = await Promise.all(documents.map(({ bytes }) => bytes()))
    const files = contents.map(content => Buffer.from(content).toString('base64'))
    calls.push([call, reference, person.name, ...files, requestId, returnUrl].join(' | '))
    return answer(call)
  }
const provider = {
  name: 'sandbox',
  decider: 'provider',
  submit: asked('submit'),
  inquire: asked('inquire'),
  async redact(reference: string) {
    calls.push(`redact | ${reference}`)
    return redacted
  },
}
const { systems, service: running } = worker.runtime.ports
const content = async function* () {
  yield Buffer.from(PDF, 'base64')
}
Object.assign(systems, {
  identityVerification: () => provider,
  files: { open: async () => ({ content: content() }) },
})
Object.assign(running, { pageUrl: (path: string) => `https://pay.example${path}` })
const run = activitiesOf(worker.runtime)({ requestIdOf: ({ id }) => `workflow:kyc/${id}` })

beforeEach(() => {
  calls.length = 0
  answer = () => ({ status: 'verified' })
  redacted = 'redacted'
})
afterEach(async () => {
  if (isAway) await proxy.open()
  isAway = false
})

async function aCheck() {
  const { client, ownerId } = await anIndividual(service)
  const { id } = await aSubmission(client)
  const ref = { id, ownerId, mode: 'test' } as const
  return {
    ref,
    client,
    get: () => bodyOf(client.kyc.get({ params: { id } })),
    /** As if the pause between two calls were over. */
    async later() {
      await service.sql('update kyc_submissions set due_at = created_at where id = $1', [id])
    },
  }
}

const callNames = () => calls.map(call => call.split(' | ', 1)[0])

describe('the submission of a person to the provider', () => {
  test('names person, documents and page, and is made once, however often it is repeated', async () => {
    const { ref, client, get } = await aCheck()
    const { id } = ref
    expect(await run.submitIdentity(ref)).toMatchObject({ status: 'verified', closed: true })
    expect(await run.submitIdentity(ref)).toMatchObject({ closed: true })
    const [, , , , requestId] = calls[0]?.split(' | ') ?? []
    const page = `https://pay.example/console/identity/${id}`
    expect(calls).toEqual([`submit | ${id} | Ada Lovelace | ${PDF} | ${requestId} | ${page}`])
    const [made] = await service.sql<{ request_id: string }>(
      `select request_id from events where event = 'kyc.submitted' and resource_id = $1`,
      [id],
    )
    expect(requestId).toBe(made?.request_id)
    expect(await get()).toMatchObject({ decidedBy: 'provider' })
    expect(await eventsOf(client, 'kyc.verified')).toEqual(['kyc.verified'])
  })

  test('is claimed for a minute: two at the same time, or one after a silent provider, call once', async () => {
    const { ref, later } = await aCheck()
    answer = () => 'late'
    const both = await Promise.all([run.submitIdentity(ref), run.submitIdentity(ref)])
    for (const { status, dueInMs } of both) {
      expect(status).toBe('pending')
      expect(dueInMs).toBeGreaterThan(30_000)
    }
    expect(calls).toHaveLength(1)
    await later()
    answer = () => ({ status: 'in_review' })
    expect(await run.submitIdentity(ref)).toMatchObject({ status: 'in_review', closed: false })
    expect(callNames()).toEqual(['submit', 'submit'])
  })

  test('is recorded once the database is back, where it was away when the provider answered', async () => {
    const { ref, get } = await aCheck()
    answer = async () => {
      isAway = true
      await proxy.close()
      return { status: 'verified' }
    }
    const submitting = run.submitIdentity(ref)
    await until('the answer is kept', () => worker.runtime.unrecordedAnswers.count === 1)
    expect((await get()).status).toBe('pending')
    await proxy.open()
    isAway = false
    expect(await submitting).toMatchObject({ status: 'verified' })
    expect(calls).toHaveLength(1)
  })

  test('calls nothing where the process was paused past its claim, and is made later', async () => {
    const { ref, later } = await aCheck()
    const row = { table: 'kyc_submissions', id: ref.id }
    const refusal = await pausedPastItsClaim(worker.runtime, row, paused => paused.submitIdentity(ref))
    expect(refusal).toMatchObject({ code: 'outcome_unknown' })
    expect(calls).toEqual([])
    await later()
    expect(await run.submitIdentity(ref)).toMatchObject({ status: 'verified' })
  })
})

describe('the inquiry about a person in review', () => {
  async function inReview() {
    const check = await aCheck()
    answer = () => ({ status: 'in_review' })
    await run.submitIdentity(check.ref)
    await check.later()
    calls.length = 0
    return check
  }

  test('is made where it is due, and a check that the provider lost is submitted again', async () => {
    const { ref, later } = await inReview()
    answer = call => (call === 'inquire' ? { status: 'unknown' } : { status: 'in_review' })
    expect(await run.askProvider(ref)).toMatchObject({ status: 'in_review' })
    expect(await run.askProvider(ref)).toMatchObject({ status: 'in_review' })
    expect(callNames()).toEqual(['inquire', 'submit'])
    await later()
    answer = () => ({ status: 'rejected', code: 'data_mismatch' })
    expect(await run.askProvider(ref)).toMatchObject({ status: 'rejected', closed: true })
  })

  test('is left to operators once they decide in place of a provider', async () => {
    const { ref } = await inReview()
    Object.assign(provider, { decider: 'operator' })
    expect(await run.askProvider(ref)).toMatchObject({ status: 'in_review', dueInMs: null, deadline: null })
    Object.assign(provider, { decider: 'provider' })
    expect(calls).toEqual([])
  })
})

describe('the erasure at the provider', () => {
  async function kept() {
    const check = await aCheck()
    await run.submitIdentity(check.ref)
    calls.length = 0
    const end = () =>
      service.sql(`update kyc_submissions set redact_at = now() - interval '1 hour' where id = $1`, [
        check.ref.id,
      ])
    return { ...check, end }
  }

  test('happens at the end of the retention, once', async () => {
    const { ref, client, end, get } = await kept()
    await run.redactIdentityCheck(ref)
    expect(calls).toEqual([])
    await end()
    expect(await run.redactIdentityCheck(ref)).toMatchObject({ status: 'verified' })
    await run.redactIdentityCheck(ref)
    expect(calls).toEqual([`redact | ${ref.id}`])
    expect((await get()).redactAt).toBeNull()
    expect(await eventsOf(client, 'kyc.redacted')).toEqual(['kyc.redacted'])
  })

  test('is tried again the next day where the provider does not answer', async () => {
    const { ref, end, get } = await kept()
    await end()
    redacted = 'late'
    await run.redactIdentityCheck(ref)
    await run.redactIdentityCheck(ref)
    expect(calls).toHaveLength(1)
    expect(Date.parse(String((await get()).redactAt))).toBeGreaterThan(Date.now() + 80_000_000)
  })

  test('is left out where the configured provider is another one', async () => {
    const { ref, end, get } = await kept()
    await service.sql(`update kyc_submissions set provider = 'other' where id = $1`, [ref.id])
    await end()
    await run.redactIdentityCheck(ref)
    expect(calls).toEqual([])
    expect((await get()).redactAt).not.toBeNull()
  })
})

test('a document is erased at the end of its retention, once', async () => {
  const { client, ownerId } = await anIndividual(service)
  const { id } = await aDocument(client)
  const ref = { id, ownerId, mode: 'test' } as const
  await run.eraseIdentityDocument(ref)
  expect(await eventsOf(client, 'kyc.document_erased')).toEqual([])
  await service.sql(`update kyc_documents set erase_at = now() - interval '1 hour' where id = $1`, [id])
  await run.eraseIdentityDocument(ref)
  await run.eraseIdentityDocument(ref)
  expect(await eventsOf(client, 'kyc.document_erased')).toEqual(['kyc.document_erased'])
})
