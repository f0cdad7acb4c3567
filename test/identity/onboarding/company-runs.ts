import { describe, expect, test } from '@jest/globals'
import { MockActivityEnvironment } from '@temporalio/testing'
import { onboardingActivities } from '../../../activities/onboardings.ts'
import { activityTools } from '../../../activities/shared/tools.ts'
import { areas } from '../../../src/areas.ts'
import { onboardingProcess } from '../../../src/identity/onboarding/process.ts'
import { allOperations } from '../../../src/kernel/contract/area.ts'
import type { RunningService, Systems } from '../../../src/kernel/contract/ports.ts'
import type { ReceivedSignal } from '../../../src/kernel/contract/step.ts'
import type { StepRunner } from '../../../src/kernel/run/steps.ts'
import { formatMinute } from '../../../src/values/minute.ts'
import { aRun } from '../../support/activities.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { COMPANY, setIdentities, submitted } from '../../support/identity/company.ts'
import { textOf } from '../../support/temporal/history-text.ts'
import { runViewer } from '../../support/temporal/runs.ts'

const service = await startTestService({ temporal: true })
const temporal = await runViewer()

async function waiting() {
  const { client, ownerId } = await service.owner()
  const record = await submitted(client)
  const run = temporal.of(record)
  await run.untilDetails('for the identity of each representative')
  return { client, ownerId, record, params: { id: record.id }, run }
}

async function reviewed() {
  const company = await waiting()
  await setIdentities(service, company.params, 'verified')
  await company.run.signal('recordChanged')
  await company.run.untilDetails('for the operator to decide')
  return company
}

const ask = (params: { id: string }) =>
  bodyOf(service.dash.onboarding.requestInformation({ params, body: { questions: ['Who owns the rest?'] } }))

describe('the run of an onboarding', () => {
  test('shows an operator what it waits for, and contains no names', async () => {
    const { ownerId, run } = await waiting()
    expect((await run.details()).split('\n\n')).toEqual([
      `Onboarding of ${ownerId} in test mode: submitted`,
      'It waits **for the identity of each representative to be sent**.',
      'Send an Update, which is answered, or a Signal: `reject` or `requestInformation`, with this payload:',
      '`{"by": "your name", "reason": "why"}`',
    ])
    expect(await run.about()).toBe(onboardingProcess.details)
    const text = textOf(await run.handle.fetchHistory())
    for (const name of ['Lovelace', 'Analytical', COMPANY.registerNumber, 'example.com'])
      expect(text).not.toContain(name)
  })

  test('takes the onboarding into review by itself, and waits there for the operator', async () => {
    const { client, params, run } = await reviewed()
    expect(await bodyOf(client.onboarding.get({ params }))).toMatchObject({ status: 'in_review' })
    expect(await run.timerSummaries()).toContain('for the identity of each representative to be sent')
    await bodyOf(service.dash.onboarding.approve({ params }))
    expect(await run.untilEnded()).toBe('approved')
    expect(await run.failedTasks()).toBe(0)
  })

  test('waits for an answer until its day, and expires by the owner’s clock', async () => {
    const { client, params, run } = await reviewed()
    const { informationRequests } = await ask(params)
    const until = formatMinute(new Date(String(informationRequests[0]?.expiresAt)))
    await run.untilDetails(`for the company’s answer, until ${until}`)
    await bodyOf(client.sandbox.advance({ body: { days: 30 } }))
    expect(await run.untilEnded()).toBe('expired')
  })

  test('does by itself what is due, where no sweep has come', async () => {
    const { params, run } = await reviewed()
    await ask(params)
    await run.untilDetails('for the company’s answer')
    await service.sql(`update onboardings set due_at = now() where id = $1`, [params.id])
    await run.signal('recordChanged')
    expect(await run.untilEnded()).toBe('expired')
    expect(await run.activityNames()).toContain('advanceOnboarding')
  })

  test('approves by a signal if every representative is verified, and reports who is not', async () => {
    const { params, run } = await waiting()
    await run.signal('approve', { by: 'Ada' })
    await run.untilDetails('by Ada changed nothing: Not every representative is verified.')
    await setIdentities(service, params, 'verified')
    await run.signal('approve', { by: 'Ada' })
    expect(await run.untilEnded()).toBe('approved')
    expect(textOf(await run.handle.fetchHistory())).not.toContain('Lovelace')
  })

  test('asks and rejects by signals, with the words of the operator', async () => {
    const { client, params, run } = await waiting()
    await run.signal('requestInformation', { by: 'Ada', reason: 'Who owns the rest?' })
    await run.untilDetails('for the company’s answer')
    expect((await bodyOf(client.onboarding.get({ params }))).missing).toContain(
      'an answer to: Who owns the rest?',
    )
    await run.signal('reject', { by: 'Ada' })
    await run.untilDetails(/The signal reject by Ada changed nothing: .*reason/)
    await run.signal('reject', { by: 'Ada', reason: 'Nobody knows it' })
    expect(await run.untilEnded()).toBe('rejected')
    expect(await bodyOf(client.onboarding.get({ params }))).toMatchObject({ reason: 'Nobody knows it' })
  })

  test('continues after Request Cancellation, and ends with a withdrawal', async () => {
    const { client, params, run } = await waiting()
    await run.handle.cancel()
    await run.untilDetails('Request Cancellation changed nothing')
    await bodyOf(client.onboarding.withdraw({ params }))
    expect(await run.untilEnded()).toBe('withdrawn')
  })
})

describe('where companies are real ones', () => {
  const systems = { identityVerification: () => ({ name: 'manual' }) } as unknown as Systems
  const inReview = {
    status: 'in_review',
    summary: 'In review',
    closed: false,
    signals: ['approve', 'reject'],
  }
  const steps = { read: async () => [inReview, 0] } as unknown as StepRunner
  const service = {} as RunningService
  const settings = { operatorSignals: false }
  const noOperation = () => Promise.reject(new Error('no operation may run'))
  const run = aRun(noOperation)
  const operations = allOperations(areas)
  const { answerOnboarding, readOnboarding } = onboardingActivities(
    activityTools({ steps, operations, systems, service, settings, attemptDelivery: noOperation }, run),
  )

  const of = { id: 'onboarding_1', ownerId: 'customer_1', mode: 'test', agentId: null } as const
  const answerAs = (signalled: ReceivedSignal) =>
    new MockActivityEnvironment().run(answerOnboarding, signalled)

  test('refuses signals, also in test mode, unless OPERATOR_SIGNALS is set', async () => {
    expect(await answerAs({ ...of, verb: 'approve', payload: { by: 'Ada' } })).toContain(
      'OPERATOR_SIGNALS is off',
    )
  })

  test('offers an operator no signal that would be refused', async () => {
    expect(await new MockActivityEnvironment().run(readOnboarding, of)).toMatchObject({ signals: [] })
  })
})
