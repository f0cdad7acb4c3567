// A bot that decides pending intents by its own rules: it approves small amounts for known merchants, denies
// banned merchants, and leaves the rest to people. It needs Node 18.
//
//     API_URL=… API_KEY=sk_… KNOWN=localhost,shop.example BANNED=casino.example MOST=20 node bot.mjs [how many it decides]
//
// Its key needs three scopes: events:read, intents:read and intents:approve. It never sees a policy, a wallet
// or a card.
import { existsSync, readFileSync } from 'node:fs'

const INSTANCE = `${process.env.DATA_DIR ?? '.data'}/instance.json`
const instance = existsSync(INSTANCE) ? JSON.parse(readFileSync(INSTANCE, 'utf8')) : {}
const {
  API_URL = instance.url,
  API_KEY = instance.apiKey,
  KNOWN = '',
  BANNED = '',
  MOST = '20',
} = process.env
if (!API_URL || !API_KEY) {
  console.error(`There is no ${INSTANCE}: run npm start first, or set API_URL and API_KEY.`)
  process.exit(1)
}
const [most = Number.POSITIVE_INFINITY] = process.argv.slice(2).map(Number)
const known = new Set(KNOWN.split(','))
const banned = new Set(BANNED.split(','))
const headers = { authorization: `Bearer ${API_KEY}` }

async function call(method, path, body) {
  const response = await fetch(API_URL + path, {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: body && JSON.stringify(body),
  })
  if (response.status === 429) {
    const seconds = Number(response.headers.get('retry-after'))
    console.error(`Rate limit reached: waiting ${seconds} s.`)
    await new Promise(resolve => setTimeout(resolve, 1_000 * seconds))
    return call(method, path, body)
  }
  return { status: response.status, code: response.headers.get('x-error-code'), body: await response.json() }
}

/** The bot's decision on an intent; undefined if a person decides. */
function decisionOn({ merchant, amountEuros }) {
  if (banned.has(merchant)) return ['deny', { reason: `${merchant} is banned.` }]
  if (known.has(merchant) && amountEuros <= Number(MOST))
    return ['approve', { comment: 'Small, and a merchant that is known.' }]
  return undefined
}

let decided = 0

async function look(intentId) {
  const { body: intent } = await call('GET', `/intents/${intentId}`)
  const decision = intent.status === 'created' ? decisionOn(intent) : undefined
  if (!decision) return console.log(`${intentId}: ${intent.status}, left to people`)
  const [verb, words] = decision
  const { status, code } = await call('POST', `/intents/${intentId}/${verb}`, words)
  // Another approver was faster, or the policy requires a passkey: both are answers and no reason to stop.
  console.log(`${intentId}: ${verb}, ${status === 200 ? 'done' : code}`)
  if (status === 200 && ++decided >= most) process.exit(0)
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
}

/** It subscribes first and then lists pending intents, so that it misses none. */
async function follow() {
  const stream = await fetch(`${API_URL}/events/stream?event=intent.created`, { headers })
  if (!stream.ok) throw new Error((await stream.json()).error)
  const waiting = await call('GET', '/intents?status=created&limit=100')
  console.log('Following.')
  for (const { id } of waiting.body.data) await look(id)
  for await (const { data } of eventsIn(stream.body)) await look(data.intentId)
}

for (;;) {
  await follow().catch(error => console.error(error.message))
  await new Promise(resolve => setTimeout(resolve, 2_000))
}
