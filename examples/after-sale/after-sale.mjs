// What happens after a payment, on a service started by `npm start`: half of a payment is refunded, the other
// half is disputed with a screenshot and a receipt matched to its payment, and won; another dispute is lost.
// It needs Node 22.
//
//     node after-sale.mjs [folder]     finds the service by .data/instance.json, and writes bundle.pdf into the folder
//     URL=… KEY=sk_sandbox_… node after-sale.mjs
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { invoice, screenshot } from './papers.mjs'

const INSTANCE = `${process.env.DATA_DIR ?? '.data'}/instance.json`
const instance = existsSync(INSTANCE) ? JSON.parse(readFileSync(INSTANCE, 'utf8')) : {}
const { URL = instance.url, KEY = instance.apiKey } = process.env
if (!URL || !KEY) {
  console.error(
    `There is no ${INSTANCE}: run npm start first and this program in the same folder, or set URL and KEY.`,
  )
  process.exit(1)
}

async function ask(key, method, path, body) {
  const headers = { authorization: `Bearer ${key}` }
  const isForm = body instanceof FormData
  if (body && !isForm) headers['content-type'] = 'application/json'
  const answer = await fetch(URL + path, {
    method,
    headers,
    body: body && !isForm ? JSON.stringify(body) : body,
  })
  if (answer.status === 429) {
    const seconds = Number(answer.headers.get('retry-after'))
    console.error(`Rate limit reached: waiting ${seconds} s.`)
    await new Promise(resolve => setTimeout(resolve, 1_000 * seconds))
    return ask(key, method, path, body)
  }
  if (!answer.ok) throw new Error(`${method} ${path}: ${(await answer.json()).error}`)
  return answer
}

const call = async (key, ...request) => (await ask(key, ...request)).json()
const owner = (...request) => call(KEY, ...request)

const euros = amount => `€ ${amount.toFixed(2)}`

// An agent with money and a card.
const policy = await owner('POST', '/policies', { name: 'Books', autoApproveLimitEuros: 500 })
const agent = await owner('POST', '/agents', { name: 'Librarian', policyId: policy.id })
await owner('POST', `/wallets/${agent.walletId}/fund`, { amountEuros: 400 })
const card = await owner('POST', '/cards', { agentId: agent.id, usage: 'multi' })
const { token } = await owner('POST', `/agents/${agent.id}/tokens`, { label: 'Example' })
const librarian = (...request) => call(token, ...request)

/** Prints the balance, and whether the ledger is consistent. */
async function balance() {
  const { ok, problems } = await owner('POST', '/ledger/verify')
  if (!ok) throw new Error(`The ledger does not agree: ${JSON.stringify(problems)}`)
  const { availableEuros } = await owner('GET', `/agents/${agent.id}/balance`)
  return `${euros(availableEuros)} there; the ledger agrees`
}

/** The agent declares an intent and pays by card, and the merchant captures the payment. */
async function buy(purpose, amountEuros) {
  const intent = await librarian('POST', '/intents', {
    agentId: agent.id,
    amountEuros,
    merchant: 'Bookshop',
    purpose,
  })
  const shop = { merchant: 'SQ *BOOKSHOP 1234 BERLIN', mcc: '5942', country: 'DE' }
  const { authorizationId } = await owner('POST', '/simulate/card/authorize', {
    ...shop,
    cardId: card.id,
    amountEuros,
  })
  await owner('POST', '/simulate/card/clear', { authorizationId })
  const { data } = await owner('GET', `/transactions?intentId=${intent.id}`)
  console.log(`Paid ${euros(amountEuros)} for “${purpose}”: ${await balance()}`)
  return { intent, authorizationId, transaction: data[0] }
}

/** A file as multipart form data. */
function form(members, bytes, name, type) {
  const body = new FormData()
  for (const [member, value] of Object.entries(members)) body.set(member, value)
  body.set('file', new File([bytes], name, { type }))
  return body
}

const advance = time => owner('POST', '/simulate/clock/advance', time)
const read = dispute => owner('GET', `/disputes/${dispute.id}`)

// Two atlases. The receipt is matched to the payment by total, merchant and date.
const atlases = await buy('Two atlases of the tides', 184.02)
const { now } = await owner('GET', '/simulate/clock')
const paper = invoice('Bookshop', '184.02', now.slice(0, 10))
const receipt = await librarian('POST', '/receipts', form({}, paper, 'bill.pdf', 'application/pdf'))
console.log(
  `The receipt is ${receipt.status}, by ${receipt.matchedBy} (${receipt.score} points: ${receipt.reasons.join(', ')})`,
)
if (receipt.transactionId !== atlases.transaction.id)
  throw new Error('The receipt has found another payment.')

// One was out of print, so the merchant refunds half.
await owner('POST', '/simulate/card/refund', { authorizationId: atlases.authorizationId, amountEuros: 92.01 })
const [refund] = (await owner('GET', `/refunds?transactionId=${atlases.transaction.id}`)).data
console.log(`Half is back, by the ${refund.origin}: ${await balance()}`)

// The other one never arrived.
const proof = {
  intentId: atlases.intent.id,
  type: 'screenshot',
  note: 'The parcel, on the page of the carrier',
}
const evidence = await librarian('POST', '/evidence', form(proof, screenshot(), 'parcel.png', 'image/png'))
const dispute = await librarian('POST', '/disputes', {
  transactionId: atlases.transaction.id,
  reason: 'not_received',
  description: 'Promised for the 5th of the month. The carrier has never had it.',
})
await librarian('POST', `/disputes/${dispute.id}/evidence`, { evidenceIds: [evidence.id] })
console.log(
  `Disputed: ${euros(dispute.amountEuros)}, open for evidence until ${dispute.evidenceDueAt.slice(0, 10)}`,
)

// At the deadline the evidence is submitted; € 92.01 are won a day later.
await advance({ days: 7 })
console.log(`At the deadline it is ${(await read(dispute)).status}`)
const bundle = Buffer.from(await (await ask(KEY, 'GET', `/disputes/${dispute.id}/bundle`)).arrayBuffer())
const file = join(process.argv[2] ?? '.', 'bundle.pdf')
writeFileSync(file, bundle)
console.log(`What the card network gets: ${file}, ${bundle.length} bytes`)
await advance({ days: 2 })
const won = await read(dispute)
console.log(`${won.status}: ${won.resolution} ${await balance()}`)

// A second dispute, which is lost.
const globe = await buy('A globe', 92.02)
const second = await librarian('POST', '/disputes', {
  transactionId: globe.transaction.id,
  reason: 'not_as_described',
  description: 'It is flat.',
})
await librarian('POST', `/disputes/${second.id}/submit`)
await advance({ days: 2 })
const lost = await read(second)
console.log(`${lost.status}: ${lost.resolution} ${await balance()}`)

// The month's statement shows all of it.
const month = now.slice(0, 7)
const statement = await owner('POST', '/statements', { walletId: agent.walletId, period: month })
const csv = await (await ask(KEY, 'GET', `/statements/${statement.id}/csv`)).text()
console.log(`The statement of ${month} has ${csv.trim().split('\n').length - 1} lines.`)
