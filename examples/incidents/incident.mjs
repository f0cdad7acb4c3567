// Takes a security incident from the alarm to its final report, as an operator would, on a service
// started by `npm start`. Nothing is sent to an authority. It needs Node 18.
//
//     node incident.mjs                finds the service by .data/instance.json
//     URL=… DASHBOARD_SECRET=… node incident.mjs
import { existsSync, readFileSync } from 'node:fs'

const INSTANCE = `${process.env.DATA_DIR ?? '.data'}/instance.json`
const instance = existsSync(INSTANCE) ? JSON.parse(readFileSync(INSTANCE, 'utf8')) : {}
const { URL = instance.url, DASHBOARD_SECRET = instance.dashboardSecret } = process.env
if (!URL || !DASHBOARD_SECRET) {
  console.error(
    `There is no ${INSTANCE}: run npm start first and this program in the same folder, or set URL and DASHBOARD_SECRET.`,
  )
  process.exit(1)
}

const headers = { 'x-dashboard-secret': DASHBOARD_SECRET, 'content-type': 'application/json' }

async function call(method, path, body) {
  const answer = await fetch(URL + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) })
  if (answer.status === 429) {
    const seconds = Number(answer.headers.get('retry-after'))
    console.error(`Rate limit reached: waiting ${seconds} s.`)
    await new Promise(resolve => setTimeout(resolve, 1_000 * seconds))
    return call(method, path, body)
  }
  if (!answer.ok) throw new Error(`${method} ${path}: ${(await answer.json()).error}`)
  return answer
}
const json = async (...request) => (await call(...request)).json()

const hoursAgo = hours => new Date(Date.now() - hours * 3_600_000).toISOString()

const { id } = await json('POST', '/security/incidents', {
  severity: 'high',
  category: 'system_failure',
  detectedAt: hoursAgo(40),
  description: 'Card authorizations were declined, as the processor could not be reached.',
  affectedUsers: 1200,
  countries: ['DE', 'AT'],
})
console.log(`The alarm: ${id}`)

const { assessment } = await json('POST', `/security/incidents/${id}/classify`, {
  criteria: {
    clientsAffected: 1200,
    clientsOfService: 9000,
    downtimeMinutes: 190,
    memberStates: ['DE', 'AT'],
    criticalServices: true,
    costsEuros: 42_000,
    estimated: true,
  },
  decision: {
    isMajor: true,
    decidedBy: 'Ada Lovelace',
    reasons: 'Cards were down for three hours in two Member States.',
    at: hoursAgo(38),
  },
})
console.log(`Classified as major. ${assessment.reason}`)
for (const { article, isMet, reasons } of assessment.findings)
  if (isMet) console.log(`  ${article}: ${reasons.join(' ')}`)

await json('PATCH', `/security/incidents/${id}`, {
  occurredAt: hoursAgo(41),
  recoveredAt: hoursAgo(37.5),
  resolvedAt: hoursAgo(30),
  fields: {
    1.3: '529900T8BM49AURSDO55',
    1.4: 'payment institution',
    1.7: 'Ada Lovelace',
    1.8: 'ada@example.com',
    1.9: '+493012345678',
    '1.10': 'Grace Hopper',
    1.11: 'grace@example.com',
    1.12: '+493012345679',
    2.7: 'monitoring systems',
    2.9: 'no',
  },
})

const submit = (stage, hours) =>
  json('POST', `/security/incidents/${id}/reports/${stage}/submit`, {
    at: hoursAgo(hours),
    reference: `BaFin-2026-${stage}`,
  })
await submit('initial', 36)
await submit('intermediate', 20)
const { clocks } = await submit('final', 1)
for (const { stage, dueAt, doneAt, article } of clocks)
  console.log(`${stage}: due ${dueAt}, done ${doneAt} (${article})`)

const { missing } = await json('GET', `/security/incidents/${id}/report?stage=final`)
console.log(`The final report lacks ${missing.length} fields, first of all: ${missing[0]}`)

await json('POST', `/security/incidents/${id}/close`)
console.log('Closed.')
