// An agent that buys one thing: it declares an intent, waits for the decision, pays, and shows the receipt.
// It needs Node 18.
//
//     node agent.mjs https://shop.example/report 2.50     with API_URL and AGENT_TOKEN=at_… of an agent with money and a card
//     node agent.mjs                                      beside npm start: makes such an agent, and buys at the sandbox's merchant
import { randomUUID } from 'node:crypto'
import { ask, ownApi, tokenOfAnExample } from './sandbox.mjs'

const API_URL = process.env.API_URL ?? ownApi().url
const AGENT_TOKEN = process.env.AGENT_TOKEN ?? (await tokenOfAnExample())
const [address = `${API_URL}/simulate/mpp/paid`, price = '2.50'] = process.argv.slice(2)
const headers = { authorization: `Bearer ${AGENT_TOKEN}` }

async function call(method, path, body, idempotencyKey = randomUUID()) {
  const response = await ask(API_URL + path, {
    method,
    headers: { ...headers, 'content-type': 'application/json', 'idempotency-key': idempotencyKey },
    body: body && JSON.stringify(body),
  })
  const answer = await response.json()
  if (response.ok) return answer
  throw new Error(`${answer.error} (${response.headers.get('x-error-code')})`)
}

/** Follows the events of this agent. The connection is open when this returns. */
async function follow() {
  const response = await ask(`${API_URL}/events/stream`, { headers })
  if (!response.ok) throw new Error((await response.json()).error)
  return eventsIn(response.body)
}

async function* eventsIn(body) {
  let text = ''
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const messages = (text + piece).split('\n\n')
    text = messages.pop()
    for (const message of messages) {
      const data = message.split('\n').find(line => line.startsWith('data:'))
      if (data) yield JSON.parse(data.slice('data:'.length))
    }
  }
  throw new Error('The stream has ended. Start again: what is decided is decided.')
}

/** Returns the intent once it is decided, however long that takes. */
async function decided(intent, events) {
  if (intent.status !== 'created') return intent
  console.log(`Waiting for a decision: ${intent.decision.reason}`)
  for await (const { event, data } of events)
    if (data.intentId === intent.id && event !== 'intent.created') return call('GET', `/intents/${intent.id}`)
}

// It follows events before it declares the intent, so that it misses nothing.
const events = await follow()
const wish = {
  merchant: new URL(address).hostname,
  amountEuros: Number(price),
  purpose: 'The report of the month',
}
const intent = await decided(await call('POST', '/intents', wish), events)
if (intent.status === 'approved') {
  // The intent's id is the idempotency key: a second attempt returns the same answer and pays nothing twice.
  const paid = await call('POST', '/v1/mpp/pay', { intentId: intent.id, url: address }, intent.id)
  console.log('Bought:', JSON.stringify(paid.merchant_body))
  console.log('Receipt:', Buffer.from(paid.receipt, 'base64url').toString().slice(0, 120))
} else console.log(`Not bought: the intent is ${intent.status}. ${intent.comment ?? ''}`)
process.exit(intent.status === 'approved' ? 0 : 1)
