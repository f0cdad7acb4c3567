import { describe, expect, test } from '@jest/globals'
import { ago, incidentDesk } from '../../support/compliance/incidents.ts'
import { startTestService } from '../../support/harness.ts'
import { sweepAtOnce } from '../../support/sweep.ts'
import { openWorkerRuntime } from '../../support/worker-runtime.ts'

const service = await startTestService({ own: true })
const worker = await openWorkerRuntime(service)
const { open, classify, submitted, eventsOf } = incidentDesk(service)

describe('who answers for an incident', () => {
  const remindersOf = async (id: string) =>
    (await eventsOf(id)).flatMap(({ event, data }) =>
      event.startsWith('incident.report_') && data.reminder ? [[event, data.stage, data.reminder]] : [],
    )

  test('gets one reminder at half time and one at the deadline, from run and sweep together', async () => {
    const { id } = await open({ detectedAt: ago(13) })
    await Promise.all([sweepAtOnce(worker), sweepAtOnce(worker)])
    await sweepAtOnce(worker)
    expect(await remindersOf(id)).toEqual([['incident.report_due', 'classification', 'half_time']])
    await classify(id, true, ago(5))
    await sweepAtOnce(worker)
    await sweepAtOnce(worker)
    expect((await remindersOf(id)).slice(1)).toEqual([['incident.report_overdue', 'initial', 'overdue']])
    const last = (await eventsOf(id)).at(-1)
    expect([last?.data.article, last?.data.advice]).toEqual([
      'Delegated Regulation (EU) 2025/301, Article 5(1)(a)',
      expect.stringContaining('reasons for the delay'),
    ])
  })

  test('gets a reminder an hour earlier that a delay must be announced in time', async () => {
    const { id } = await open({ detectedAt: ago(4) })
    await classify(id, true, ago(3.5))
    await sweepAtOnce(worker)
    expect(await remindersOf(id)).toEqual([['incident.report_due', 'initial', 'one_hour']])
    expect((await eventsOf(id)).at(-1)?.data.advice).toContain('Article 5(3)')
  })

  test('hears nothing more once the report was submitted', async () => {
    const { id } = await open({ detectedAt: ago(6) })
    await classify(id, true, ago(5))
    await submitted(id, 'initial', 4)
    await sweepAtOnce(worker)
    expect(await remindersOf(id)).toEqual([])
  })
})
