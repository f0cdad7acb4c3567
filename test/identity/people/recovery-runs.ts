import { describe, expect, test } from '@jest/globals'
import { recoveryProcess } from '../../../src/identity/people/process.ts'
import { formatMinute } from '../../../src/values/minute.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { redeem } from '../../support/identity/console.ts'
import { textOf } from '../../support/temporal/history-text.ts'
import { runViewer } from '../../support/temporal/runs.ts'

const service = await startTestService({ temporal: true })
const temporal = await runViewer()

async function underWay() {
  const { client } = await service.owner()
  const body = { name: 'Grace Hopper', email: 'grace@example.com', role: 'owner' } as const
  const { id } = await bodyOf(client.people.create({ body }))
  const { recovery } = await bodyOf(service.dash.people.recover({ params: { id } }))
  if (!recovery) throw new Error('no recovery')
  const run = temporal.of(recovery)
  await run.untilDetails('for the 24 hours in which it can be stopped')
  return { client, params: { id }, recovery, run }
}

const rowOf = async ({ id }: { id: string }) =>
  (await service.sql('select status, stopped_by, reason from recoveries where id = $1', [id]))[0]

describe('the run of a recovery', () => {
  test('shows an operator what it waits for and which signal helps, without names', async () => {
    const { recovery, params, run } = await underWay()
    const until = formatMinute(new Date(recovery.readyAt))
    expect((await run.details()).split('\n\n')).toEqual([
      `Recovery of ${params.id} in test mode: can be stopped until ${until}`,
      `It waits **for the 24 hours in which it can be stopped, until ${until}**.`,
      'Send an Update, which is answered, or a Signal: `cancel`, with this payload:',
      '`{"by": "your name", "reason": "why"}`',
    ])
    const description = await run.handle.describe()
    expect(await description.staticSummary()).toBe(`Recovery of ${params.id}, test`)
    expect(await run.about()).toBe(recoveryProcess.details)
    const text = textOf(await run.handle.fetchHistory())
    for (const name of ['Grace', 'Hopper', 'example.com']) expect(text).not.toContain(name)
  })

  test('ends when a key stops the recovery', async () => {
    const { client, params, run } = await underWay()
    await bodyOf(client.people.stopRecovery({ params }))
    expect(await run.untilEnded()).toBe('stopped')
    expect(await run.failedTasks()).toBe(0)
  })

  test('stops the recovery by a signal, with the name and the words of the operator', async () => {
    const { recovery, run } = await underWay()
    await run.signal('cancel', { reason: 'Nobody' })
    await run.untilDetails('A signal cancel was ignored')
    await run.signal('cancel', { by: 'Ada', reason: 'Nobody has asked for it' })
    expect(await run.untilEnded()).toBe('stopped')
    expect(await rowOf(recovery)).toEqual({
      status: 'stopped',
      stopped_by: { type: 'operator', id: null, name: 'Ada' },
      reason: 'Nobody has asked for it',
    })
  })

  test('stops the recovery by Request Cancellation', async () => {
    const { recovery, run } = await underWay()
    await run.handle.cancel()
    expect(await run.untilEnded()).toBe('stopped')
    expect(await rowOf(recovery)).toMatchObject({ stopped_by: { name: 'Request Cancellation' } })
  })

  test('makes the recovery ready after 24 hours of the owner’s clock, and expires it after seven days', async () => {
    const { client, params, run } = await underWay()
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    await run.untilDetails('link to be opened')
    expect((await bodyOf(client.people.get({ params }))).recovery?.status).toBe('ready')
    await bodyOf(client.sandbox.advance({ body: { days: 7 } }))
    expect(await run.untilEnded()).toBe('expired')
  })

  test('ends when the operator’s link is opened', async () => {
    const { client, params, recovery, run } = await underWay()
    await bodyOf(client.sandbox.advance({ body: { days: 1 } }))
    const { url } = await bodyOf(service.dash.people.link({ params }))
    expect((await redeem(service.url, url)).status).toBe(201)
    expect(await run.untilEnded()).toBe('completed')
    expect(await rowOf(recovery)).toEqual({ status: 'completed', stopped_by: null, reason: null })
  })

  test('does by itself what is due, where no sweep has come', async () => {
    const { recovery, run } = await underWay()
    await service.sql(`update recoveries set ready_at = now(), due_at = now() where id = $1`, [recovery.id])
    await run.signal('recordChanged')
    await run.untilDetails('link to be opened')
    expect(await run.activityNames()).toContain('advanceRecovery')
  })
})
