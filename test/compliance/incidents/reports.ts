import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { incidentEvents } from '../../../src/compliance/security-incidents/events.ts'
import { ago, CRITERIA, incidentDesk } from '../../support/compliance/incidents.ts'
import { bodyOf } from '../../support/factories.ts'
import { DASHBOARD_SECRET, startTestService } from '../../support/harness.ts'
import { busy } from '../../support/http/in-front.ts'
import { launch } from '../../support/processes/launched.ts'

const service = await startTestService()
const { incidents, open, classify } = incidentDesk(service)

describe('a report', () => {
  const jsonOf = (id: string, query: object = {}) => bodyOf(incidents.report({ params: { id }, query }))
  type Reported = Awaited<ReturnType<typeof jsonOf>>
  const entryOf = ({ sections }: Reported, number: string) =>
    sections.flatMap(({ fields }) => fields).find(field => field.number === number)?.value

  const ENTITY = {
    '1.3': '529900T8BM49AURSDO55',
    '1.4': 'payment institution',
    '1.7': 'Ada',
    '1.8': 'ada@example.com',
    '1.9': '+4930',
    '1.10': 'Bob',
    '1.11': 'bob@example.com',
    '1.12': '+4931',
  }

  test('fills in known values, names missing fields, and is complete once these are entered', async () => {
    const { id } = await open()
    await classify(id)
    const first = await jsonOf(id)
    expect(entryOf(first, '2.4')).toBe('Cards were declined.')
    expect(entryOf(first, '2.5')).toBe(
      'critical services affected; clients, financial counterparts and transactions affected; duration and service downtime',
    )
    expect(first.missing).toContain('2.7 Discovery of the major ICT-related incident')
    const fields = { ...ENTITY, '2.7': 'monitoring systems', '2.9': 'no' }
    await bodyOf(incidents.update({ params: { id }, body: { fields } }))
    const second = await jsonOf(id)
    expect([second.missing, second.isComplete]).toEqual([[], true])
    expect((await jsonOf(id, { stage: 'final' })).missing.length).toBeGreaterThan(15)
    await bodyOf(incidents.update({ params: { id }, body: { fields: { '2.7': null } } }))
    expect((await jsonOf(id)).missing).toEqual(['2.7 Discovery of the major ICT-related incident'])
    const next = await open()
    expect([next.fields['1.3'], next.fields['2.9']]).toEqual(['529900T8BM49AURSDO55', undefined])
  })

  test('has every field of the Annex once, in its order', async () => {
    const { id } = await open()
    const { sections } = await jsonOf(id)
    const numbers = sections.flatMap(({ fields }) => fields.map(({ number }) => number))
    const upTo = (section: number, last: number) =>
      Array.from({ length: last }, (_, n) => `${section}.${n + 1}`)
    expect(numbers).toEqual([...upTo(1, 15), ...upTo(2, 10), ...upTo(3, 35), ...upTo(4, 16)])
  })

  test('names the fields as the authority’s template does, and writes spans and shares in its forms', async () => {
    const { id } = await open({ occurredAt: ago(30) })
    const criteria = {
      ...CRITERIA,
      durationMinutes: 1_750,
      counterpartsAffected: 0,
      transactionsAffected: 260,
      transactionsADay: 200,
      transactionsAffectedEuros: 2_500,
      costsEuros: 42_000.5,
      inMedia: true,
      maliciousAccess: true,
      memberStates: ['US', 'DE', 'AT'],
      estimated: true,
    }
    await bodyOf(incidents.classify({ params: { id }, body: { criteria } }))
    const reported = await jsonOf(id, { stage: 'final' })
    const fields = reported.sections.flatMap(section => section.fields)
    const of = (number: string) => fields.find(field => field.number === number)
    expect(reported.sections.map(({ title }) => title)).toEqual([
      'General information about the financial entity',
      'Content of the initial notification',
      'Content of the intermediate report',
      'Content of the final report',
    ])
    expect(of('2.6')).toMatchObject({
      name: 'Materiality thresholds for the classification criterion ‘Geographical spread’',
      value: 'AT; DE',
    })
    expect(of('3.5')).toMatchObject({ name: 'Percentage of clients affected', value: '13.3' })
    expect(of('3.16')).toMatchObject({ name: 'Service downtime', value: '00:03:10' })
    expect(of('4.7')).toMatchObject({ name: 'Date and time when the incident root cause was addressed' })
    expect(
      Object.fromEntries(
        ['2.5', '3.7', '3.10', '3.11', '3.12', '3.13', '3.15', '3.17', '3.23', '4.13'].map(number => [
          number,
          of(number)?.value,
        ]),
      ),
    ).toEqual({
      '2.5':
        'critical services affected; clients, financial counterparts and transactions affected; reputational impact; duration and service downtime; geographical spread; data losses',
      '3.7': '0',
      '3.10': '100',
      '3.11': '2.5',
      '3.12':
        'estimates for clients affected; no impact on financial counterparts; estimates for transactions affected',
      '3.13': 'reflected in the media',
      '3.15': '01:05:10',
      '3.17': 'estimates',
      '3.23': 'system failure',
      '4.13': '42.0005',
    })
  })

  test('asks for what its own entries call for, and for nothing that they rule out', async () => {
    const { id } = await open({ category: 'cybersecurity' })
    const numbersMissing = async (stage: string) =>
      (await jsonOf(id, { stage })).missing.map(line => line.split(' ')[0])
    const classified = async (criteria: object) =>
      bodyOf(incidents.classify({ params: { id }, body: { criteria: { ...CRITERIA, ...criteria } } }))
    const CALLED_FOR = ['3.14', '3.18', '3.19', '3.20', '3.21', '3.25', '3.35', '4.15']
    await classified({ inMedia: true, memberStates: ['DE', 'AT'], dataLosses: true, recurring: true })
    expect(await numbersMissing('final')).toEqual(expect.arrayContaining([...CALLED_FOR, '3.3', '3.10']))
    await classified({ downtimeMinutes: 0, transactionsAffected: 0 })
    const fields = {
      '2.5': 'critical services affected; economic impact',
      '3.23': 'process failure; other',
      '3.28': 'yes',
      '3.31': 'CSIRT; other',
      '3.33': 'no',
      '4.2': 'human error: other; process failure: ICT risk management process failure',
    }
    await bodyOf(incidents.update({ params: { id }, body: { fields } }))
    const missing = await numbersMissing('final')
    expect(missing).toEqual(expect.arrayContaining(['3.24', '3.29', '3.32', '4.3', '4.4']))
    expect(
      missing.filter(number => [...CALLED_FOR, '3.3', '3.10', '3.11', '3.16', '3.34'].includes(number ?? '')),
    ).toEqual([])
    expect((await numbersMissing('initial')).every(number => /^[12]\./.test(number ?? ''))).toBe(true)
  })

  test('refuses what the authority’s form does not take, and a field that the incident itself says', async () => {
    const { id } = await open()
    const refused = [
      { '1.3': '529900T8BM49AURSDO54' },
      { '1.4': 'a bank' },
      { '1.9': '030 12345' },
      { '1.15': 'SEK' },
      { '2.2': 'yesterday' },
      { '2.5': 'data losses; data losses' },
      { '2.6': 'US' },
      { '2.7': 'by our monitoring' },
      { '2.9': 'maybe' },
      { '3.5': '101' },
      { '3.16': '00:24:00' },
      { '4.7': '2026-02-30T10:00:00Z' },
      { '4.14': '2,500' },
      { '9.9': 'x' },
    ]
    for (const fields of refused) {
      const answer = await service.http('PATCH', `/security/incidents/${id}`, {
        headers: { 'x-dashboard-secret': service.dashboardSecret },
        body: { fields },
      })
      expect([answer.status, answer.body.error]).toEqual([
        400,
        expect.stringContaining(Object.keys(fields)[0] ?? ''),
      ])
    }
  })

  test('takes several choices, a code of a business register, and times as the form has them', async () => {
    const { id } = await open()
    const fields = {
      '1.3': 'DEK1101R.HRB116737',
      '1.4': 'payment institution; electronic money institution',
      '1.9': '+49 30 12345678',
      '2.6': 'AT; DE',
      '3.20': 'availability; confidentiality',
      '4.7': '2026-11-20T11:10:00Z',
      '4.14': '2.5',
    }
    const { fields: kept } = await bodyOf(incidents.update({ params: { id }, body: { fields } }))
    expect(kept).toMatchObject(fields)
  })
})

describe('the example', () => {
  test('goes from the alarm to the final report', async () => {
    const example = launch(process.execPath, ['examples/incidents/incident.mjs'], {
      URL: await busy(service.url),
      DASHBOARD_SECRET,
    })
    expect([await example.exit, example.output()]).toEqual([
      0,
      expect.stringMatching(/final: due .*Article 5\(1\)\(c\)\)[\s\S]*Closed\./),
    ])
    expect(example.output()).not.toContain(DASHBOARD_SECRET)
  })

  test('has a documentation with every article that a clock names, and every event', () => {
    const page = readFileSync('docs/reference/incident-deadlines.md', 'utf8')
    const guide = readFileSync('docs/how-to/incidents.md', 'utf8')
    for (const article of [
      '5(1)(a)',
      '5(2)',
      '5(1)(b)',
      '5(1)(c)',
      '5(3)',
      '5(4)',
      '5(5)',
      '5(6)',
      'Article 33(1)',
    ])
      expect(page).toContain(article)
    for (const event of Object.keys(incidentEvents)) expect(guide).toContain(`\`${event}\``)
  })
})
