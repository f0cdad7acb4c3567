import { describe, expect, test } from '@jest/globals'
import { kycProcess } from '../../../src/identity/kyc/process.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { anIndividual, aSubmission } from '../../support/identity/kyc.ts'
import { textOf } from '../../support/temporal/history-text.ts'
import { runViewer } from '../../support/temporal/runs.ts'

const service = await startTestService({ temporal: true })
const temporal = await runViewer()

async function running(name: string) {
  const { client, ownerId } = await anIndividual(service)
  const submission = await aSubmission(client, name)
  return { client, ownerId, submission, run: temporal.of(submission) }
}

describe('the run of an identity check', () => {
  test('sends the person to the provider, ends with the answer, and contains no names', async () => {
    const { client, run, submission, ownerId } = await running('Ada Lovelace')
    expect(await run.untilEnded()).toBe('verified')
    expect((await bodyOf(client.kyc.get({ params: { id: submission.id } }))).decidedBy).toBe('provider')
    const description = await run.handle.describe()
    expect(await description.staticSummary()).toBe(`Identity check of ${ownerId}, test`)
    expect(await run.about()).toBe(kycProcess.details)
    const text = textOf(await run.handle.fetchHistory())
    for (const said of ['Lovelace', '1985-12-10', 'Torstraße']) expect(text).not.toContain(said)
    expect(await run.failedTasks()).toBe(0)
  })

  test('waits for a provider that is silent for an hour, and verifies once', async () => {
    const { client, run } = await running('Silent Ada')
    await run.untilDetails('for the provider to answer; the next inquiry is at')
    await bodyOf(client.sandbox.advance({ body: { minutes: 125 } }))
    expect(await run.untilEnded()).toBe('verified')
    const { data } = await bodyOf(client.events.list({ query: { event: 'kyc.verified' } }))
    expect(data).toHaveLength(1)
  })

  test('asks when the provider expects to be done', async () => {
    const { client, run } = await running('Later Ada')
    await run.untilDetails('for the provider to decide; the next inquiry is at')
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    expect(await run.untilEnded()).toBe('verified')
  })

  test('ends when the operator decides, and no signal does', async () => {
    const { run, submission } = await running('Absent Ada')
    await run.untilDetails('No signal changes anything just now')
    await run.signal('approve', { by: 'Ada' })
    await run.untilDetails('no such signal is known')
    await bodyOf(service.dash.kyc.reject({ params: { id: submission.id }, body: { code: 'other' } }))
    expect(await run.untilEnded()).toBe('rejected')
  })
})
