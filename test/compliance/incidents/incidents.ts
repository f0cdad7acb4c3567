import { describe, expect, test } from '@jest/globals'
import { ago, CRITERIA, codeOf, incidentDesk, person } from '../../support/compliance/incidents.ts'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'

const service = await startTestService()
const { incidents, open, classify, submit, submitted, eventsOf } = incidentDesk(service)

describe('a security incident', () => {
  test('runs from the alarm to the final report, with the article of every deadline', async () => {
    const { id, status, clocks } = await open({ detectedAt: ago(60) })
    expect([status, clocks.map(({ stage }) => stage)]).toEqual(['detected', ['classification']])
    const major = await classify(id, true, ago(59))
    expect([major.status, major.assessment?.meetsThresholds]).toEqual(['classified', true])
    expect((await submitted(id, 'initial', 58)).status).toBe('initial_submitted')
    expect((await submitted(id, 'intermediate', 30)).status).toBe('intermediate_submitted')
    const final = await submitted(id, 'final', 1)
    expect([final.status, final.clocks.map(({ stage, isOverdue }) => [stage, isOverdue])]).toEqual([
      'final_submitted',
      [
        ['initial', false],
        ['intermediate', false],
        ['final', false],
      ],
    ])
    for (const { article } of final.clocks) expect(article).toContain('2025/301, Article 5(1)')
    const closed = await bodyOf(incidents.close({ params: { id } }))
    expect([closed.status, closed.closedAt]).toEqual(['closed', expect.any(String)])
    const events = await eventsOf(id)
    expect(new Set(events.map(({ owner }) => owner))).toEqual(new Set(['customer_house live']))
    expect(events.map(({ event }) => event)).toEqual([
      'incident.opened',
      'incident.classified',
      'incident.report_submitted',
      'incident.report_submitted',
      'incident.report_submitted',
      'incident.closed',
    ])
    expect(JSON.stringify(events)).not.toContain('declined')
  })

  test('emits events of the platform that only the dashboard secret can read', async () => {
    const { id } = await open()
    const secret = { 'x-dashboard-secret': service.dashboardSecret }
    const headers = { ...secret, 'x-owner-id': 'customer_house' }
    const { body } = await service.http('GET', '/events?event=incident.opened&limit=1', { headers })
    expect(body.data[0].data).toMatchObject({ incidentId: id, status: 'detected', isMajor: null })
    expect((await service.http('GET', `/events/${body.data[0].id}`, { headers })).status).toBe(200)
    const { key, ownerId } = await service.owner()
    for (const owner of [{}, { 'x-owner-id': ownerId }]) {
      const refused = await service.http('GET', '/events', { headers: { ...secret, ...owner } })
      expect([refused.status, refused.headers.get('x-error-code')]).toEqual([400, 'owner_required'])
    }
    const path = `/events/${body.data[0].id}`
    expect(
      (await service.http('GET', path, { token: key, headers: { 'x-owner-id': 'customer_house' } })).status,
    ).toBe(404)
  })

  test('is assessed against the thresholds without a decision, and stays undecided', async () => {
    const { id } = await open()
    const looked = await bodyOf(incidents.classify({ params: { id }, body: { criteria: CRITERIA } }))
    expect([looked.status, looked.isMajor, looked.assessment?.meetsThresholds]).toEqual([
      'detected',
      null,
      true,
    ])
    expect((await eventsOf(id)).at(-1)?.event).toBe('incident.updated')
  })

  test('is what a person decides, also against the thresholds, and both are kept', async () => {
    const { id } = await open()
    const decided = await classify(id, false)
    expect(decided.decisions).toEqual([
      expect.objectContaining({ isMajor: false, thresholdsMet: true, ...person }),
    ])
    expect(decided.clocks).toEqual([])
  })

  test('keeps the clock of its first classification when it is decided the same way again', async () => {
    const { id } = await open({ detectedAt: ago(10) })
    const { classifiedAt } = await classify(id, true, ago(9))
    expect((await classify(id, true, ago(1))).classifiedAt).toBe(classifiedAt)
  })

  test('has what was left of its four hours when it is major after all, whatever was decided between', async () => {
    const { id } = await open({ detectedAt: ago(10) })
    await classify(id, true, ago(9))
    await classify(id, false, ago(6))
    const late = incidents.classify({
      params: { id },
      body: { criteria: CRITERIA, decision: { isMajor: true, ...person, at: ago(8) } },
    })
    expect(await codeOf(late)).toBe('invalid_date_order')
    const { clocks, classifiedAt } = await classify(id, true, ago(2))
    const initial = clocks.find(({ stage }) => stage === 'initial')
    const hours = (Date.parse(initial?.dueAt ?? '') - Date.parse(classifiedAt ?? '')) / 3_600_000
    expect(Math.round(hours * 100) / 100).toBe(1)
  })

  test('can be reported at once, in one submission for several stages', async () => {
    const { id } = await open({ detectedAt: ago(20) })
    await classify(id, true, ago(19))
    const { status, reports } = await submitted(id, 'final', 17, ['initial', 'intermediate'])
    expect(status).toBe('final_submitted')
    expect(reports.map(({ stage, isJoint }) => [stage, isJoint])).toEqual([
      ['initial', true],
      ['intermediate', true],
      ['final', true],
    ])
  })

  test('needs a reclassification report before it is closed, if it proves not to be major', async () => {
    const { id } = await open({ detectedAt: ago(20) })
    await classify(id, true, ago(19))
    await submitted(id, 'initial', 18)
    expect((await classify(id, false)).status).toBe('classified')
    expect(await codeOf(submit(id, 'intermediate', 1))).toBe('not_major')
    expect(await codeOf(incidents.close({ params: { id } }))).toBe('reports_missing')
    await submitted(id, 'reclassification', 0)
    expect((await bodyOf(incidents.close({ params: { id } }))).status).toBe('closed')
  })

  test('continues with its earlier reports if it becomes major again', async () => {
    const { id } = await open({ detectedAt: ago(20) })
    await classify(id, true, ago(19))
    await submitted(id, 'initial', 18)
    await classify(id, false)
    expect((await classify(id)).status).toBe('initial_submitted')
  })

  test('asks for an updated intermediate report once business is normal again', async () => {
    const { id } = await open({ detectedAt: ago(20) })
    await classify(id, true, ago(19))
    await submitted(id, 'initial', 18)
    await submitted(id, 'intermediate', 10)
    const told = await bodyOf(incidents.update({ params: { id }, body: { recoveredAt: ago(2) } }))
    expect(told.clocks.map(({ stage }) => stage)).toContain('update')
    expect(await codeOf(incidents.close({ params: { id } }))).toBe('reports_missing')
    const updated = await submitted(id, 'intermediate', 1)
    expect(updated.clocks.map(({ stage }) => stage)).not.toContain('update')
    const last = updated.clocks.find(({ stage }) => stage === 'final')
    expect(last?.beginsAt).toBe(updated.reports.at(-1)?.at)
  })

  test('with personal data has the 72 hours of the GDPR beside the others', async () => {
    const { id } = await open()
    expect(await codeOf(submit(id, 'data_protection', 1))).toBe('no_personal_data')
    const told = await bodyOf(incidents.update({ params: { id }, body: { personalDataAwareAt: ago(3) } }))
    const owed = told.clocks.find(({ stage }) => stage === 'data_protection')
    expect([owed?.article, owed?.doneAt]).toEqual(['Regulation (EU) 2016/679, Article 33(1)', null])
    await classify(id, false)
    expect(await codeOf(incidents.close({ params: { id } }))).toBe('reports_missing')
    await submitted(id, 'data_protection', 0)
    expect((await bodyOf(incidents.close({ params: { id } }))).status).toBe('closed')
  })

  test.each<[string, (id: string) => Promise<{ headers: { get(name: string): string | null } }>, string]>([
    ['a report that nobody knows', id => submit(id, 'fourth', 1), 'stage_not_found'],
    ['a report before the incident was known', id => submit(id, 'initial', 99), 'invalid_date_order'],
    ['a report that is still to come', id => submit(id, 'initial', -1), 'time_to_come'],
    ['the final report before the others', id => submit(id, 'final', 1), 'earlier_report_missing'],
    [
      'an initial notification that covers the final one',
      id => submit(id, 'initial', 1, ['intermediate']),
      'covers_later_report',
    ],
    ['a reclassification of what is major', id => submit(id, 'reclassification', 1), 'not_reclassified'],
    ['an end while reports are owed', id => incidents.close({ params: { id } }), 'reports_missing'],
    [
      'an awareness before the detection',
      id => incidents.update({ params: { id }, body: { awareAt: ago(99) } }),
      'invalid_date_order',
    ],
    [
      'a recovery that is still to come',
      id => incidents.update({ params: { id }, body: { recoveredAt: ago(-1) } }),
      'time_to_come',
    ],
  ])('refuses %s, and nothing has changed', async (_, attempt, code) => {
    const { id } = await open({ detectedAt: ago(20) })
    const before = await classify(id, true, ago(19))
    expect(await codeOf(attempt(id))).toBe(code)
    expect(await bodyOf(incidents.get({ params: { id } }))).toEqual(before)
  })

  test('refuses an intermediate report that is older than the initial notification', async () => {
    const { id } = await open({ detectedAt: ago(20) })
    await classify(id, true, ago(19))
    await submitted(id, 'initial', 10)
    expect(await codeOf(submit(id, 'intermediate', 15))).toBe('invalid_date_order')
    expect(await codeOf(submit(id, 'initial', 5))).toBe('already_submitted')
  })

  test('takes one initial notification of ten that are recorded at once', async () => {
    const { id } = await open({ detectedAt: ago(20) })
    await classify(id, true, ago(19))
    const answers = await Promise.all(Array.from({ length: 10 }, () => submit(id, 'initial', 18)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await bodyOf(incidents.get({ params: { id } }))).reports).toHaveLength(1)
  })

  test('that is closed changes no more', async () => {
    const { id } = await open()
    await classify(id, false)
    await bodyOf(incidents.close({ params: { id } }))
    expect(await codeOf(incidents.update({ params: { id }, body: { severity: 'low' } }))).toBe(
      'incident_closed',
    )
    expect(await codeOf(submit(id, 'initial', 1))).toBe('incident_closed')
    expect(await codeOf(incidents.classify({ params: { id }, body: { criteria: CRITERIA } }))).toBe(
      'incident_closed',
    )
  })
})
