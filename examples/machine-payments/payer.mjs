// An agent that buys from a merchant: it declares what it wants to spend, pays an address that answers 402,
// and keeps the evidence.
// It needs Node 18: `API_URL=… AGENT_TOKEN=at_… node payer.mjs http://127.0.0.1:4020/report`.
import { writeFileSync } from 'node:fs'

const [address = 'http://127.0.0.1:4020/report', folder = '.'] = process.argv.slice(2)
const { API_URL = 'http://localhost:8080', AGENT_TOKEN } = process.env
const MOST_EUROS = 5

async function call(method, path, body, headers = {}) {
  const response = await fetch(API_URL + path, {
    method,
    headers: { Authorization: `Bearer ${AGENT_TOKEN}`, 'Content-Type': 'application/json', ...headers },
    body: body && JSON.stringify(body),
  })
  if (response.status === 429) {
    const seconds = Number(response.headers.get('retry-after'))
    console.error(`Rate limit reached: waiting ${seconds} s.`)
    await new Promise(resolve => setTimeout(resolve, 1_000 * seconds))
    return call(method, path, body, headers)
  }
  const answer = await response.json()
  if (response.ok) return answer
  throw new Error(`${method} ${path}: ${response.status} ${answer.error}`)
}

// The merchant is the host of the address: the name that it gives itself proves nothing.
const intent = await call('POST', '/intents', {
  amountEuros: MOST_EUROS,
  merchant: new URL(address).hostname,
  purpose: 'A report about the price of paper',
})
if (intent.status !== 'approved')
  throw new Error(`The intent ${intent.id} is ${intent.status}: a person decides.`)

// The same key returns the same answer, so nothing is paid twice if the connection breaks.
const payment = { intentId: intent.id, url: address }
const paid = await call('POST', '/v1/mpp/pay', payment, { 'Idempotency-Key': intent.id })
console.log('bought:', paid.merchant_body)
console.log('receipt:', JSON.parse(Buffer.from(paid.receipt, 'base64url').toString()))

const evidence = await call('GET', `/v1/mpp/credentials/${paid.credential_id}/evidence`)
writeFileSync(`${folder}/evidence.jws`, evidence.jws)
writeFileSync(`${folder}/jwks.json`, JSON.stringify(await call('GET', '/.well-known/jwks.json')))
console.log(`kept: ${folder}/evidence.jws and ${folder}/jwks.json`)
