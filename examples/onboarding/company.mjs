// Takes a company from its account to its first live key, on a service started by `npm start`: account,
// onboarding, identity checks, a question of the operator, and the approval. It needs Node 18. No key is
// printed.
//
//     node company.mjs                 finds the service by .data/instance.json
//     URL=… DASHBOARD_SECRET=… node company.mjs
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

async function send(headers, method, path, body) {
  const answer = await fetch(URL + path, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  if (answer.status === 429) {
    const seconds = Number(answer.headers.get('retry-after'))
    console.error(`Rate limit reached: waiting ${seconds} s.`)
    await new Promise(resolve => setTimeout(resolve, 1_000 * seconds))
    return send(headers, method, path, body)
  }
  return { ok: answer.ok, body: await answer.json() }
}

async function call(headers, method, path, body) {
  const { ok, body: answered } = await send(headers, method, path, body)
  if (!ok) throw new Error(`${method} ${path}: ${answered.error}`)
  return answered
}

const operator = (...request) => call({ 'x-dashboard-secret': DASHBOARD_SECRET }, ...request)
const withKey = key => ({ authorization: `Bearer ${key}` })

// The operator opens the account and gives the company its sandbox key.
const account = await operator('POST', '/customers', {
  name: 'Analytical Engines',
  email: 'accounts@example.com',
  type: 'business',
  country: 'DE',
})
const company = (...request) => call(withKey(account.key), ...request)
const LIVE = { name: 'Production', environment: 'live' }
const early = await send(withKey(account.key), 'POST', '/keys', LIVE)
console.log(`A live key, too early: ${early.body.error}`)

// The company submits its details. The sandbox reviews people named "Later …" for a day.
const people = ['Ada Lovelace', 'Later Hopper'].map(name => ({
  name,
  dateOfBirth: '1985-12-10',
  country: 'DE',
}))
const address = { line1: 'Torstraße 1', city: 'Berlin', postalCode: '10119', country: 'DE' }
const { id, representatives, missing } = await company('POST', '/onboarding', {
  legalName: 'Analytical Engines GmbH',
  legalForm: 'GmbH',
  registerNumber: 'HRB 123456 B',
  address,
  website: 'https://example.com',
  intendedUse: 'Agents buy research papers and computing time.',
  expectedMonthlyVolumeEuros: 25_000,
  representatives: people,
  beneficialOwners: [{ ...people[0], sharePercent: 60 }],
})
console.log(`Submitted. Missing: ${missing.join('; ')}`)

// Each person uploads a passport: here the smallest valid PDF.
for (const { id: representativeId, name, dateOfBirth } of representatives) {
  const passport = await company('POST', '/kyc/documents', { kind: 'passport', file: 'JVBERi0xLjQK' })
  await company('POST', '/kyc/submissions', {
    ...{ representativeId, name, dateOfBirth, nationality: 'DE', address },
    documentIds: [passport.id],
  })
}

// Advances the account's test clock until all people are verified.
async function reviewed(days = 0) {
  const onboarding = await company('GET', `/onboarding/${id}`)
  if (onboarding.status === 'in_review' && onboarding.missing.length === 0) return
  if (days === 5) throw new Error(`Not in review after five days: ${JSON.stringify(onboarding)}`)
  await company('POST', '/simulate/clock/advance', { days: 1 })
  await reviewed(days + 1)
}
await reviewed()
console.log('In review: everybody is verified.')

// The operator asks, the company answers, the operator approves.
await operator('POST', `/onboarding/${id}/request-information`, {
  questions: ['Who owns the other 40 percent?'],
})
await company('PATCH', `/onboarding/${id}`, { answer: 'Nobody of them more than a tenth.' })
await operator('POST', `/onboarding/${id}/approve`)

const live = await company('POST', '/keys', LIVE)
const me = await call(withKey(live.key), 'GET', '/customers/me')
console.log(`Approved: ${me.name} is ${me.kycStatus}, and its first live key ends in ${live.hint}.`)
