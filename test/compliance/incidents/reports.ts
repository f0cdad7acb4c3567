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
  const reportOf = async (id: string, query = '') => {
    const answer = await fetch(`${service.url}/security/incidents/${id}/report${query}`, {
      headers: { 'x-dashboard-secret': service.dashboardSecret },
    })
    return { answer, bytes: Buffer.from(await answer.arrayBuffer()) }
  }
  type Reported = {
    missing: string[]
    isComplete: boolean
    article: string
    sections: { title: string; fields: { number: string; name: string; value: string | null }[] }[]
  }
  const jsonOf = async (id: string, query = ''): Promise<Reported> =>
    JSON.parse((await reportOf(id, query)).bytes.toString())
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

  test('fills in what is known, names what is missing, and is complete once that was told', async () => {
    const { id } = await open()
    await classify(id)
    const first = await jsonOf(id)
    expect(entryOf(first, '2.4')).toBe('Cards were declined.')
    expect(entryOf(first, '2.5')).toContain('clients, financial counterparts and transactions')
    expect(first.missing).toContain('2.7 Discovery of the major ICT-related incident')
    const fields = { ...ENTITY, '2.7': 'by our monitoring', '2.9': 'no' }
    await bodyOf(incidents.update({ params: { id }, body: { fields } }))
    const second = await jsonOf(id)
    expect([second.missing, second.isComplete]).toEqual([[], true])
    expect((await jsonOf(id, '?stage=final')).missing.length).toBeGreaterThan(15)
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
    const criteria = { ...CRITERIA, durationMinutes: 1_750, transactionsAffected: 0, estimated: true }
    await bodyOf(incidents.classify({ params: { id }, body: { criteria } }))
    const { sections } = await jsonOf(id, '?stage=final')
    const fields = sections.flatMap(section => section.fields)
    const of = (number: string) => fields.find(field => field.number === number)
    expect(sections.map(({ title }) => title)).toEqual([
      'General information about the financial entity',
      'Content of the initial notification',
      'Content of the intermediate report',
      'Content of the final report',
    ])
    expect(of('2.6')).toMatchObject({
      name: 'Materiality thresholds for the classification criterion ‘Geographical spread’',
    })
    expect(of('3.5')).toMatchObject({ name: 'Percentage of clients affected', value: '13.3' })
    expect(of('3.12')?.value).toBe('estimates for clients, no impact on transactions')
    expect(of('3.15')?.value).toBe('01:05:10')
    expect(of('3.16')).toMatchObject({ name: 'Service downtime', value: '00:03:10' })
    expect(of('4.7')).toMatchObject({ name: 'Date and time when the incident root cause was addressed' })
  })

  test('refuses an LEI with a wrong digit, and a field that the incident itself says', async () => {
    const { id } = await open()
    for (const fields of [{ '1.3': '529900T8BM49AURSDO54' }, { '2.2': 'yesterday' }, { '9.9': 'x' }]) {
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

  test('is a PDF, too, with the same fields', async () => {
    const { id } = await open({ description: 'Zahlungen wurden abgelehnt – é, ł, 漢.\nTwice.' })
    const { answer, bytes } = await reportOf(id, '?stage=intermediate&format=pdf')
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/pdf'])
    expect(bytes.subarray(0, 5).toString()).toBe('%PDF-')
    expect(bytes.toString('latin1').match(/\/Type \/Page\b/g)?.length).toBeGreaterThan(1)
  })
})

describe('the example', () => {
  test('goes from the alarm to the PDF of the final report', async () => {
    const example = launch(process.execPath, ['examples/incidents/incident.mjs'], {
      URL: await busy(service.url),
      DASHBOARD_SECRET,
    })
    expect([await example.exit, example.output()]).toEqual([
      0,
      expect.stringMatching(/final: due .*Article 5\(1\)\(c\)\)[\s\S]*As PDF: \S+\.pdf\nClosed\./),
    ])
    expect(example.output()).not.toContain(DASHBOARD_SECRET)
  })

  test('of the documentation stands beside every article that a clock can name', () => {
    const page = readFileSync('docs/incidents.md', 'utf8')
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
    for (const event of Object.keys(incidentEvents)) expect(page).toContain(`\`${event}\``)
  })
})
