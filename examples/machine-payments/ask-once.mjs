// An agent that asks for a payment once and goes away: a person approves it later, and it is paid then.
// It needs Node 18: `API_URL=… AGENT_TOKEN=at_… node ask-once.mjs http://127.0.0.1:4020/report 20`.
const [address = 'http://127.0.0.1:4020/report', euros = '20'] = process.argv.slice(2)
const { API_URL = 'http://localhost:8080', AGENT_TOKEN } = process.env
const LOOK_EVERY_MS = 1_000

async function call(method, path, body, headers = {}) {
  const response = await fetch(API_URL + path, {
    method,
    headers: { Authorization: `Bearer ${AGENT_TOKEN}`, 'Content-Type': 'application/json', ...headers },
    body: body && JSON.stringify(body),
  })
  const answer = await response.json()
  if (response.ok) return answer
  throw new Error(`${method} ${path}: ${response.status} ${answer.error}`)
}

const intent = await call('POST', '/intents', {
  amountEuros: Number(euros),
  merchant: new URL(address).hostname,
  purpose: 'A report about the price of paper',
})

// The answer is 202 and the payment. It waits for the person, if the intent does.
const asked = await call(
  'POST',
  '/v1/mpp/pay',
  { intentId: intent.id, url: address },
  { Prefer: 'respond-async', 'Idempotency-Key': intent.id },
)
console.log(`asked for: ${asked.id} is ${asked.status}`)
if (asked.status === 'waiting') console.log(`a person decides: ${API_URL}/approve/${intent.id}`)

// From here on another process may go on. A webhook tells of the outcome, too: mpp.transaction.completed or mpp.payment.ended.
let payment = asked
while (['waiting', 'ordering', 'sent'].includes(payment.status)) {
  await new Promise(resolve => setTimeout(resolve, LOOK_EVERY_MS))
  payment = await call('GET', `/v1/mpp/payments/${asked.id}`)
}
if (payment.status !== 'paid') throw new Error(`It is ${payment.status}: ${payment.reason}`)
console.log('bought:', payment.answer.merchant_body)
