// A receiver of webhooks. It needs the package agentpay: `WEBHOOK_SECRET=whsec_… PORT=3000 node receiver.mjs`.
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { verifyWebhook, WebhookRejected } from 'agentpay/verify'

const { WEBHOOK_SECRET, PORT = '3000' } = process.env
// What was dealt with is known by the id of its event. A receiver that is restarted keeps these in its database.
const known = new Set()

async function receive(request) {
  const { eventId, event, data } = verifyWebhook(request.headers, await buffer(request), WEBHOOK_SECRET)
  if (known.has(eventId)) return 'known'
  known.add(eventId)
  console.log(`${event}: ${data.agentId ?? eventId}`)
  return 'taken'
}

const server = createServer((request, response) => {
  receive(request).then(
    word => response.writeHead(200).end(word),
    error => response.writeHead(error instanceof WebhookRejected ? 400 : 500).end(),
  )
})
server.listen(Number(PORT), '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}/`))
