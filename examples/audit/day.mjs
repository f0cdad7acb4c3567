// A day of payments in the audit trail, on a service started by `npm start`: the morning's checkpoint against
// the evening's trail, an export verified without the service, a tampered byte that is detected, and an
// erased person while the trail stays valid. It creates its own account. It needs Node 18.
//
//     node day.mjs                finds the service by .data/instance.json
//     URL=… DASHBOARD_SECRET=… node day.mjs
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const INSTANCE = `${process.env.DATA_DIR ?? '.data'}/instance.json`
const instance = existsSync(INSTANCE) ? JSON.parse(readFileSync(INSTANCE, 'utf8')) : {}
const { URL: url = instance.url, DASHBOARD_SECRET = instance.dashboardSecret } = process.env
if (!url || !DASHBOARD_SECRET) {
  console.error(
    `There is no ${INSTANCE}: run npm start first and this program in the same folder, or set URL and DASHBOARD_SECRET.`,
  )
  process.exit(1)
}

const pause = seconds => new Promise(resolve => setTimeout(resolve, 1_000 * seconds))

async function call(credentials, method, path, body) {
  const answer = await fetch(url + path, {
    method,
    headers: { ...credentials, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  if (answer.status === 429) {
    const seconds = Number(answer.headers.get('retry-after'))
    console.error(`Rate limit reached: waiting ${seconds} s.`)
    await pause(seconds)
    return call(credentials, method, path, body)
  }
  if (!answer.ok) throw new Error(`${method} ${path}: ${(await answer.json()).error}`)
  return answer
}
const account = { name: 'A day of payments', type: 'business', country: 'DE', plan: 'starter' }
const email = `day-${Date.now()}@example.com`
const made = await call({ 'x-dashboard-secret': DASHBOARD_SECRET }, 'POST', '/customers', {
  ...account,
  email,
})
const { key } = await made.json()
const owner = { authorization: `Bearer ${key}` }
const text = async path => (await call(owner, 'GET', path)).text()
const read = async path => JSON.parse(await text(path))
const send = async (method, path, body) => {
  const answer = await call(owner, method, path, body)
  return answer.status === 204 ? undefined : answer.json()
}

/** Polls until the condition is met. */
async function until(what, isDone) {
  for (let n = 0; n < 120; n++) {
    const found = await isDone()
    if (found) return found
    await pause(0.5)
  }
  throw new Error(`${what} has not happened within a minute`)
}
const sealed = () =>
  until('the sealing', async () => {
    const verified = await read('/audit/verify')
    return verified.unsealed.entries === 0 && verified
  })

const folder = mkdtempSync(join(tmpdir(), 'audit-'))
const inFolder = name => join(folder, name)
const agentpay = fileURLToPath(new URL('../../src/bin/launcher/agentpay.mjs', import.meta.url))

/** The command gets no address: it needs no network. */
function verify(name) {
  const files = ['audit', 'verify', name, '--since', 'morning.json', '--keys', 'jwks.json']
  const { status, stdout, stderr } = spawnSync(process.execPath, [agentpay, ...files], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: folder },
  })
  return { isValid: status === 0, said: (status === 0 ? stdout : stderr).trim() }
}

const payments = async count => {
  for (let n = 0; n < count; n++)
    await send('POST', '/transfers', { fromWalletId: from.id, toWalletId: to.id, amountEuros: 1 + n })
}
const from = await send('POST', '/wallets', { name: 'Purchases' })
await send('POST', `/wallets/${from.id}/fund`, { amountEuros: 500 })
const to = await send('POST', '/wallets', { name: 'Savings' })
const payee = await send('POST', '/beneficiaries', { name: 'Grace Hopper', iban: 'DE89370400440532013000' })

await payments(10)
await sealed()
const morning = await read('/audit/checkpoint')
writeFileSync(inFolder('morning.json'), JSON.stringify(morning))
console.log(`In the morning: ${morning.size} entries, signed.`)

await payments(15)
await sealed()
writeFileSync(inFolder('jwks.json'), await text('/.well-known/jwks.json'))
const exported = await text('/audit/export')
writeFileSync(inFolder('day.ndjson'), exported)
const evening = verify('day.ndjson')
if (!evening.isValid) throw new Error(evening.said)
console.log(`In the evening: ${JSON.parse(exported.split('\n')[0]).checkpoint.split('\n')[1]} entries.`)
console.log('The export verifies offline, and goes on from the checkpoint of the morning.')

const place = exported.indexOf('"outcome":"done"', exported.length / 2) + '"outcome":"do'.length
writeFileSync(inFolder('flipped.ndjson'), `${exported.slice(0, place)}m${exported.slice(place + 1)}`)
const flipped = verify('flipped.ndjson')
if (flipped.isValid) throw new Error('a changed byte was not found')
console.log(`One byte changed: ${flipped.said.split('\n').join(' ')}`)

await send('DELETE', `/beneficiaries/${payee.id}`)
const { id } = await send('POST', '/gdpr/deletions', { subject: { type: 'beneficiary', id: payee.id } })
await send('POST', '/simulate/clock/advance', { days: 8 })
const forgotten = await until('the deletion', async () => {
  const deletion = await read(`/gdpr/deletions/${id}`)
  return deletion.status === 'completed' && deletion
})
const { ok, size } = await sealed()
const afterwards = await text('/audit/export')
writeFileSync(inFolder('afterwards.ndjson'), afterwards)
if (!ok || !verify('afterwards.ndjson').isValid) throw new Error('the trail does not verify any more')
if (!exported.includes('Grace Hopper') || afterwards.includes('Grace Hopper'))
  throw new Error('the name is where it must not be')
console.log(`A person is forgotten in ${forgotten.records} records, and all ${size} entries still verify.`)
console.log(`The files: ${folder}`)
